"""The words that WhatsApp itself writes into a chat, in the languages of its phones: for files, edits and deletions."""

import re
from typing import NamedTuple

from pdpp_server.importers.formats.whatsapp_lines import WhatsappMessage, unmarked

OWN_WORDS_CHARS = 60  # what stands for a file is short

# `<Media omitted>`: alone in angles, and about media, whatever the language.
_ANGLED = re.compile(r"<([^<>\n]{3,60})>")
_ABOUT_MEDIA = re.compile(
    r"\b(?:m[ée]di[aáeo]\w*|multim[eé]dia|m[íi]dia|medya|archivo|arquivo|fichier|ficheiro|file|soubor)\b|"
    r"медиа|медіа|файл|メディア|मीडिया|মিডি|สื่อ|الوسائط|phương tiện|媒体|媒體|多媒|미디어|מדיה|πολυμέσ",
    re.IGNORECASE,
)
# `image omitted`: what is missing, and a word for its being missing. Stems, for they are bent.
_LEFT_OUT = re.compile(
    r"omitted|weggelassen|omitid[oa]|ocultad[oa]|absente?\b|omise?\b|omess[oa]|weggelaten|utelämna|pominięt|ohitett|"
    r"vynechán|tidak disertakan|dihilangkan|não revelad|dahil edilmedi|"
    r"пропущен|отсутствует|исключен|відсутн|вилучен|не включено|не додано|"
    r"छोड़|शामिल नहीं|हटा(?:या|ई) ग|省略|含まれていません|なし|ไม่รวม|ละเว้น|ถูกละ|ไม่ได้แนบ|استبعاد|"
    r"bị bỏ qua|đã bỏ qua|không được đính|忽略|略去|생략|הושמט",
    re.IGNORECASE,
)
_KINDS = {
    "photo": "image bild imagen imagem immagine afbeelding photo foto изображение obraz obrázek fotografi gambar "
    "画像 写真 фото зображення รูป ภาพ صورة الصورة hình ảnh छवि चित्र तस्वीर फ़ोटो फोटो इमेज "
    "kuva görüntü 图片 圖片 사진 תמונה",
    "video": "video vídeo vidéo видео відео wideo 動画 ビデオ วิดีโอ วีดีโอ فيديو الفيديو वीडियो 视频 影片 동영상",
    "audio": "audio áudio аудио аудіо dźwięk zvuk 音声 オーディオ เสียง صوت الصوت الصوتي ऑडियो âm ääni 音频 오디오",
    "sticker": "sticker stiker figurinha adesivo autocolante стикер стікер наліпка naklejka nálepka samolepka スタンプ "
    "ステッカー สติกเกอร์ ملصق الملصق nhãn स्टिकर tarra 贴图 貼圖 스티커",
    "gif": "gif",
    "document": "document dokument dokumen documento документ 文書 ドキュメント 書類 เอกสาร مستند المستند tài दस्तावेज़ "
    "डॉक्यूमेंट belge asiakirja 文档 文件 문서",
    "contact": "contact kontaktkarte contacto contato contatto visitekaartje kontakt kontak контакт контакта 連絡先 "
    "ผู้ติดต่อ جهة الاتصال liên संपर्क yhteystieto",
}  # fmt: skip
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_KIND = re.compile("|".join(sorted(map(re.escape, _KIND_OF), key=len, reverse=True)), re.IGNORECASE)
_CALL = re.compile(r"\b(?:call|anruf|llamada|appel|chamada|chiamata|oproep|звонок|дзвінок)", re.IGNORECASE)
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
    r"फ़ाइल संलग्न है|फ़ाइल अटैच की गई)\)|"
    r"([A-Z]{3}-[0-9]{8}-WA[0-9]{4}\.\w{2,5}) \([^()\n]{3,40}\))[ ]?",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"[ ]?<(?:this message was edited|diese nachricht wurde bearbeitet|se editó este mensaje|"
    r"ce message a été modifié|esta mensagem foi editada|questo messaggio è stato modificato|"
    r"dit bericht is bewerkt)\.?>\s*\Z",
    re.IGNORECASE,
)
_DELETED = frozenset(
    {
        "this message was deleted", "you deleted this message", "diese nachricht wurde gelöscht",
        "du hast diese nachricht gelöscht", "eliminó este mensaje", "se eliminó este mensaje",
        "eliminaste este mensaje",
        "ce message a été supprimé", "vous avez supprimé ce message", "mensagem apagada", "essa mensagem foi apagada",
        "questo messaggio è stato eliminato", "hai eliminato questo messaggio", "dit bericht is verwijderd",
        "u hebt dit bericht verwijderd", "данное сообщение удалено", "вы удалили данное сообщение",
        "это сообщение удалено", "вы удалили это сообщение",
        "це повідомлення видалено", "ви видалили це повідомлення", "tato zpráva byla odstraněna",
        "tuto zprávu jste odstranili", "pesan ini telah dihapus", "anda menghapus pesan ini",
        "このメッセージは削除されました", "यह संदेश हटाया गया था", "تم حذف هذه الرسالة", "tin nhắn này đã bị xóa",
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
    text, edits = _EDITED.subn("", text)
    special = _file(message, text)
    if special is None and ("\u200e" in message.text or message.is_marked or len(text) <= OWN_WORDS_CHARS):
        special = _left_out(message, text)
    if special:
        return special._replace(is_edited=bool(edits))
    if len(text) <= OWN_WORDS_CHARS and text.rstrip(".。").lower() in _DELETED:
        return Content("deleted", text)
    is_own = message.is_marked and not _SENT.match(text)
    return Content("system" if is_own else "message", text, is_edited=bool(edits))


def _is_written(marked: str, text: str) -> bool:
    """Whether nothing in it can be of WhatsApp itself: no file in brackets, no mark, none of its own few words."""
    if "(" in text or text[:1] == "<" or text[-1:] == ">" or "\u200e" in marked:
        return False
    return len(text) > OWN_WORDS_CHARS or not (_stands_alone(text) or text.rstrip(".。").lower() in _DELETED)


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
    found = _KIND.search(told) if _LEFT_OUT.search(told) and not _CALL.search(told) else None
    return Content("media", unmarked(before).strip(), _KIND_OF[found[0].lower()]) if found else None


def _stands_alone(told: str) -> bool:
    """Whether these may be the words of WhatsApp and nothing else: two or three, and the first is what is missing."""
    return told.count(" ") <= 2 and told.partition(" ")[0].lower() in _KIND_OF
