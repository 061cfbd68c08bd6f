"""What a file that nobody reads may be, and what to do about it."""

from datetime import UTC
from pathlib import Path
from zipfile import ZipFile

import pytest

from pdpp_server.importers.registry import look_into, nothing_known
from tests.importers.toys import TOY, lines
from tests.requirements import requirement


@requirement("imp.files.every-part")
def test_every_part_that_nobody_takes_is_told_with_what_it_seems_to_be(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "takeout.zip", "w") as archive:
        archive.writestr("Takeout/Toys/a.toy", lines(1))
        archive.writestr("Takeout/YouTube and YouTube Music/history.html", "<html>")
        archive.writestr("Takeout/YouTube and YouTube Music/likes.csv", "a,b")
        archive.writestr("Takeout/Keep/note.json", "{}")
        archive.writestr("odd.bin", b"\0\1\2")

    looked = look_into(tmp_path / "takeout.zip", UTC, None, (TOY,))

    assert [one.account.name for one in looked.found] == ["mine"]
    assert [(part.name, part.files, part.guess and part.guess.what) for part in looked.left] == [
        ("Takeout/Keep", 1, "notes of Google Keep"),
        ("Takeout/YouTube and YouTube Music", 2, "YouTube's history"),
        ("odd.bin", 1, None),
    ]


@requirement("imp.files.every-part")
def test_what_lies_in_an_export_inside_a_folder_is_told_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    with ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("in/a.toy", lines(1))
        archive.writestr("report.pdf", b"%PDF-1.7")
    (folder / "other").mkdir()
    (folder / "other" / "photo.jpg").write_bytes(b"\xff\xd8\xff")

    looked = look_into(folder, UTC, None, (TOY,))

    assert [(part.name, part.guess and part.guess.what) for part in looked.left] == [
        ("other", "a picture"),
        ("packed.zip/report.pdf", "a PDF"),
    ]


@requirement("imp.files.wrong-kind")
@pytest.mark.parametrize(
    ("name", "content", "what", "todo"),
    [
        ("a.pst", b"!BDN....", "an Outlook data file", ".mbox"),
        ("export.xml", b'<?xml version="1.0"?>\n<!DOCTYPE HealthData [', "Apple Health", "Nothing here reads it yet"),
        ("camt.xsd", b'<?xml version="1.0"?><xs:schema>', "a schema", "the files themselves"),
        ("chat.md.txt", b"[2026-02-28 21:05] Ann: Hi", "Signal", "Nothing here reads it yet"),
        ("events.jsonl", b'{"a": 1}\n{"a": 2}\n', "lines of JSON", "--declaration"),
        ("x.json", b"[1, 2]", "JSON", "--declaration"),
        ("t.csv", b"a;b\n1;2\n", "a table", "--mapping"),
        ("empty", b"", "an empty file", "again"),
        ("readme.xyz", "Küste".encode() * 900, "plain text", "Markdown"),
        ("a.jpg", b"\xff\xd8\xff\xe0", "a picture", "beside the message"),
        ("what.xyz", b"\xff\xfe\xfd\xfc\xfb", "nothing that is known here.", "--list"),
        ("what.bin", b"\0\1", "nothing that is known here.", "--list"),
    ],
)
def test_a_file_that_is_not_known_gets_a_guess_and_what_to_do(
    tmp_path: Path, name: str, content: bytes, what: str, todo: str
) -> None:
    (tmp_path / name).write_bytes(content)
    refusal = nothing_known(name, look_into(tmp_path / name, UTC, None, (TOY,)).left)
    assert what in refusal.message
    assert todo in refusal.remedy


@requirement("imp.files.every-part")
def test_a_text_of_two_bytes_a_character_is_told_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_bytes("[13.11.26, 09:05:02] Ann: Grüße\n".encode("utf-16"))
    refusal = nothing_known(path.name, look_into(path, UTC, None, (TOY,)).left)
    assert "it looks like a text in UTF-16" in refusal.message
    assert "Save it as UTF-8" in refusal.remedy
