"""The disclosure log: hash-chained lines, a segment for each process and day.

A line is a JSON object with its number `n` and `prev`, the SHA-256 of the whole line before it, newline included. Line
0 is a header: it names its segment and, where the same process wrote another one before, that segment's last line. The
first header of a day is the root of the day before: it names the last line of every segment of that day. Every other
header names those of its own day that began last.
"""

import errno
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Literal, Protocol, cast
from weakref import WeakSet

import orjson

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.model.activity import Disclosure, Segment, State, Verdict
from pdpp_server.model.times import instant, iso_micros
from pdpp_server.store import files

VERSION = 1
SEGMENT_BYTES = 64 * 1024 * 1024
LINE_BYTES_MAX = 1024 * 1024
NO_LINE = "0" * 64
CLOSED_MAX = 4_000  # segments that one root names, so that it stays a line
BESIDE_MAX = 8  # segments of its own day that a header names: as many processes may begin at once

Sync = Literal["normal", "full"]

DAY_CHARS = len("2026-11-17")
DAY_OF_ID_CHARS = len("20261117")
_SEGMENT_NAME = re.compile(r"\d{8}T\d{6}-\d+-[0-9a-f]{8}\.jsonl", re.ASCII)
_CREATE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_NUMBER_MAX = 2**53
ALL = _NUMBER_MAX
_AFTER_ALL = "~"  # sorts behind every id

_keep_on_disk = getattr(os, "fdatasync", os.fsync)


# Writing ----------------------------------------------------------------------------------------------------------


class DisclosureLog:
    """Appends disclosures to this process's own segment."""

    def __init__(self, directory: Path, *, sync: Sync = "normal") -> None:
        self._directory = directory.absolute()  # whatever the working directory becomes
        self._sync: Sync = sync
        self._lock = Lock()
        self._segment: _OpenSegment | None = None
        self.on_new_day: Callable[[str], None] = nothing_to_do
        _LOGS.add(self)

    def append(self, disclosure: Disclosure) -> None:
        """When this returns, the line outlives the process; with `sync="full"` also a power cut.

        Raises:
            DisclosureLogUnavailable: nothing may leave.
        """
        with self._lock:
            segment, others = self._segment, NO_OTHERS
            try:
                if segment is None or segment.is_full or segment.is_of_before(disclosure.at):
                    others = others_known(disclosure.at, SegmentFolder(self._directory))
                    segment = self._start_segment(disclosure.at, others)
                segment.put(segment.line(disclosure))
            except OSError as error:
                if self._segment:
                    self._segment.settle()
                raise DisclosureLogUnavailable("The disclosure log cannot be written, so nothing is read.") from error
        if others.closes:
            self.on_new_day(disclosure.at)

    def can_append(self) -> bool:
        return _can_write(self._directory) or _can_write(self._directory.parent)

    def close(self) -> None:
        with self._lock:
            self._let_go()

    def start_over(self) -> None:
        """Leave the segment to the parent process; its lock too, which nobody may be left to release."""
        self._lock = Lock()
        self._let_go()

    def _start_segment(self, at: str, others: "Others") -> "_OpenSegment":
        before = self._segment
        self._segment = _OpenSegment.create(self._directory, at, self._sync, before.seen if before else None, others)
        if before:
            before.close()
        return self._segment

    def _let_go(self) -> None:
        if self._segment:
            self._segment.close()
            self._segment = None


def nothing_to_do(_at: str) -> None:
    """Nobody wants to know when a day is closed."""


_LOGS: WeakSet[DisclosureLog] = WeakSet()


def _start_over_in_child() -> None:
    for log in _LOGS:
        log.start_over()


if sys.platform != "win32":  # where processes can fork at all
    os.register_at_fork(after_in_child=_start_over_in_child)


@dataclass(frozen=True, slots=True)
class Others:
    """Where other segments ended when one began, for its header: those of the last day, or those of its own."""

    closes: Sequence[Segment] = ()
    beside: Sequence[Segment] = ()

    @property
    def said(self) -> dict[str, Sequence[Segment]]:
        named = {"closes": self.closes, "beside": self.beside}
        return {name: ends for name, ends in named.items() if ends}


NO_OTHERS = Others()


class Chain:
    """The lines of one segment, wherever they are kept; `n` and `digest` are those of the last that is certain."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.day = f"{id[:4]}-{id[4:6]}-{id[6:DAY_OF_ID_CHARS]}"
        self.n = -1
        self.digest = NO_LINE

    @property
    def seen(self) -> Segment:
        return Segment(self.id, self.n, self.digest)

    def is_of_before(self, at: str) -> bool:
        """Whether it was begun on a day before that."""
        return at[:DAY_CHARS] > self.day

    def header(self, at: str, follows: Segment | None, others: Others = NO_OTHERS, **noted: Any) -> bytes:
        origin = {"version": VERSION, "segment": self.id, "created_at": at, "follows": follows}
        said = {"n": self.n + 1, "prev": self.digest, **origin, **others.said, **noted}
        return orjson.dumps(said, option=orjson.OPT_APPEND_NEWLINE)

    def line(self, disclosure: Disclosure) -> bytes:
        """The disclosure as the next line. Named one by one: orjson takes twice as long for a dataclass."""
        return orjson.dumps(
            {
                "n": self.n + 1,
                "prev": self.digest,
                "at": disclosure.at,
                "request_id": disclosure.request_id,
                "operation": disclosure.operation,
                "token_kind": disclosure.token_kind,
                "client_id": disclosure.client_id,
                "grant_ids": disclosure.grant_ids,
                "query": disclosure.query,
                "connections": disclosure.connections,
                "streams": disclosure.streams,
                "fields": disclosure.fields,
                "records": disclosure.records,
                "bytes": disclosure.bytes,
            },
            dict,  # a mapping that is no dict becomes one
            orjson.OPT_APPEND_NEWLINE,
        )

    def acknowledge(self, line: bytes) -> None:
        self.n += 1
        self.digest = sha256(line).hexdigest()


class _OpenSegment(Chain):
    """A file that grows by whole lines; `size` is where the last one ends that was acknowledged."""

    def __init__(self, path: Path, sync: Sync) -> None:
        super().__init__(path.stem)
        self.size = 0
        self.usable = True
        self._is_full_sync = sync == "full"
        self._path = os.fsencode(path)
        self._descriptor = os.open(path, _CREATE, 0o600)
        self._inode = os.fstat(self._descriptor).st_ino

    @property
    def is_full(self) -> bool:
        """Or somebody else's now."""
        return not self.usable or self.size >= SEGMENT_BYTES

    @classmethod
    def create(cls, directory: Path, at: str, sync: Sync, follows: Segment | None, others: Others) -> "_OpenSegment":
        directory.mkdir(mode=0o700, exist_ok=True)
        path = directory / f"{segment_id(at)}.jsonl"
        segment = cls(path, sync)
        try:
            segment.put(segment.header(at, follows, others))
            if sync == "full":
                _keep_names(directory)
        except OSError:
            segment.close()
            with suppress(OSError):  # a full disk should not fill with empty segments as well
                path.unlink()
            raise
        return segment

    def put(self, line: bytes) -> None:
        """Write with one `write`, and advance only after everything about it succeeded."""
        if len(line) > LINE_BYTES_MAX:
            raise OSError(errno.EMSGSIZE, "The line is longer than any reader would read.")
        self.usable = False
        written = os.write(self._descriptor, line)
        size = self.size + written
        if written != len(line):
            self._take_back(size)
            raise OSError(errno.ENOSPC, "Only a part of the line was written.")
        if not self._is_ours(size):
            raise OSError(errno.ESTALE, "The segment was changed, replaced or removed by somebody else.")
        if self._is_full_sync:
            _keep_on_disk(self._descriptor)
        self.acknowledge(line)
        self.size = size
        self.usable = True

    def _is_ours(self, size: int) -> bool:
        """Whether readers find what was written. By name: an editor that saves puts another file in its place, and
        whoever looks at the open one alone would write on where nobody reads."""
        found = os.stat(self._path)  # noqa: PTH116 - a Path is made into bytes each time
        return found.st_ino == self._inode and found.st_size == size

    def _take_back(self, size: int) -> None:
        """Cut off the half line that we just wrote, and nothing that somebody else did."""
        if os.fstat(self._descriptor).st_size == size:
            os.ftruncate(self._descriptor, self.size)

    def settle(self) -> None:
        """After a failure: go on with this segment only if it still ends with the last acknowledged line."""
        with suppress(OSError):
            self.usable = self._is_ours(self.size)

    def close(self) -> None:
        self.usable = False
        with suppress(OSError):
            os.close(self._descriptor)


def _can_write(folder: Path) -> bool:
    try:
        with TemporaryFile(dir=folder) as file:
            return bool(file.write(b"\n"))
    except OSError:
        return False


def segment_id(at: str, process: int | None = None) -> str:
    """A name of this process's own."""
    return f"{_stamp(at)}-{os.getpid() if process is None else process}-{secrets.token_hex(4)}"


def _stamp(at: str) -> str:
    """`yyyymmddThhmmss` in UTC, so that the names of segments sort by their start."""
    micros = instant(at)
    if micros is None:
        raise ValueError("A disclosure needs a time.")
    return iso_micros(micros)[:19].replace("-", "").replace(":", "")


def _keep_names(directory: Path) -> None:
    """A new file survives a power cut only when the directories that name it were written too."""
    for place in (directory, directory.parent):
        files.sync(place)


# Reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line as it stands in a segment; `n` is -1 where it is none of ours."""

    raw: bytes
    end: int  # offset of the byte after it
    n: int
    prev: str
    content: Mapping[str, Any]

    @property
    def is_whole(self) -> bool:
        return self.raw.endswith(b"\n")

    @property
    def digest(self) -> str:
        return sha256(self.raw).hexdigest()


ReadLines = Callable[[], Iterable[LogLine]]


def segment_paths(directory: Path) -> list[Path]:
    """The segments in order of their start; whatever else lies in the directory is not looked at."""
    if not directory.is_dir():
        return []
    return sorted(
        path
        for path in directory.iterdir()
        if _SEGMENT_NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink()
    )


def read_segment(path: Path, offset: int = 0) -> Iterator[LogLine]:
    """The lines from `offset` on, one at a time; the last one may be torn, and a too long one comes in pieces."""
    with path.open("rb") as file:
        file.seek(offset)
        while raw := file.readline(LINE_BYTES_MAX):
            offset += len(raw)
            yield log_line(raw, offset)


class Ends(Protocol):
    """Where segments end, wherever they are kept."""

    def newest(self) -> str | None:
        """The id of the segment that was begun last."""
        ...

    def ends(self, since: str, until: str, last: int = ALL) -> Mapping[str, LogLine]:
        """The last whole line of each segment whose id lies between, of so many that began last."""
        ...


class SegmentFolder:
    """The ends of segments that are files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def newest(self) -> str | None:
        names = (path.name for path in self._directory.iterdir()) if self._directory.is_dir() else ()
        last = max((name for name in names if _SEGMENT_NAME.fullmatch(name)), default=None)
        return None if last is None else last.removesuffix(".jsonl")

    def ends(self, since: str, until: str, last: int = ALL) -> dict[str, LogLine]:
        between = [path for path in segment_paths(self._directory) if since <= path.stem < until]
        found: dict[str, LogLine] = {}
        for path in between[-last:]:
            if line := _last_line(path):
                found[path.stem] = line
        return found


def _last_line(path: Path) -> LogLine | None:
    """The last whole one, read from the end of the file; None where there is none, or no file any more."""
    tail = b""
    with suppress(FileNotFoundError), path.open("rb") as file:
        file.seek(tail_start(path.stat().st_size))
        tail = file.read()
    whole, newline, _ = tail.rpartition(b"\n")
    *_, last = whole.rpartition(b"\n")
    return log_line(last + newline) if newline else None


def tail_start(size: int) -> int:
    """Behind it lies the last whole line of a file of that size, with half a line after it."""
    return max(0, size - 2 * LINE_BYTES_MAX)


def others_known(at: str, ends: Ends) -> Others:
    """What a segment that begins says of others.

    The first of a day bears the root: where every segment ends of the last day that has any. Another one says where
    those are that began last on its own day. A line that is written into the old day afterwards is named by the next
    segment of its own process, which follows it.
    """
    newest, today = ends.newest(), _stamp(at)[:DAY_OF_ID_CHARS]
    if newest is None:
        return NO_OTHERS
    day = newest[:DAY_OF_ID_CHARS]
    if day < today:
        return Others(closes=_named(ends.ends(day, today, CLOSED_MAX)))
    return Others(beside=_named(ends.ends(today, _AFTER_ALL, BESIDE_MAX)))


def _named(ends: Mapping[str, LogLine]) -> list[Segment]:
    return [Segment(id, line.n, line.digest) for id, line in ends.items() if line.n >= 0]


def segments_in(directory: Path) -> dict[str, ReadLines]:
    """What reads each segment of a folder, by its id."""
    return {path.stem: partial(read_segment, path) for path in segment_paths(directory)}


def disclosure_of(content: Mapping[str, Any]) -> Disclosure | None:
    """The disclosure that a line holds; None for a header and for anything that we did not write."""
    match content:
        case {
            "at": str(at),
            "request_id": str(request_id),
            "operation": str(operation),
            "token_kind": str(token_kind),
            "client_id": str() | None as client_id,
            "query": dict(query),
            "bytes": int(size),
        }:
            lists = [_texts(content.get(name)) for name in ("grant_ids", "connections", "streams", "fields", "records")]
            if None in lists:
                return None
            grant_ids, connections, streams, fields, records = cast("list[tuple[str, ...]]", lists)
            return Disclosure(
                at=at,
                request_id=request_id,
                operation=operation,
                token_kind=token_kind,
                client_id=client_id,
                grant_ids=grant_ids,
                query=cast("dict[str, Any]", query),
                connections=connections,
                streams=streams,
                fields=fields,
                records=records,
                bytes=size,
            )
        case _:
            return None


def log_line(raw: bytes, end: int = 0) -> LogLine:
    with suppress(orjson.JSONDecodeError):
        match orjson.loads(raw):
            case {"n": int(n), "prev": str(prev), **content} if 0 <= n < _NUMBER_MAX:
                return LogLine(raw, end, n, prev, cast("dict[str, Any]", content))
            case _:
                pass
    return LogLine(raw, end, -1, "", {})


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    texts = tuple(text for text in cast("list[object]", value) if isinstance(text, str))
    return texts if len(texts) == len(cast("list[object]", value)) else None


def whole_size(path: Path, offset: int = 0) -> int:
    """Where the last whole line ends, looked for from `offset` on; the size of a file that is shorter than that."""
    end = min(offset, path.stat().st_size)
    for line in read_segment(path, end):
        if line.is_whole:
            end = line.end
    return end


# Verifying --------------------------------------------------------------------------------------------------------


def verify(directory: Path, seen: Iterable[Segment]) -> list[Verdict]:
    """Check every segment of a folder, and by what was `seen` of it before."""
    return verify_segments(segments_in(directory), seen)


def verify_segment(path: Path) -> Verdict:
    """Check one segment by its own chain."""
    return _verdict(path.stem, read_segment(path), [])


def verify_segments(segments: Mapping[str, ReadLines], seen: Iterable[Segment]) -> list[Verdict]:
    """Check each by its own chain, by what its successor says of it, and by what was `seen` of it before."""
    claims: dict[str, list[Segment]] = {id: [] for id in segments}
    for claim in (*seen, *(claim for lines in segments.values() for claim in _claims(_header(lines)))):
        claims.setdefault(claim.id, []).append(claim)
    gone = let_go_in(segments.values())
    return [
        _verdict(id, segments[id](), claims[id]) if id in segments else _absent(id, is_let_go=id in gone)
        for id in sorted(claims.keys() | gone)
    ]


def _absent(id: str, *, is_let_go: bool) -> Verdict:
    return Verdict(id, "let_go", 0) if is_let_go else Verdict(id, "missing", 0, 0)


def _header(lines: ReadLines) -> Mapping[str, Any]:
    first = next(iter(lines()), None)
    return first.content if first else {}


def let_go_in(segments: Iterable[ReadLines]) -> set[str]:
    """The segments of which a header says that their owner did not want to keep them. Only what can be the name of one:
    it may become the name of a file."""
    named = (id for lines in segments for id in _texts(_header(lines).get("let_go")) or ())
    return {id for id in named if _SEGMENT_NAME.fullmatch(f"{id}.jsonl")}


def _claims(header: Mapping[str, Any]) -> Iterator[Segment]:
    """What a header says of other segments."""
    listed = [header.get(name) for name in ("closes", "beside")]
    others = [said for named in listed if isinstance(named, list) for said in cast("list[object]", named)]
    for said in (header.get("follows"), *others):
        match said:
            case {"id": str(id), "n": int(n), "digest": str(digest)}:
                yield Segment(id, n, digest)
            case _:
                pass


def _verdict(id: str, lines: Iterable[LogLine], claims: list[Segment]) -> Verdict:
    n, digest, torn = -1, NO_LINE, True  # without a line even its header was torn
    for line in lines:
        torn = not line.is_whole and len(line.raw) < LINE_BYTES_MAX
        if torn:
            break
        state, at = _fault(line, id, n, digest)
        if state != "intact":
            return Verdict(id, state, n + 1, at)
        n, digest = line.n, line.digest
        if any(claim.n == n and claim.digest != digest for claim in claims):
            return Verdict(id, "edited", n, n)
    if any(claim.n > n for claim in claims):
        return Verdict(id, "truncated", n + 1, n + 1)
    return Verdict(id, "torn", n + 1, n + 1) if torn else Verdict(id, "intact", n + 1)


def _fault(line: LogLine, id: str, n: int, digest: str) -> tuple[State, int]:
    """How a line fails to continue line `n`, and which line that speaks against."""
    if line.prev == digest and line.n == n + 1:
        return ("intact", line.n) if line.n > 0 or line.content.get("segment") == id else ("edited", 0)
    if line.prev != digest and line.n > n + 1:
        return "lines_missing", n + 1
    if line.n == n + 1:
        return "edited", max(n, 0)  # numbered right, but written after another line than this one
    return "edited", n + 1
