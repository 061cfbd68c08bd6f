"""WhatsApp: what its phones write for files, edits and deletions, in many languages."""

from io import BytesIO

import pytest

from pdpp_server.importers.formats.whatsapp_lines import said
from pdpp_server.importers.formats.whatsapp_words import Content, content_of
from tests.requirements import requirement

IPHONE, ANDROID, MARK = "[28/02/2026, 21:05:09] Ann: ", "28/02/2026, 21:05 - Ann: ", "\u200e"

LEFT_OUT = {
    "photo": "لم يتم إدراج الصورة|đã bỏ qua hình ảnh|obrázek vynechán|फ़ोटो हटाई गई|gambar tidak disertakan|画像は含まれていません|"
    "imagem não revelada|изображение отсутствует|ไม่มีรูปภาพ|зображення відсутнє|圖像已省略|이미지 생략됨|bild utesluten|billede udeladt",
    "video": "لم يتم إدراج الفيديوهات|đã bỏ video|video vynecháno|वीडियो छोड़ा गया|video tidak disertakan|ビデオは含まれていません|"
    "vídeo não revelado|видео отсутствует|วิดีโอถูกลบ|відео відсутнє|비디오 생략됨|videota ei sisällytetä|video utelatt",
    "audio": "لم يتم إدراج المقاطع الصوتية|bỏ qua tệp âm thanh|zvukový soubor vynechán|ऑडियो हटाई गयी|audio tidak disertakan|"
    "音声は含まれていません|ficheiro de áudio não revelado|аудиофайл отсутствует|ไม่มีไฟล์เสียง|аудіо відсутнє|ses dahil edilmedi|audio omis",
    "sticker": "تم حذف الملصقات|đã bỏ sticker|nálepka vynechána|स्टिकर छोड़ा गया|stiker tidak disertakan|スタンプは含まれていません|"
    "sticker não revelado|стикер не добавлен|ไม่มีสติกเกอร์|Наклейку не додано|pominięto naklejkę|sticker non incluso",
    "gif": "لم يتم إدراج صورة GIF|Đã bỏ qua ảnh GIF|GIF vynechán|GIF छोड़ा गया|GIF tidak disertakan|GIFは含まれていません|"
    "GIF não revelada|GIF отсутствует|ละเว้น GIF|GIF-анімацію пропущено|GIF retiré|GIF esclusa",
    "document": "لم يتم إدراج المستند|đã bỏ qua tài liệu|dokument vynechán|डॉक्यूमेंट छोड़ा गया|dokumen tidak disertakan|"
    "ドキュメントは含まれていません|documento não revelado|документ отсутствует|ละเว้นเอกสาร|документ пропущено|document manquant",
    "contact": "لم يتم إدراج بطاقة جهة اتصال|Bỏ qua thẻ liên lạc|Vizitka vynechána|कॉन्टैक्ट कार्ड छोड़ा गया|Kartu kontak tidak disertakan|"
    "連絡先カードを省略|Contacto não revelado|Карточка контакта отсутствует|บัตรรายชื่อที่ละเว้น|Картка контакту відсутня|Kontaktkarte ausgelassen",
}  # fmt: skip
OMITTED = (
    "تم استبعاد الوسائط|Bỏ qua Media|bỏ qua tệp phương tiện|Média vynechány|मीडिया के बिना|Media tidak disertakan|"
    "メディアは含まれていません|メディアなし|Ficheiro não revelado|Mídia oculta|Без медиафайлов|Файл пропущен|สื่อถูกลบ|ไฟล์สื่อถูกลบ|"
    "Медіа пропущено|pliki pominięto|Uten vedlegg|Medijski zapis izostavljen|αρχείο παραλήφθηκε|Hiányzó médiafájl"
)
DELETED = (
    "تم حذف هذه الرسالة|أنت حذفت هذه الرسالة|Tin nhắn này đã bị xoá|Bạn đã xóa tin nhắn này|Tato zpráva byla odstraněna|"
    "Tuto zprávu jste odstranil/a|यह संदेश मिटाया गया|आपने यह मैसेज डिलीट किया|Pesan ini telah dihapus|Anda telah menghapus pesan ini|"
    "このメッセージは削除されました。|このメッセージを削除しました|Esta mensagem foi apagada|Apagou esta mensagem|Данное сообщение удалено|"
    "Вы удалили данное сообщение|ข้อความนี้ถูกลบ|คุณลบข้อความนี้|Це повідомлення було видалено|Ви видалили це повідомлення."
)
EDITED = (
    "تم تعديل هذه الرسالة|Tin nhắn này đã được chỉnh sửa|Zpráva byla upravena|Pesan ini diedit|Mensagem editada|"
    "Сообщение изменено|ข้อความนี้ถูกแก้ไขแล้ว|Bu mesaj düzenlendi|ההודעה נערכה|Se editó este mensaje."
)
ATTACHED = (
    "الملف مرفق|tệp đính kèm|soubor byl přiložen|फ़ाइल संलग्न|file terlampir|添付ファイル|ficheiro anexado|файл добавлен|"
    "ไฟล์ที่แนบมา|файл додано"
)


def content(line: str) -> Content:
    (message,) = said(BytesIO(line.encode()))
    assert not isinstance(message, int)
    return content_of(message)


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize("kind", LEFT_OUT)
def test_what_an_iphone_left_out_is_known_alone_and_behind_a_caption(kind: str) -> None:
    for words in LEFT_OUT[kind].split("|"):
        assert content(f"{IPHONE}{MARK}{words}") == Content("media", "", kind), words
        assert content(f"{IPHONE}Sea {MARK}{words}") == Content("media", "Sea", kind), words


@requirement("imp.whatsapp.phones")
def test_what_an_android_left_out_or_attached_is_known() -> None:
    for words in OMITTED.split("|"):
        assert content(f"{ANDROID}<{words}>") == Content("media", "", "omitted"), words
    for words in ATTACHED.split("|"):
        assert content(f"{ANDROID}Lease 2026.pdf ({words})") == Content("media", "", "document", "Lease 2026.pdf"), words


@requirement("imp.whatsapp.phones")
def test_what_was_deleted_and_edited_is_known_on_both() -> None:
    for words in DELETED.split("|"):
        assert {content(line).kind for line in (f"{ANDROID}{words}", f"{IPHONE}{MARK}{words}")} == {"deleted"}, words
    for words in EDITED.split("|"):
        for line in (f"{ANDROID}hello <{words}>", f"{IPHONE}hello {MARK}<{words}>"):
            assert content(line) == Content("message", "hello", is_edited=True), words
    assert content(f"{IPHONE}hello {MARK}<in words of no language>").is_edited


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize(
    "text",
    ["see <file.txt>", "<file>", '<media src="a.jpg">', "look at <the edited text>", "Photo of the sea", "<3 <3"],
)
def test_what_people_write_stays_as_they_wrote_it(text: str) -> None:
    assert content(f"{ANDROID}{text}") == Content("message", text)


@requirement("imp.whatsapp.phones")
@pytest.mark.parametrize("words", ["Пропущенный аудиозвонок", "Пропущений відеодзвінок", "Missed voice call", "Cuộc gọi nhỡ"])
def test_a_missed_call_is_no_file(words: str) -> None:
    assert content(f"{IPHONE}{MARK}{words}").kind == "system"
