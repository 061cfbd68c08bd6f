"""The lines of a WhatsApp chat: where a message begins, what its time means, and what stands for a file."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from pdpp_server.importers.formats.charsets import decoded

LINE_BYTES_MAX = 1024 * 1024
MESSAGE_CHARS_MAX = 1_000_000

_MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_BLANKS = re.compile("[\u202f\u00a0\u2009]")
_ANY = f"[{_MARKS}]*"
_STAMP = re.compile(
    rf"{_ANY}(?P<open>\[)?(?P<date>(?P<a>\d{{1,2}}|\d{{4}}){_ANY}(?P<mark>[./-]){_ANY}[ ]?(?P<b>\d{{1,2}})"
    rf"{_ANY}(?P=mark){_ANY}[ ]?(?P<c>\d{{4}}|\d{{1,2}})\.?){_ANY},?[ ](?:klo |kl |um |às |à |a las |at )?{_ANY}"
    rf"(?P<time>(?P<early>上午|下午|오전|오후)?[ ]?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})"
    rf"(?:[:.](?P<second>\d{{2}}))?"
    rf"[ ]?(?P<half>[AaPp]\.?[ ]?[Mm]\.?)?){_ANY}(?(open)\][ ]?|[ ][-\u2013][ ])"
)
_SENDER = re.compile(rf"([^:\n]{{1,100}}?):(?:[ ]|\Z)([{_MARKS}]*)")
_AFTERNOON = ("p", "下", "오후")

_OMITTED = re.compile(
    r"<(?:media omitted|medien ausgeschlossen|medien weggelassen|multimedia omitido|archivo omitido|médias? omis|"
    r"fichier omis|mídia oculta|arquivo de mídia oculto|ficheiro não revelado|media omess[io]|media weggelaten|"
    r"без медиафайлов|файл пропущен|medya dahil edilmedi|pominięto multimedia|media utelämnat|mediat ohitettiin)>",
    re.IGNORECASE,
)
_KIND_OMITTED = re.compile(
    r"(?:\A|.*\s|[^\w\s])(?P<what>[\w-]+)(?: (?:card|cards))? (?:omitted|weggelassen|omitid[oa]|ocultad[oa]|"
    r"absente?|omise?|omess[oa]|weggelaten|пропущено|utelämnad|pominięt[oay])",
    re.IGNORECASE | re.DOTALL,
)
_KINDS = {
    "photo": "image bild imagen imagem immagine afbeelding photo foto изображение obraz",
    "video": "video vídeo vidéo видео wideo",
    "audio": "audio áudio аудио dźwięk",
    "sticker": "sticker figurinha adesivo стикер naklejka",
    "gif": "gif",
    "document": "document dokument documento документ",
    "contact": "contact kontaktkarte contacto contato contatto visitekaartje",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_KIND_OF_ENDING = {
    "jpg": "photo", "jpeg": "photo", "png": "photo", "heic": "photo", "webp": "sticker", "mp4": "video", "mov": "video",
    "3gp": "video", "opus": "audio", "ogg": "audio", "m4a": "audio", "mp3": "audio", "aac": "audio", "gif": "gif",
    "vcf": "contact",
}  # fmt: skip
_ATTACHED_IOS = re.compile(r"<[^<>:\n]{3,24}:\s*([^<>:\n]{1,200}\.\w{2,5})>")
_ATTACHED_ANDROID = re.compile(
    r"\A([^\n/\\]{1,200}\.\w{2,5}) \((?:file attached|datei angehängt|archivo adjunto|fichier joint|arquivo anexado|"
    r"ficheiro anexado|file allegato|bestand bijgevoegd|файл добавлен|dosya ekli|załączono plik|bifogad fil)\)[ ]?",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"[ ]?<(?:this message was edited|diese nachricht wurde bearbeitet|se editó este mensaje|"
    r"ce message a été modifié|esta mensagem foi editada|questo messaggio è stato modificato|"
    r"dit bericht is bewerkt)\.?>\s*\Z",
    re.IGNORECASE,
)
_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|diese nachricht wurde gelöscht|"
    r"du hast diese nachricht gelöscht|(?:se )?eliminó este mensaje|eliminaste este mensaje|"
    r"ce message a été supprimé|vous avez supprimé ce message|"
    r"mensagem apagada|essa mensagem foi apagada|questo messaggio è stato eliminato|hai eliminato questo messaggio|"
    r"dit bericht is verwijderd|u hebt dit bericht verwijderd)\.?",
    re.IGNORECASE,
)

# What people send though it looks like WhatsApp's own words.
_SENT = re.compile(
    r"(?:location|live location|standort|ubicación|localisation|localização|posizione|locatie|poll|umfrage|encuesta|"
    r"sondage|enquete|sondaggio)\b",
    re.IGNORECASE,
)


class Stamp(NamedTuple):
    """The time of a message as it is written; which of the parts is the day is decided for the whole file."""

    parts: tuple[int, int, int]
    mark: str
    is_year_first: bool
    clock: tuple[int, int, int]
    half: str
    text: str  # the same in every export of the same phone


class Said(NamedTuple):
    """One message: its lines without the time and the sender; those of the phone itself have no sender."""

    line: int
    stamp: Stamp
    sender: str
    text: str
    is_marked: bool  # with the invisible mark that stands before what WhatsApp itself writes


def stamped(line: str) -> tuple[Stamp, str] | None:
    """The time that begins a message, and the rest of its line."""
    found = _STAMP.match(_BLANKS.sub(" ", line[:80]))
    if not found or (not found["open"] and found["second"]):
        return None
    first, second, third = int(found["a"]), int(found["b"]), int(found["c"])
    half = found["half"] or found["early"] or ""
    clock = (int(found["hour"]), int(found["minute"]), int(found["second"] or 0))
    text = _unmarked(f"{found['date']} {found['time']}").lower().replace(" ", "")
    stamp = Stamp((first, second, third), found["mark"], len(found["a"]) == 4, clock, half, text)
    return stamp, line[found.end() :]


def said(stream: BinaryIO) -> Iterator[Said | int]:
    """The messages; a line that no message begins before is told by its number."""
    open_: tuple[int, Stamp, str] | None = None
    lines: list[str] = []
    size = number = 0
    while raw := stream.readline(LINE_BYTES_MAX):
        number += 1
        line = decoded(raw.rstrip(b"\r\n")).replace("\0", "\ufffd")
        begun = stamped(line)
        if begun:
            if open_:
                yield _whole(*open_, lines)
            open_, lines, size = (number, *begun), [], 0
        elif open_ is None:
            if line.strip(_MARKS + " \t"):
                yield number
        elif size < MESSAGE_CHARS_MAX:
            lines.append(line)
            size += len(line) + 1  # an empty line is kept too
    if open_:
        yield _whole(*open_, lines)


def _whole(number: int, stamp: Stamp, first: str, lines: list[str]) -> Said:
    found = _SENDER.match(first)
    sender = _unmarked(found[1]).strip() if found else ""
    begins = first[found.end() :] if found else first
    is_marked = bool(found and found[2]) or not found
    return Said(number, stamp, sender, "\n".join([begins, *lines]), is_marked)


def _unmarked(text: str) -> str:
    return text.translate({ord(mark): None for mark in _MARKS})


# Times ------------------------------------------------------------------------------------------------------------


class Order(NamedTuple):
    """Which part of a date is the day, and how that is known."""

    is_day_first: bool
    because: str
    is_sure: bool


def order_of(stamps: Iterable[Stamp]) -> Order:
    """From the dates themselves: a part above twelve is a day, and time does not run backwards."""
    dates: list[tuple[int, int, int]] = []
    last: Stamp | None = None
    for stamp in stamps:
        if stamp.is_year_first:
            return Order(False, "the year stands first", True)
        if not dates or dates[-1] != stamp.parts:
            dates.append(stamp.parts)
        last = stamp
    days_first = sum(first > 12 for first, _, _ in dates)
    days_second = sum(second > 12 for _, second, _ in dates)
    if days_first != days_second:
        return Order(days_first > days_second, "a number above 12 can only be a day", True)
    as_days, as_months = _backwards(dates, 1), _backwards(dates, 0)
    if as_days != as_months:
        return Order(as_days < as_months, "so the dates follow each other", True)
    is_american = last is not None and last.mark == "/" and last.half.isupper()
    return Order(not is_american, "nothing in it tells day from month, and this is more common", False)


def _backwards(dates: list[tuple[int, int, int]], month: int) -> int:
    """How often a date is before the one above it."""
    ordered = [(parts[2], parts[month], parts[1 - month]) for parts in dates]
    return sum(later < earlier for earlier, later in pairwise(ordered))


def wall_time(stamp: Stamp, order: Order) -> datetime | None:
    """On the phone's own clock; None for a time that does not exist."""
    first, second, third = stamp.parts
    if stamp.is_year_first:
        year, month, day = first, second, third
    else:
        month, day = (second, first) if order.is_day_first else (first, second)
        year = third if third > 99 else 2000 + third
    hour, minute, seconds = stamp.clock
    if stamp.half:
        hour = hour % 12 + (12 if stamp.half.lower().startswith(_AFTERNOON) else 0)
    try:
        return datetime(year, month, day, hour, minute, seconds)  # noqa: DTZ001  the zone comes from the owner
    except ValueError:
        return None


# Contents ---------------------------------------------------------------------------------------------------------


class Content(NamedTuple):
    kind: str  # message, media, system or deleted
    text: str
    media_kind: str = ""
    media_name: str = ""
    is_edited: bool = False


def content_of(message: Said) -> Content:
    text, edits = _EDITED.subn("", _unmarked(message.text).strip())
    if not message.sender:
        return Content("system", text)
    attached = _ATTACHED_IOS.search(text) if message.is_marked or "\u200e" in message.text else None
    attached = attached or _ATTACHED_ANDROID.match(text)
    if attached:
        name = attached[1].strip()
        kind = _KIND_OF_ENDING.get(name.rpartition(".")[2].lower(), "document")
        caption = (text[: attached.start()] + text[attached.end() :]).strip()
        return Content("media", caption, kind, name, bool(edits))
    if _OMITTED.match(text):
        return Content("media", text[text.index(">") + 1 :].strip(), "omitted", "", bool(edits))
    if omitted := _omitted(message.text, text):
        return omitted
    if _DELETED.fullmatch(text):
        return Content("deleted", text)
    is_own = message.is_marked and not _SENT.match(text)
    return Content("system" if is_own else "message", text, is_edited=bool(edits))


def _omitted(marked: str, text: str) -> Content | None:
    """`image omitted` stands alone, or behind a caption and an invisible mark."""
    before, mark, last = marked.rpartition("\u200e")
    told = _unmarked(last).strip() if mark else text
    found = _KIND_OMITTED.fullmatch(told)
    kind = _KIND_OF.get(found["what"].lower()) if found else None
    return Content("media", _unmarked(before).strip(), kind) if kind else None
