"""The words that WhatsApp itself writes into a chat, told from what people write."""
# ruff: noqa: RUF001  phones write in many alphabets

import io

import pytest

from pdpp_server.importers.formats.whatsapp_lines import said
from pdpp_server.importers.formats.whatsapp_words import attached_names, content_of
from tests.requirements import requirement


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize(
    ("text", "kind", "media"),
    [
        ("Hi", "message", ""),
        ("<Media omitted>", "media", "omitted"),
        ("<Medien ausgeschlossen>", "media", "omitted"),
        ("<Multimedia omitido>", "media", "omitted"),
        ("<Arquivo de mídia oculto>", "media", "omitted"),
        ("\u200eimage omitted", "media", "photo"),
        ("\u200eBild weggelassen", "media", "photo"),
        ("\u200evídeo omitido", "media", "video"),
        ("\u200eaudio omis", "media", "audio"),
        ("\u200efigurinha omitida", "media", "sticker"),
        ("tides.pdf • 3 pages \u200edocument omitted", "media", "document"),
        ("\u200e<attached: 00000007-AUDIO-2026.opus>", "media", "audio"),
        ("\u200e<Anhang: 00000007-PHOTO-2026.jpg>", "media", "photo"),
        ("VID-20260301-WA0001.mp4 (Datei angehängt)", "media", "video"),
        ("menu (final).pdf (archivo adjunto)", "media", "document"),
        ("\u200eThis message was deleted.", "deleted", ""),
        ("Diese Nachricht wurde gelöscht", "deleted", ""),
        ("\u200eMissed voice call", "system", ""),
        ("\u200eLocation: https://maps.example", "message", ""),
        ("what is omitted", "message", ""),
        ("<b>bold: really.md>", "message", ""),
        ("a < b", "message", ""),
        ("<grins>", "message", ""),
        ("<Média vynechána>", "media", "omitted"),
        ("<Медіа пропущено>", "media", "omitted"),
        ("<मीडिया छोड़ा गया>", "media", "omitted"),
        ("<Media tidak disertakan>", "media", "omitted"),
        ("<メディアは含まれていません>", "media", "omitted"),
        ("<Ficheiro não revelado>", "media", "omitted"),
        ("<Без медиафайлов>", "media", "omitted"),
        ("<ไม่รวมไฟล์สื่อ>", "media", "omitted"),
        ("<Медіафайл пропущено>", "media", "omitted"),
        ("<تم استبعاد الوسائط>", "media", "omitted"),
        ("<Phương tiện bị bỏ qua>", "media", "omitted"),
        ("\u200eobrázek vynechán", "media", "photo"),
        ("\u200eइमेज छोड़ी गई", "media", "photo"),
        ("\u200egambar tidak disertakan", "media", "photo"),
        ("\u200e画像は省略されました", "media", "photo"),
        ("\u200eimagem omitida", "media", "photo"),
        ("\u200eизображение отсутствует", "media", "photo"),
        ("\u200eไม่รวมวิดีโอ", "media", "video"),
        ("\u200eаудіо пропущено", "media", "audio"),
        ("\u200eتم استبعاد الملصق", "media", "sticker"),
        ("\u200ehình ảnh bị bỏ qua", "media", "photo"),
        ("\u200eIMG-20260301-WA0001.jpg (прикреплено)", "media", "photo"),
        ("\u200eMissed video call", "system", ""),
        ("\u200eVideo call omitted by nobody", "system", ""),
        ("\u200eДанное сообщение удалено.", "deleted", ""),
        ("Это сообщение удалено.", "deleted", ""),
        ("<Медиа пропущены>", "media", "omitted"),
        ("<médiafájl kihagyva>", "media", "omitted"),
        ("<Παραλείφθηκαν πολυμέσα>", "media", "omitted"),
        ("<মিডিয়া বাদ দেওয়া হয়েছে>", "media", "omitted"),
    ],
)
def test_what_people_write_is_told_from_what_stands_for_files_and_notes(text: str, kind: str, media: str) -> None:
    (one,) = said(io.BytesIO(f"28/02/2026, 21:05 - Ann: {text}\n".encode()))
    assert not isinstance(one, int)
    content = content_of(one)
    assert (content.kind, content.media_kind) == (kind, media)


@requirement("imp.whatsapp.phones")
def test_a_picture_that_was_left_out_keeps_its_caption_however_long() -> None:
    caption = "The lamp room at dusk, with the new lens, the old keeper and the whole harbour behind them."
    left_out = f"28/02/2026, 21:05 - Ann: {caption}\n\u200eimage omitted\n"
    written = f"28/02/2026, 21:06 - Ann: {caption}\nimage omitted\n"
    first, second = map(content_of, said(io.BytesIO((left_out + written).encode())))  # pyright: ignore[reportArgumentType]

    assert (first.kind, first.media_kind, first.text) == ("media", "photo", caption)
    assert (second.kind, second.text) == ("message", f"{caption}\nimage omitted")


@requirement("imp.whatsapp.phones")
def test_an_edited_message_is_one_and_its_mark_is_no_text() -> None:
    (one,) = said(io.BytesIO(b"28/02/2026, 21:05 - Ann: shall we eat? <This message was edited>\n"))
    assert not isinstance(one, int)
    content = content_of(one)
    assert (content.kind, content.text, content.is_edited) == ("message", "shall we eat?", True)


@requirement("imp.files.attachments")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a.jpg (file attached)\nSea", ["a.jpg"]),
        ("<attached: 00000007-PHOTO-2026.jpg>", ["00000007-PHOTO-2026.jpg"]),
        ("see a.jpg (file attached)", ["see a.jpg"]),
        ("../a.jpg (file attached)", []),  # no name of a file has a slash
        ("a.jpg (nice)", []),
        ("", []),
    ],
)
def test_a_file_is_attached_where_whatsapp_says_so(text: str, names: list[str]) -> None:
    assert attached_names(text) == names
