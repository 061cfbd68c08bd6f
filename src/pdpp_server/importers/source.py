"""What an importer is: it knows the files of its source, and turns them into outcomes."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple

from pdpp_server.errors import InvalidRequest
from pdpp_server.model.blobs import ANY_BYTES, ID_PREFIX, Blob, is_mime_type
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.model.runs import AsOf, Coverage, Covered
from pdpp_server.wire.blobs import encode_reference
from pdpp_server.wire.envelope import Json

# Pictures, recordings and films: an export may hold a hundred thousand, and nobody reads one by itself.
MEDIA = re.compile(
    r"\.(?:jpe?g|png|gif|webp|heic|heif|svg|mp4|mov|avi|mkv|mp3|m4a|opus|ogg|wav|aac|3gp)$", re.IGNORECASE
)


class DamagedFile(InvalidRequest):
    """A file of an export cannot be opened or read to its end."""


class File(NamedTuple):
    """One file of an export, wherever it lies: on disk, or inside a zip."""

    name: str  # from the top of what the owner named, with "/": "general/2026-01-31.json"
    size: int  # of the content, in bytes
    open: Callable[[], BinaryIO]  # a buffered stream from the start; whoever opens it closes it; raises DamagedFile


@dataclass(slots=True)
class Meter:
    """How many bytes were read of an export, whoever read them."""

    read: int = 0
    heard: Callable[[int], None] | None = None  # told after each step

    def count(self, size: int) -> None:
        self.read += size
        if self.heard:
            self.heard(self.read)


@dataclass(frozen=True, slots=True)
class Files:
    """Everything under one path that the owner named: a file, a folder, or a zip as if it were unpacked."""

    name: str  # of the file or folder itself
    entries: Mapping[str, File]  # by name, in the order of their names
    zone: tzinfo  # for times that do not say where they were written
    mapping: bytes | None = None  # what the owner wrote about files that do not explain themselves
    now: datetime | None = None  # when the owner brings them in
    folder: str = ""  # where it lies, if it is one: what is in it now is what there is now
    unread: tuple[str, ...] = ()  # folders in it that could not be looked into
    meter: Meter = field(default_factory=Meter, compare=False)


class Head:
    """The beginning of one file, opened once and read as far as the one who asks for most; its maker closes it."""

    def __init__(self, file: File, mapping: bytes | None = None) -> None:
        self.file, self.mapping = file, mapping
        self._stream: BinaryIO | None = None
        self._start, self._is_over = b"", False
        self.learnt: dict[str, Any] = {}  # what one who asked found out with some effort, for the others

    def first(self, size: int) -> bytes:
        """What can be read of it; a file that cannot be opened has nothing."""
        missing = size - len(self._start)
        if missing > 0 and not self._is_over:
            try:
                self._stream = self._stream or self.file.open()
                self._start += self._stream.read(missing)
            except DamagedFile:
                self._start = b""
            self._is_over = len(self._start) < size
        return self._start[:size]

    def close(self) -> None:
        if self._stream:
            self._stream.close()


Known = Mapping[File, Any]  # the files that an importer knows, each with what their beginning told


class Choice(NamedTuple):
    """One way to read a file that does not explain itself."""

    says: str  # in a few words, where there are several
    mapping: bytes


class Proposal(NamedTuple):
    """How such a file may be read: in one way where nothing is in doubt, else as only the owner can tell."""

    key: str  # the same for every file of this form, so that an answer is kept for the next one
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """What an export holds of one account. It becomes a connection; the same account is called the same every time."""

    name: str
    files: tuple[File, ...]  # everything that `read` opens
    zone: tzinfo
    notes: tuple[str, ...] = ()  # what was decided from the files themselves and the owner should know
    found: Any = None  # what recognising learnt and reading needs
    lacks: str = ""  # what the owner must give first, in a sentence; until then nothing of it is imported
    proposal: Proposal | None = None  # what would do for what it lacks
    depends_on: str = ""  # what reading depends on besides the files: another day may give other records
    collection: str = ""  # what the export calls what it holds, where that may differ from the name of the account
    complete: tuple[str, ...] = ()  # the streams of which the files surely hold everything, not a part or a span
    derived: Mapping[str, str] = field(default_factory=dict[str, str])  # of these: from which stream each follows
    as_of: AsOf | None = None  # how new the files are, as they say themselves

    @property
    def covered(self) -> Covered:
        """What the files hold as one collection."""
        whole = {name: Coverage(follows=self.derived.get(name, "")) for name in self.complete}
        return Covered(whole, self.as_of)


class Attachment(NamedTuple):
    """Bytes that belong to a record: its field `blob_ref` holds the reference, the bytes become a blob."""

    stream: str
    key: str
    data: bytes
    mime_type: str
    name: str = ""  # what the file is called
    text_field: str = ""  # the field that takes what the file says, and beside it `<field>_note`; none where empty
    charset: str = ""  # in which its text is written, where somebody said so

    @property
    def blob(self) -> Blob:
        mime_type = self.mime_type if is_mime_type(self.mime_type) else ANY_BYTES
        return Blob(ID_PREFIX + sha256(self.data).hexdigest(), len(self.data), mime_type)

    @property
    def reference(self) -> Json:
        """What the field of the record holds."""
        return encode_reference(self.blob)


class Opened(NamedTuple):
    """What follows is of one collection, as the export names it, until the next of these; one account may have many."""

    collection: str


class Still(NamedTuple):
    """A record of an earlier reading that the export holds too, though it is not told again."""

    stream: str
    key: str


Outcome = Incoming | Rejection | Attachment | Opened | Covered | Still


@dataclass(frozen=True, slots=True)
class Importer:
    """One source, as a value: what `pdpp import` needs to know of it.

    A place is the name of a file, or that, a colon, and where in it. Attachments follow the record they belong to. A
    file that turns out to be damaged raises DamagedFile: whoever has further files to read makes a Rejection of it.
    An account is one collection unless its importer begins others; at the end of each such it says what was Covered.
    """

    key: str  # the connector key; `importers/declarations/<key>.json` declares its streams
    knows: Callable[[Head], object]  # by content, never by a name alone; None or False where a file is not ours
    accounts: Callable[[Files, Known], Iterable[Account]]  # from what it knows of an export
    read: Callable[[Account], Iterator[Outcome]]  # streaming; a broken record is a Rejection with its place
    usual_folders: tuple[str, ...] = ()  # where programs keep such files, "~" for the home of the owner
    takes: str = ""  # the files in a few words: "mail archives (.mbox, Maildir)"
    obtain: str = ""  # how the owner gets them: "Settings, Data controls, Export data; the zip from the mail"
    version: int = 1  # counted up where the same files now give other records
    declaration: bytes = b""  # what declares its streams, where it comes from a package of somebody else

    def recognise(self, files: Files) -> Iterable[Account]:
        """What this one alone finds in an export."""
        ((_, known),) = known_files(files, [self])
        return self.accounts(files, known)


def known_files(files: Files, importers: Iterable[Importer]) -> list[tuple[Importer, Known]]:
    """What each importer knows of an export. A file is opened once, and its beginning is shown to all of them;
    media are not opened.
    """
    asked = [(importer, dict[File, Any]()) for importer in importers]
    for file in files.entries.values():
        if MEDIA.search(file.name):
            continue
        head = Head(file, files.mapping)
        try:
            for importer, known in asked:
                told = importer.knows(head)
                if told is not None and told is not False:
                    known[file] = told
        finally:
            head.close()
    return [(importer, known) for importer, known in asked]
