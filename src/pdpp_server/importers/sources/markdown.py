"""Notes in Markdown: a folder of files, as Obsidian and other editors keep it, or a single one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from pdpp_server.importers.formats import markdown_text
from pdpp_server.importers.formats.charsets import is_wide, marked_text
from pdpp_server.importers.formats.json_values import clipped, line_of, text_of, without_gaps
from pdpp_server.importers.formats.markdown_text import BrokenFrontMatter, Link
from pdpp_server.importers.identity import account_name, digest
from pdpp_server.importers.source import Account, Attachment, DamagedFile, File, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import AsOf
from pdpp_server.model.times import iso
from pdpp_server.wire.envelope import Json

HEAD_BYTES = 4096
NOTE_BYTES_MAX = 8 * 1024 * 1024
ATTACHED_BYTES_MAX = 8 * 1024 * 1024
KEY_BYTES_MAX = 320  # as a handle writes it, which leaves room for the connection and the stream

_NOTE = re.compile(r".+\.(?:md|markdown)", re.IGNORECASE | re.DOTALL)
_MEDIA_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
    "bmp": "image/bmp",
    "avif": "image/avif",
    "heic": "image/heic",
    "pdf": "application/pdf",
    "mp3": "audio/mpeg",
    "m4a": "audio/mp4",
    "ogg": "audio/ogg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "webm": "video/webm",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
}
_SETTINGS = ".obsidian"
_DAY = re.compile(r"(?<![0-9])([0-9]{4}-[01][0-9]-[0-3][0-9])(?![0-9])")
_CREATED = ("created", "created_at", "date created", "creation_date", "createdat", "created-at", "date")
_UPDATED = ("updated", "updated_at", "date modified", "modified", "last_modified", "updatedat", "lastmod", "updated-at")


# Recognise --------------------------------------------------------------------------------------------------------


def knows(head: Head) -> bool:
    return _NOTE.fullmatch(head.file.name) is not None and _is_text(head)


def accounts(files: Files, known: Known) -> Iterable[Account]:
    """Each vault of Obsidian; where there is none, a folder that is mostly notes, or the one file that was named."""
    roots = {_above(name) for name in files.entries if _SETTINGS in name.split("/")[:-1]}
    # A vault says itself where it begins and is there as a whole; other notes may be a part of one, unless they are a
    # folder of the owner's, which is what it is now.
    is_whole = bool(roots or files.folder) and not files.unread
    if not roots and _is_mostly_notes(files.entries):
        roots = {""}
    for root in sorted(roots):
        inside = [file for name, file in files.entries.items() if _is_inside(name, root, roots)]
        if any(file in known for file in inside):
            name = account_name(root.rpartition("/")[2] or files.name)
            yield Account(
                name,
                tuple(inside),
                files.zone,
                found=f"{root}/" if root else "",
                collection=f"{name} {digest(files.folder, root)}" if files.folder else name,
                complete=("notes", "links", "attachments") if is_whole else (),
                derived={"links": "notes", "attachments": "notes"},
                as_of=AsOf(iso(files.now)) if files.folder and files.now else None,
            )


def _above(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[: parts.index(_SETTINGS)])


def _is_mostly_notes(names: Iterable[str]) -> bool:
    seen = [name for name in names if not _is_hidden(name) and _ending(name) not in _MEDIA_TYPES]
    return 2 * sum(_NOTE.fullmatch(name) is not None for name in seen) > len(seen)


def _is_inside(name: str, root: str, roots: set[str]) -> bool:
    """Notes and what can be embedded in them; a vault inside a vault is its own."""
    is_one = _NOTE.fullmatch(name) or _ending(name) in _MEDIA_TYPES
    is_below = not root or name.startswith(f"{root}/")
    if not (is_one and is_below) or _is_hidden(name[len(root) :].lstrip("/")):
        return False
    deeper = [other for other in roots if len(other) > len(root)]
    return not any(name.startswith(f"{other}/") for other in deeper)


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/"))


def _is_text(head: Head) -> bool:
    start = head.first(HEAD_BYTES)
    is_readable = bool(start) or not head.file.size
    return is_readable and (b"\0" not in start or is_wide(start))


# Read -------------------------------------------------------------------------------------------------------------


def read(account: Account) -> Iterator[Outcome]:
    """Each note, its links, and the images and files in it when they are met for the first time."""
    vault = _Vault(account)
    for path, file in vault.notes.items():
        try:
            yield from vault.outcomes(path, file)
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", damaged.message)


def _key(path: str) -> str:
    """The path itself, where a handle has room for it."""
    return path if len(quote(path)) + 2 * path.count("/") <= KEY_BYTES_MAX else digest(path)


class _Found(NamedTuple):
    """What a link leads to inside the vault."""

    note: str | None = None
    attachment: str | None = None


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path


class _Vault:
    def __init__(self, account: Account) -> None:
        self._zone = account.zone
        self.notes: dict[str, File] = {}
        self._others: dict[str, File] = {}
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        for file in account.files:
            path = file.name.removeprefix(account.found or "")
            (self.notes if _NOTE.fullmatch(path) else self._others)[path] = file
            self._by_path[path.lower()] = path
        for path in sorted([*self.notes, *self._others], key=_depth):  # the shortest way is meant
            self._by_name.setdefault(path.rpartition("/")[2].lower(), path)
        self._attached: set[str] = set()

    def outcomes(self, path: str, file: File) -> Iterator[Outcome]:
        with file.open() as stream:
            raw = stream.read(NOTE_BYTES_MAX + 1)
        if len(raw) > NOTE_BYTES_MAX:
            yield Rejection(file.name, "resource_limit", f"the note is longer than {NOTE_BYTES_MAX >> 20} MiB")
            return
        text = _text(raw)
        if "\0" in text:
            yield Rejection(file.name, "invalid_record", "it is not text")
            return
        front_matter, body = markdown_text.split(text)
        try:
            named = markdown_text.properties(front_matter)
        except BrokenFrontMatter as broken:
            named, body = {}, text
            reason = f"the front matter was kept as text, because it cannot be read: {broken}"
            yield Rejection(f"{file.name}:1", "invalid_record", reason)
        words = markdown_text.prose(body)
        links = markdown_text.links(words)
        data = self._note(path, body, named, words, len(links))
        yield Incoming(file.name, "notes", data["id"], data, None)
        for link in links:
            yield from self._linked(path, link, data, file.name)

    def _note(self, path: str, body: str, named: Json, words: str, link_count: int) -> Json:
        folder, _, name = path.rpartition("/")
        lowered = {key.lower(): value for key, value in reversed(named.items())}
        stem = name.rpartition(".")[0]
        day = _day(stem)
        tags = markdown_text.tags(words, lowered)
        created = self._time(lowered, _CREATED) or _instant(day or "", self._zone)
        title = line_of(text_of(lowered.get("title"))) or line_of(markdown_text.heading(body)) or stem
        return without_gaps(
            {
                "id": _key(path),
                "title": title,
                "path": path,
                "folder": folder,
                "text": clipped(body),
                "day": day,
                "created_at": created,
                "updated_at": self._time(lowered, _UPDATED),
                "tags": tags,
                "tag_names": ", ".join(tags),
                "aliases": ", ".join(_texts(lowered.get("aliases") or lowered.get("alias"))),
                "properties": named or None,
                "link_count": link_count,
                "word_count": len(words.split()),
            }
        )

    def _time(self, named: Mapping[str, Any], names: Iterable[str]) -> str | None:
        told = (_instant(text_of(named.get(name)), self._zone) for name in names)
        return next((time for time in told if time), None)

    # Links ---------------------------------------------------------------------------------------------------------

    def _linked(self, path: str, link: Link, note: Json, place: str) -> Iterator[Outcome]:
        found = self._resolved(path, link)
        key = digest(note["id"], link.kind, link.target)
        data: Json = {
            "id": key,
            "note_id": note["id"],
            "note_title": note["title"],
            "kind": link.kind,
            "target": clipped(link.target),
            "words": link.words,
            "heading": link.heading,
            "target_note_id": _key(found.note) if found.note else None,
            "attachment_id": _key(found.attachment) if found.attachment else None,
            "created_at": note.get("created_at"),
        }
        yield Incoming(place, "links", key, without_gaps(data), None)
        if found.attachment and found.attachment not in self._attached:
            self._attached.add(found.attachment)
            yield from self._attachment(found.attachment, note)

    def _resolved(self, path: str, link: Link) -> _Found:
        if link.kind == "web":
            return _Found()
        target = link.target.replace("\\", "/")
        folder = path.rpartition("/")[0]
        ways = [_joined(folder, target), _joined("", target)]
        if link.kind != "markdown":
            ways.reverse()
        for way in filter(None, ways):
            for ending in ("", ".md", ".markdown"):
                hit = self._by_path.get(f"{way}{ending}".lower())
                if hit:
                    return self._found(hit)
        if "/" in target:
            return _Found()
        name = target.lower()
        hit = self._by_name.get(name) or self._by_name.get(f"{name}.md")
        return self._found(hit) if hit else _Found()

    def _found(self, path: str) -> _Found:
        return _Found(note=path) if path in self.notes else _Found(attachment=path)

    def _attachment(self, path: str, note: Json) -> Iterator[Outcome]:
        file = self._others[path]
        data: Json = {
            "id": _key(path),
            "note_id": note["id"],
            "filename": path.rpartition("/")[2],
            "path": path,
            "media_type": _MEDIA_TYPES[_ending(path)],
            "size_bytes": file.size,
            "created_at": note.get("created_at"),
        }
        attachment = _read_attached(file, data)
        if attachment:
            data["blob_ref"] = attachment.reference
        yield Incoming(file.name, "attachments", data["id"], without_gaps(data), None)
        if attachment:
            yield attachment


def _read_attached(file: File, data: Json) -> Attachment | None:
    """None for what is empty or too large to keep beside notes; the record still names it."""
    if not 0 < file.size <= ATTACHED_BYTES_MAX:
        return None
    with file.open() as stream:
        return Attachment("attachments", data["id"], stream.read(ATTACHED_BYTES_MAX), data["media_type"])


def _joined(folder: str, target: str) -> str:
    """Where a relative path leads; empty where it leads out of the vault."""
    parts: list[str] = [] if target.startswith("/") or not folder else folder.split("/")
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


# Text and times ---------------------------------------------------------------------------------------------------


def _text(raw: bytes) -> str:
    return marked_text(raw).replace("\r\n", "\n").replace("\r", "\n")


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [one for one in cast(list[Any], value) if isinstance(one, str) and one]
    return [value] if isinstance(value, str) and value else []


def _day(stem: str) -> str | None:
    """The day that a note is about, if its name tells one."""
    found = _DAY.search(stem)
    return found[1] if found and _instant(found[1], UTC) else None


def _instant(text: str, zone: tzinfo) -> str | None:
    """In UTC; a day begins, and a time without an offset is meant, where the owner is."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return iso(moment if moment.tzinfo else moment.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        return None


MARKDOWN = Importer(
    key="markdown",
    knows=knows,
    accounts=accounts,
    read=read,
    takes="notes in Markdown (an Obsidian vault, a folder of .md files)",
    obtain="the folder that your notes are in; from other programs, export them as Markdown",
)
