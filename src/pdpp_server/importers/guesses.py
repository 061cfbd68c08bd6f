"""What a file that nobody reads may be, and what to do about it: a guess, told as one."""

import codecs
import re
from collections.abc import Iterable
from typing import NamedTuple

from pdpp_server.importers.source import MEDIA, File, Files, Head

HEAD_BYTES = 4096
PARTS_MAX = 40  # that are told one by one


class Guess(NamedTuple):
    what: str  # behind "it looks like"
    todo: str = ""  # a sentence


class UntakenPart(NamedTuple):
    """Files of an export that no importer took, and what they seem to be."""

    name: str  # of the file or the folder, from what the owner named on
    files: int
    size: int
    guess: Guess | None


_NOT_YET = "Nothing here reads it yet; the file stays where it is."
_UNPACK = "Unpack it, and import the folder."
_APART = "Take it out, and import it by itself."
_BESIDE = "It is imported beside the message or note that it belongs to."

# By where a file lies in an export: the parts of Takeout and of other downloads, which are called the same everywhere.
_PLACES = tuple(
    (re.compile(pattern, re.IGNORECASE), Guess(what, _NOT_YET))
    for pattern, what in (
        (
            r"(?:^|/)(?:(?:Location History|Timeline|Standortverlauf)[^/]*/|(?:Records|Timeline)\.json$)",
            "Google's location history",
        ),
        (r"(?:^|/)YouTube[^/]*/", "YouTube's history"),
        (r"(?:^|/)Chrome/|(?:^|/)BrowserHistory\.json$", "Chrome's bookmarks and history"),
        (r"(?:^|/)Keep/|(?:^|/)Google Notizen/", "notes of Google Keep"),
        (r"(?:^|/)Google (?:Photos|Fotos)/", "Google Photos"),
        (r"(?:^|/)(?:My Activity|Meine Aktivitäten)/", "Google's log of your activity"),
        (r"(?:^|/)(?:Fit|Google Fit)/|(?:^|/)Fitbit/", "Google Fit or Fitbit"),
        (r"(?:^|/)Takeout/(?:Drive|Google Drive)/", "files of Google Drive"),
        (r"(?:^|/)archive_browser\.html$", "the table of contents of a Takeout"),
        (
            r"(?:^|/)(?:your_(?:instagram|facebook)_activity/|messages/inbox/[^/]+/message_[0-9]+\.json$)",
            "an export of Instagram or Facebook",
        ),
        (r"(?:^|/)Streaming(?:_?History)[^/]*\.json$", "Spotify's history"),
        (r"(?:^|/)(?:NetflixViewingHistory|ViewingActivity)\.csv$", "Netflix's history"),
        (r"(?:^|/)goodreads_library_export[^/]*\.csv$", "a Goodreads library"),
        (r"(?:^|/)(?:apple_health_export/.*|export_cda\.xml)$", "an export of Apple Health"),
        (r"(?:^|/)(?:chat|sms)\.db$", "the messages of an iPhone or a Mac"),
        (r"(?:^|/)sms-[0-9]{8,}\.xml$", "a backup of SMS"),
        (r"(?:^|/)signal-[0-9-]+\.backup$", "a backup of Signal"),
    )
)

# By how a file begins.
_STARTS = (
    (b"!BDN", Guess("an Outlook data file (.pst)", "Export the mailbox from Thunderbird or Outlook as .mbox or .eml.")),
    (b"SQLite format 3\0", Guess("a database (SQLite)", "Name that file alone: `pdpp import FILE` proposes how.")),
    (b"%PDF", Guess("a PDF", "Ask the service for a file that programs can read: CSV, OFX, JSON, mbox.")),
    (b"7z\xbc\xaf\x27\x1c", Guess("a 7-Zip archive", _UNPACK)),
    (b"Rar!", Guess("a RAR archive", _UNPACK)),
    (b"BZh", Guess("something packed with bzip2", _UNPACK)),
    (b"\xfd7zXZ\0", Guess("something packed with xz", _UNPACK)),
    (
        b"\xd0\xcf\x11\xe0",
        Guess(
            "an old Office file (.doc, .xls, .msg)",
            "Save it from its program in another format: a table as CSV, a mail as .eml.",
        ),
    ),
    (b"PK\x03\x04", Guess("a zip inside an export", _APART)),
    (b"\x1f\x8b", Guess("something packed with gzip", _UNPACK)),
    (b"\x89PNG", Guess("a picture", _BESIDE)),
    (b"\xff\xd8\xff", Guess("a picture", _BESIDE)),
    (b"GIF8", Guess("a picture", _BESIDE)),
)
_TEXTS = (
    (
        re.compile(rb"\s*<\?xml[^>]*>\s*(?:<!DOCTYPE HealthData|<HealthData)"),
        Guess("an export of Apple Health", _NOT_YET),
    ),
    (
        re.compile(rb"\s*(?:<\?xml[^>]*>)?\s*<(?:xs|xsd):schema"),
        Guess("a schema, which describes files and holds no data", "Import the files themselves."),
    ),
    (
        re.compile(rb"\s*(?:<!DOCTYPE html|<html)", re.IGNORECASE),
        Guess("a page (HTML)", "Services often offer the same as JSON: have it exported again in that format."),
    ),
    (
        re.compile(rb"\[[0-9]{4}-[0-9]{2}-[0-9]{2},? [0-9]{2}:[0-9]{2}\] [^\n:]{1,100}: "),
        Guess("a chat made from Signal", _NOT_YET),
    ),
    (re.compile(rb'\{"(?:guild|exportedAt)"|\{\s*"guild"\s*:'), Guess("a chat of Discord", _NOT_YET)),
    (re.compile(rb"\s*<(?:\?xml|[a-z])", re.IGNORECASE), Guess("XML of a kind that is not known here", _NOT_YET)),
)
_OWN = "If the records are your own, name that file alone: `pdpp import FILE` proposes how, --declaration says it."
_LINES = Guess("lines of JSON that no kind of export here has", _OWN)
_JSON = Guess("JSON that no kind of export here has", "Write it as one object a line. " + _OWN)
_TABLE = Guess(
    "a table without a column that is known as a date or an amount",
    "Where it is a bank's, say what its columns mean: --mapping.",
)
_TEXT = Guess("plain text", "Notes are taken as Markdown (.md).")
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WIDE = Guess("a text in UTF-16", "Save it as UTF-8 in an editor, and import that.")
_EMPTY = Guess("an empty file", "Download or export it again.")


def guess_of(head: Head) -> Guess | None:
    """What it seems to be; None where nothing tells."""
    start = head.first(HEAD_BYTES)
    if not head.file.size:
        return _EMPTY
    for place, guess in _PLACES:
        if place.search(head.file.name):
            return guess
    for begins, guess in _STARTS:
        if start.startswith(begins):
            return guess
    if MEDIA.search(head.file.name):
        return Guess("a picture, a recording or a film", _BESIDE)
    if start.startswith(_WIDE_MARKS) and b"\0" in start:
        return _WIDE
    return None if b"\0" in start else _guess_of_text(start.removeprefix(b"\xef\xbb\xbf"), head.file.name.lower())


def _guess_of_text(start: bytes, name: str) -> Guess | None:
    for begins, guess in _TEXTS:
        if begins.match(start):
            return guess
    if name.endswith((".jsonl", ".ndjson")):
        return _LINES
    if start.lstrip()[:1] in (b"{", b"["):
        return _JSON
    if name.endswith((".csv", ".tsv")):
        return _TABLE
    return _TEXT if name.endswith((".txt", ".log", ".rtf")) or _is_text(start) else None


def _is_text(start: bytes) -> bool:
    """As far as it is sure that no character is cut in two."""
    try:
        start[:-3].decode()
    except UnicodeDecodeError:
        return False
    return True


def parts_left(files: Files, taken: Iterable[str]) -> list[UntakenPart]:
    """What nobody took of an export, folder by folder, each folder judged by its first file."""
    claimed = set(taken)
    groups: dict[str, list[File]] = {}
    for name, file in files.entries.items():
        if name not in claimed:
            groups.setdefault(_group(name), []).append(file)
    return [_part(name, found) for name, found in groups.items()]


def _part(name: str, found: list[File]) -> UntakenPart:
    head = Head(found[0])
    try:
        return UntakenPart(name, len(found), sum(file.size for file in found), guess_of(head))
    finally:
        head.close()


def _group(name: str) -> str:
    """The folder at the top; of a Takeout, which is one folder, the one below."""
    steps = name.split("/")
    depth = 2 if steps[0] == "Takeout" else 1
    return "/".join(steps[:depth])
