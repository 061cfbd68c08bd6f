"""What attached files say: found by search, read in windows, and no file that stops anything."""

from base64 import b64encode
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from pdpp_server.importers.attached import documents
from pdpp_server.importers.attached.kinds import DOCUMENT_BYTES_MAX, TEXT_CHARS_MAX, AttachedDocument
from pdpp_server.importers.attached.process import DocumentProcess
from pdpp_server.importers.attached.texts import AttachedTexts
from pdpp_server.importers.files import open_files
from pdpp_server.importers.registry import recognise
from pdpp_server.importers.run import Tally, import_account
from pdpp_server.importers.sources.mail import MAIL
from pdpp_server.owner.writer import Writer
from tests.importers.documents import docx, docx_of, pdf, pdf_bomb, pdf_of
from tests.importers.homes import Home
from tests.importers.reading import ZONE
from tests.requirements import requirement
from tests.worlds.world import World


@pytest.fixture
def reader() -> Iterator[DocumentProcess]:
    made = DocumentProcess()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        ("pdf", pdf("The lamp was tested", "and it holds"), "The lamp was tested\n\nand it holds"),
        ("docx", docx("Minutes", "Bo & Ann agreed"), "Minutes\nBo & Ann agreed"),
        ("html", b"<h1>Price</h1><p>12 &euro;</p><script>no</script>", "Price\n\n12 €"),
        ("plain", "\ufeffGrüße\r\nzwei\0".encode(), "Grüße\nzwei"),
        ("plain", "Grüße".encode("latin-1"), "Grüße"),
        ("plain", "Grüße".encode("utf-16"), "Grüße"),
        ("html", '<meta charset="windows-1251"><p>Привет</p>'.encode("cp1251"), "Привет"),
        ("html", "<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'>日本".encode("shift_jis"), "日本"),
        ("html", '<meta charset="utf-16"><p>Grüße</p>'.encode(), "Grüße"),
    ],
)
@requirement("imp.attached.text")
def test_each_kind_is_read_as_a_person_sees_it(reader: DocumentProcess, kind: str, data: bytes, text: str) -> None:
    assert reader.document(kind, data) == AttachedDocument(text, "")


@requirement("imp.attached.text")
def test_a_word_file_gives_what_is_shown_and_not_what_was_struck_out() -> None:
    body = (
        b'<w:document xmlns:w="u" xmlns:mc="v"><w:body><w:p><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t><w:br/></w:r>'
        b"<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>three</w:t></w:r></w:p>"
        b"<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        b"<w:p><mc:AlternateContent><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t></mc:Fallback>"
        b"</mc:AlternateContent></w:p></w:body></w:document>"
    )
    assert documents.document("docx", docx_of(body)) == AttachedDocument("one\ttwo\nthree\ncell\nbox", "")


@requirement("imp.attached.text")
def test_a_word_file_gives_its_letterhead_and_says_once_what_was_moved() -> None:
    moved = b"<w:p><w:r><w:t>one </w:t></w:r><w:moveFrom><w:r><w:t>two</w:t></w:r></w:moveFrom></w:p>"
    there = b"<w:p><w:moveTo><w:r><w:t>two</w:t></w:r></w:moveTo></w:p>"
    body = b'<w:document xmlns:w="u"><w:body>' + moved + there + b"</w:body></w:document>"
    head = b'<w:hdr xmlns:w="u"><w:p><w:r><w:t>Brightwater &amp; Sons</w:t></w:r></w:p></w:hdr>'
    foot = b'<w:ftr xmlns:w="u"><w:p><w:r><w:t>Page 1</w:t></w:r></w:p></w:ftr>'
    told = documents.document("docx", docx_of(body, header1=head, footer2=foot, settings=foot))
    assert told == AttachedDocument("one\ntwo\nBrightwater & Sons\nPage 1", "")


_NAMED = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(
    ("kind", "data", "note"),
    [
        ("pdf", b"%PDF-1.7 and nothing", "It cannot be read as pdf: it is damaged (PdfStreamError)."),
        ("pdf", pdf_of([b""]), "It holds no text, only pictures."),
        ("pdf", pdf_bomb(150_000_000), "These pages cannot be read: 1."),
        ("pdf", b"%PDF-" + bytes(DOCUMENT_BYTES_MAX), "It is longer than 20 MiB."),
        ("docx", b"PK and nothing", "It cannot be read: the file is damaged."),
        ("docx", docx_of(_NAMED), "It is damaged from some place on; what stands before that was read."),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
@requirement("imp.attached.hostile")
def test_a_file_that_means_harm_is_a_sentence(reader: DocumentProcess, kind: str, data: bytes, note: str) -> None:
    assert reader.document(kind, data) == AttachedDocument("", note)
    assert reader.document("plain", b"the next") == AttachedDocument("the next", "")


@requirement("imp.attached.hostile")
def test_a_long_text_ends_and_says_so(reader: DocumentProcess) -> None:
    told = reader.document("plain", b"word " * (TEXT_CHARS_MAX // 4))
    assert len(told.text) == TEXT_CHARS_MAX
    assert told.note == "Only the first 1000000 characters were kept."


@requirement("imp.attached.hostile")
def test_pages_beyond_the_bound_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "PAGES_MAX", 2)
    assert documents.document("pdf", pdf("a", "b", "c")) == AttachedDocument(
        "a\n\nb", "Only the first 2 of 3 pages were read."
    )


# In a mailbox -------------------------------------------------------------------------------------------------------


def _letter(*files: tuple[str, str, bytes]) -> bytes:
    letter = EmailMessage()
    letter["From"], letter["To"], letter["Message-ID"] = "ann@example.org", "bo@example.org", "<one@example.org>"
    letter["Date"], letter["Subject"] = "Mon, 2 Nov 2026 10:00:00 +0000", "Files"
    letter.set_content("See the files.")
    for name, media_type, data in files:
        main, _, sub = media_type.partition("/")
        letter.add_attachment(data, main, sub, filename=name)
    return letter.as_bytes()


def _brought(world: World, folder: Path, raw: bytes) -> tuple[Tally, Writer]:
    (folder / "one.eml").write_bytes(raw)
    (found,) = recognise(open_files(folder / "one.eml", ZONE), (MAIL,))
    writer = world.owner.writer(found.declaration, "ann@example.org")
    return import_account(found, writer), writer


@requirement("imp.attached.text", "imp.attached.hostile")
def test_mail_is_imported_whatever_is_attached_to_it(world: World, tmp_path: Path) -> None:
    raw = _letter(
        ("plan.pdf", "application/pdf", pdf("Bridge over the harbour")),
        ("bomb.pdf", "application/pdf", b"%PDF-1.7 broken"),
        ("photo.png", "image/png", b"\x89PNG"),
    )
    tally, writer = _brought(world, tmp_path, raw)

    assert (tally.accepted, tally.rejected, tally.without_text) == (5, 0, 1)
    assert [(note.place, note.reason) for note in tally.texts_missing] == [
        ("one.eml", "bomb.pdf: It cannot be read as pdf: it is damaged (PdfStreamError).")
    ]
    plan, bomb, photo = (writer.stored_one("attachments", f"one@example.org~{n}") for n in (1, 2, 3))
    assert (plan["text"], plan["filename"]) == ("Bridge over the harbour", "plan.pdf")
    assert "text" not in bomb
    assert bomb["text_note"] == "It cannot be read as pdf: it is damaged (PdfStreamError)."
    assert photo.keys().isdisjoint({"text", "text_note"})


@requirement("imp.attached.once")
def test_what_is_kept_already_is_not_read_again(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = _letter(("a.pdf", "application/pdf", pdf("Once")), ("b.pdf", "application/pdf", b"%PDF-1.7 broken"))
    first, _ = _brought(world, tmp_path, raw)
    read = list[str]()
    monkeypatch.setattr(
        AttachedTexts, "_told", lambda _self, kind, _attachment: read.append(kind) or AttachedDocument("", "")
    )

    again, _ = _brought(world, tmp_path, raw)

    assert read == []
    assert (again.accepted, again.unchanged, again.without_text) == (0, first.accepted, 1)


@requirement("imp.attached.text")
@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        ("text/plain; charset=shift_jis; name=a.txt", "日本語のテキスト".encode("shift_jis")),
        ("text/plain; name=a.txt", "日本語のテキスト".encode("utf-16")),
        ("text/html; charset=euc-jp; name=a.htm", '<meta charset="shift_jis"><p>日本語のテキスト'.encode("euc-jp")),
        ("text/html; name=a.htm", '<meta charset="shift_jis"><p>日本語のテキスト'.encode("shift_jis")),
    ],
)
def test_an_attached_text_is_read_in_the_charset_that_its_part_or_it_says(
    world: World, tmp_path: Path, content_type: str, data: bytes
) -> None:
    body = b64encode(data).decode()
    part = f"Content-Type: {content_type}\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment\n\n{body}"
    headers = "From: a@example.org\nTo: b@example.org\nMessage-ID: <1@x>\nDate: Thu, 01 Jan 2026 10:00:00 +0000\n"
    text = f'{headers}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\n{part}\n--x--\n'
    home = Home(world, tmp_path / "exports")
    home.bring(home.found("a.eml", text))
    (found,) = home.data("attachments")
    assert found["text"] == "日本語のテキスト"
