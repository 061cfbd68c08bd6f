"""The words that WhatsApp itself writes into a chat, in the languages of its phones: for files, edits and deletions."""

import re
from typing import NamedTuple
from unicodedata import normalize

from pdpp_server.importers.formats.whatsapp_lines import WhatsappMessage, unmarked

OWN_WORDS_CHARS = 60  # what stands for a file is short

# `<Media omitted>`: alone in angles, and about media, whatever the language; and with no sign of what people write.
_ANGLED = re.compile(r"<([^<>\n\d.:;=\"/]{1,30}[ \u0080-\uffff][^<>\n\d.:;=\"]{1,30})>")
_ABOUT_MEDIA = re.compile(
    r"\b(?:m[ée]di[aáeoj]\w*|multim[eé]dia|m[íi]dia|medya|archivo|arquivo|fichier|ficheiro|file|soubor|pliki?|meedia|"
    r"mediefil|multimèdia|mitjans|vedlegg|datoteke)\b|"
    r"медиа|медіа|медиј|файл|メディア|मीडिया|মিডি|สื่อ|الوسائط|رسانه|phương tiện|媒体|媒體|多媒|미디어|מדיה|"
    r"πολυμέσ|αρχείο",
    re.IGNORECASE,
)
# `image omitted`: what is missing, and a word for its being missing. Stems, for they are bent.
_LEFT_OUT = re.compile(
    r"omitted|weggelassen|ausgelassen|omitid[oa]|ocultad[oa]|absente?\b|omis[eă]?\b|manquante?\b|gif retiré|omess[oa]|"
    r"gif esclusa|non inclus[oa]|weggelaten|uteläm|utesl|utelslut|utelatt|ikke inkludert|udeladt|pominięt|ohitett|"
    r"ei kuvaa|ei sisälly|jätett|vynechan|vynechán|izostavljen|kihagy|kép küldése|fără audio|omès\b|omes[oa]\b|"
    r"tidak disertakan|tidak dimasukkan|dihilangkan|não revelad|dahil edilmedi|παραλ[εή]|"
    r"пропущен|отсутствует|исключен|опущен|не добавлен|відсутн|вилучен|не включено|не додано|"
    r"छोड़|शामिल नहीं|हटा(?:या|ई) ग|省略|含まれていません|なし|ไม่รวม|ละเว้น|ถูกละ|ไม่ได้แนบ|"
    r"ไม่มี(?:รูปภาพ|ไฟล์เสียง|สติกเกอร์)|วิดีโอถูกลบ|استبعاد|لم يتم إدراج|غير مشمول|تم حذف الملصقات|"
    r"bị bỏ qua|bỏ (?:qua|video|sticker)|không được đính|忽略|略去|생략|제외됨|הושמט",
    re.IGNORECASE,
)
_KINDS = {
    "gif": "gif",
    "photo": "image bild imagen imagem imatge immagine imagine afbeelding photo foto изображение obraz obrázek obrázok "
    "fotografi gambar 画像 写真 фото зображення รูป ภาพ صورة الصورة hình ảnh छवि चित्र तस्वीर फ़ोटो फोटो इमेज "
    "kuva görüntü billede slika kép εικόνα 图片 圖片 圖像 照片 이미지 사진 תמונה",
    "video": "video vídeo vidéo videó видео відео wideo 動画 ビデオ วิดีโอ วีดีโอ فيديو الفيديو वीडियो βίντεο 视频 影片 "
    "동영상 비디오 וידאו",
    "audio": "audio áudio àudio аудио аудіо dźwięk zvuk 音声 オーディオ เสียง صوت الصوت الصوتي ऑडियो âm ääni ljud lyd "
    "ήχος 音频 音訊 語音 오디오 קול",
    "sticker": "sticker stiker figurinha adesivo autocolante стикер стікер наліпка наклейк naklejk nálepka samolepka "
    "klistermærke klistremerke çıkartma スタンプ ステッカー สติกเกอร์ ملصق الملصق nhãn स्टिकर tarra αυτοκόλλητο 贴图 貼圖 "
    "스티커 סטיקר",
    "document": "document dokument dokumen documento документ 文書 ドキュメント 書類 เอกสาร مستند المستند tài दस्तावेज़ "
    "डॉक्यूमेंट belge asiakirja έγγραφο 文档 文件 문서 מסמך",
    "contact": "contact kontaktkarte contacto contato contatto visitekaartje vizitka wizytówka kontakt kontak контакт "
    "контакта 連絡先 ผู้ติดต่อ รายชื่อ جهة الاتصال liên संपर्क कॉन्टैक्ट yhteystieto kartı 聯絡人 联系人 연락처 קשר",
}  # fmt: skip
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()} | {"ses dahil": "audio"}
_KIND = re.compile("|".join(sorted(map(re.escape, _KIND_OF), key=len, reverse=True)), re.IGNORECASE)
_CALL = re.compile(r"\b(?:call|anruf|llamada|appel|chamada|chiamata|oproep)|звонок|дзвінок", re.IGNORECASE)
_KIND_OF_ENDING = {
    "jpg": "photo", "jpeg": "photo", "png": "photo", "heic": "photo", "webp": "sticker", "mp4": "video", "mov": "video",
    "3gp": "video", "opus": "audio", "ogg": "audio", "m4a": "audio", "mp3": "audio", "aac": "audio", "gif": "gif",
    "vcf": "contact",
}  # fmt: skip
_ATTACHED_IOS = re.compile(r"<[^<>:\n]{3,24}:\s*([^<>:\n]{1,200}\.\w{2,5})>")
# Of Android: the name of the file, then in brackets that it is attached. Its own names need no words.
_ATTACHED_ANDROID = re.compile(
    r"\A(?:([^\n/\\]{1,200}\.\w{2,5}) \((?:file attached|datei angehängt|archivo adjunto|fichier joint|arquivo anexado|"
    r"ficheiro anexado|file allegato|bestand bijgevoegd|файл добавлен|файл додано|dosya ekli|załączono plik|"
    r"bifogad fil|soubor byl přiložen|file terlampir|添付ファイル|ไฟล์ที่แนบ|แนบไฟล์|الملف مرفق|file được đính kèm|"
    r"फ़ाइल संलग्न है|फ़ाइल संलग्न|फ़ाइल अटैच की गई|ไฟล์ที่แนบมา|tệp đính kèm|plik załączony|файл прикреплен|файл прикріплено|"
    r"파일 첨부됨|文件附件|附件檔案|檔案已附加|קובץ מצורף)\)|"
    r"([A-Z]{3}-[0-9]{8}-WA[0-9]{4}\.\w{2,5}) \([^()\n]{3,40}\))[ ]?",
    re.IGNORECASE,
)
# `<This message was edited>` at the end: an iPhone puts its mark before it; else it says of a message that it changed.
_MARKED_END = re.compile(r"\S\s*[\u200e\u200f]<[^<>:\n]{5,60}>\s*\Z")
_EDITED = re.compile(
    r"\s?<(?=[^<>\n]*(?:mess|nachricht|mens|bericht|meddelande|melding|besked|viesti|wiadomoś|zpráv|správ|pesan|"
    r"mesej|mesaj|сообщени|повідомлен|μήνυμα|メッセージ|मैसेज|संदेश|رسالة|الرسالة|tin nhắn|ข้อความ|הודעה|訊息|消息|메시지))"
    r"(?=[^<>\n]*(?:edit|bearbeitet|modifi|bewerkt|redigera|redigeret|muokat|zmienion|edytowan|uprav|düzenlen|"
    r"измен|отредакт|відредаг|змінен|επεξεργ|編集|एडिट|संपादित|تعديل|chỉnh sửa|แก้ไข|נערכה|編輯|编辑|수정))"
    r"[^<>:=\n]{5,60}>\s*\Z",
    re.IGNORECASE,
)
_LAST_ANGLED = re.compile(r"\s?<[^<>\n]*>\s*\Z")
_DELETED = frozenset(
    {
        "this message was deleted", "you deleted this message", "this message was deleted by an admin",
        "you deleted this message as admin", "diese nachricht wurde gelöscht",
        "du hast diese nachricht gelöscht", "eliminó este mensaje", "se eliminó este mensaje",
        "este mensaje fue eliminado", "eliminaste este mensaje",
        "ce message a été supprimé", "vous avez supprimé ce message", "mensagem apagada", "essa mensagem foi apagada",
        "esta mensagem foi apagada", "esta mensagem foi apagada pelo remetente", "apagou esta mensagem",
        "você apagou esta mensagem", "esta mensagem foi eliminada", "eliminou esta mensagem",
        "questo messaggio è stato eliminato", "hai eliminato questo messaggio", "dit bericht is verwijderd",
        "u hebt dit bericht verwijderd", "bu mesaj silindi", "bu mesajı sildiniz", "ta wiadomość została usunięta",
        "данное сообщение удалено", "вы удалили данное сообщение", "это сообщение удалено", "вы удалили это сообщение",
        "це повідомлення видалено", "це повідомлення було видалено", "ви видалили це повідомлення",
        "tato zpráva byla odstraněna", "tato zpráva byla smazána", "tuto zprávu jste odstranili",
        "tuto zprávu jste odstranil/a", "tuto zprávu jste smazal/a",
        "pesan ini telah dihapus", "pesan ini dihapus", "anda menghapus pesan ini", "anda telah menghapus pesan ini",
        "このメッセージは削除されました", "このメッセージを削除しました", "यह संदेश हटाया गया था", "यह संदेश मिटाया गया",
        "आपने यह संदेश मिटाया", "यह मैसेज डिलीट कर दिया गया है", "आपने यह मैसेज डिलीट किया",
        "ข้อความนี้ถูกลบ", "ข้อความนี้ถูกลบแล้ว", "ข้อความนี้ได้ถูกลบ", "คุณลบข้อความนี้", "คุณได้ลบข้อความนี้",
        "تم حذف هذه الرسالة", "لقد حذَفت هذه الرسالة", "لقد حذفت هذه الرسالة", "أنت حذفت هذه الرسالة",
        "tin nhắn này đã bị xóa", "tin nhắn này đã bị xoá", "bạn đã xóa tin nhắn này", "bạn đã xoá tin nhắn này",
        "此訊息已刪除", "您已刪除此訊息", "这条消息已被删除", "您已删除这条消息", "이 메시지는 삭제되었습니다",
        "삭제한 메시지입니다", "הודעה זו נמחקה", "מחקת הודעה זו",
    }
)  # fmt: skip

# What people send though it looks like WhatsApp's own words.
_SENT = re.compile(
    r"(?:location|live location|standort|ubicación|localisation|localização|posizione|locatie|poll|umfrage|encuesta|"
    r"sondage|enquete|sondaggio)\b",
    re.IGNORECASE,
)


class Content(NamedTuple):
    kind: str  # message, media, system or deleted
    text: str
    media_kind: str = ""
    media_name: str = ""
    is_edited: bool = False


def content_of(message: WhatsappMessage) -> Content:
    """Most messages are only what somebody wrote, which a few cheap questions tell."""
    text = unmarked(message.text).strip()
    if not message.sender:
        return Content("system", text)
    if not message.is_marked and _is_written(message.text, text):
        return Content("message", text)
    text, edits = (_LAST_ANGLED if _MARKED_END.search(message.text) else _EDITED).subn("", text)
    special = _file(message, text)
    if special is None and ("\u200e" in message.text or message.is_marked or len(text) <= OWN_WORDS_CHARS):
        special = _left_out(message, text)
    if special:
        return special._replace(is_edited=bool(edits))
    if _says_deleted(text):
        return Content("deleted", text)
    is_own = message.is_marked and not _SENT.match(text)
    return Content("system" if is_own else "message", text, is_edited=bool(edits))


def _is_written(marked: str, text: str) -> bool:
    """Whether nothing in it can be of WhatsApp itself: no file in brackets, no mark, none of its own few words."""
    if "(" in text or text[:1] == "<" or text[-1:] == ">" or "\u200e" in marked:
        return False
    return len(text) > OWN_WORDS_CHARS or not (_stands_alone(text) or _says_deleted(text))


def _says_deleted(text: str) -> bool:
    return len(text) <= OWN_WORDS_CHARS and normalize("NFC", text.rstrip(".。।")).lower() in _DELETED


def attached_names(text: str) -> list[str]:
    """The files that a line names as attached."""
    found = (_ATTACHED_IOS.search(text), _ATTACHED_ANDROID.match(text))
    return [next(filter(None, one.groups())).strip() for one in found if one]


def _file(message: WhatsappMessage, text: str) -> Content | None:
    """A file beside the text, by its name; or `<Media omitted>`."""
    attached = _ATTACHED_IOS.search(text) if message.is_marked or "\u200e" in message.text else None
    attached = attached or (_ATTACHED_ANDROID.match(text) if "(" in text else None)
    if attached:
        name = next(filter(None, attached.groups())).strip()
        kind = _KIND_OF_ENDING.get(name.rpartition(".")[2].lower(), "document")
        caption = (text[: attached.start()] + text[attached.end() :]).strip()
        return Content("media", caption, kind, name)
    angled = _ANGLED.match(text)
    if angled and _ABOUT_MEDIA.search(angled[1]):
        return Content("media", text[angled.end() :].strip(), "omitted")
    return None


def _left_out(message: WhatsappMessage, text: str) -> Content | None:
    """`image omitted` stands alone, or behind a caption and an invisible mark."""
    before, mark, last = message.text.rpartition("\u200e")
    told = unmarked(last).strip() if mark else text
    if len(told) > OWN_WORDS_CHARS or not (mark or message.is_marked or _stands_alone(told)):
        return None
    kinds = _KIND.findall(told.lower()) if _LEFT_OUT.search(told) and not _CALL.search(told) else []
    kind = _KIND_OF["gif" if "gif" in kinds else kinds[0]] if kinds else ""  # an `ảnh GIF` is no picture only
    return Content("media", unmarked(before).strip(), kind) if kind else None


def _stands_alone(told: str) -> bool:
    """Whether these may be the words of WhatsApp and nothing else: two or three, and the first is what is missing."""
    return told.count(" ") <= 2 and told.partition(" ")[0].lower() in _KIND_OF
