"""The files that the owner named: one file, a folder, or an archive as if it were unpacked; nothing is left behind."""

import gzip
import io
import os
import re
import stat
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO, Protocol, cast
from unicodedata import normalize
from weakref import finalize
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pdpp_server.errors import InvalidRequest
from pdpp_server.importers.source import DamagedFile, File, Files, Meter

BUFFER_BYTES = 256 * 1024
FIRST_BYTES = 8 * 1024  # most files are asked for their beginning only, and unpacking more of each would cost
FILES_MAX = 1_000_000
RATIO_MAX, RATIO_FREE_BYTES = 200, 64 * 1024 * 1024  # text shrinks a hundredfold at most; small files may be odd

TAR_BYTES = 512

_GZIP_START = b"\x1f\x8b\x08"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_DRIVE = re.compile(r"[A-Za-z]:")
_UTF8_NAME, _ENCRYPTED = 0x800, 0x1
# What systems and tools leave beside the owner's own files.
_LITTER = re.compile(
    r"__MACOSX|\._.*|\.DS_Store|\.Spotlight-V100|\.Trash.*|\.fseventsd|\.git|\.svn|\.hg|(?i:thumbs\.db|desktop\.ini)"
)


class UnsafeZip(InvalidRequest):
    """A zip holds something that no export holds."""

    remedy = "Nothing of it was read. Download it again, or unpack it yourself and import the folder."


def open_files(
    path: Path,
    zone: tzinfo,
    mapping: bytes | None = None,
    now: datetime | None = None,
    heard: Callable[[int], None] | None = None,
) -> Files:
    """Everything under the path, by name. Raises: UnsafeZip, DamagedFile, InvalidRequest for too many files."""
    meter = Meter(heard=heard)
    whole = path.resolve()
    unread: list[str] = []
    if whole.is_dir():
        found = _in_folder(whole, meter, unread)
    elif whole.exists() and not whole.is_file():  # a pipe or a device: it may never end, or never begin
        raise DamagedFile(f"{path.name} is neither a file nor a folder.")
    elif is_zip(whole):
        found = _in_zip(whole, meter)
    elif is_tar(whole):
        found = _in_tar(whole, meter)
    else:
        found = iter([_on_disk(path.name, whole, _size(whole), meter)])
    entries: dict[str, File] = {}
    for file in found:
        if file.name in entries:
            raise UnsafeZip(f"{path.name} holds {file.name!r} twice.")
        entries[file.name] = file
        if len(entries) > FILES_MAX:
            raise InvalidRequest(f"{path.name} holds more than {FILES_MAX:,} files.", remedy="Name a folder inside it.")
    ordered = {name: entries[name] for name in sorted(entries)}
    folder = str(whole) if whole.is_dir() else ""
    return Files(path.name, ordered, zone, mapping, now, folder, tuple(unread), meter)


def is_zip(path: Path) -> bool:
    """By its content; one that is called so and is something else is damaged."""
    try:
        with path.open("rb") as file:
            return file.read(4) in _ZIP_STARTS or path.suffix.lower() == ".zip"
    except OSError as error:
        raise DamagedFile(f"{path.name} cannot be opened: {error.strerror}.") from error


def is_tar(path: Path) -> bool:
    """As Takeout offers it; by its content, packed with gzip or not."""
    try:
        with path.open("rb") as file:
            start = file.read(TAR_BYTES)
            if start.startswith(_GZIP_START):
                start = zlib.decompressobj(wbits=31).decompress(start, TAR_BYTES)
    except OSError as error:
        raise DamagedFile(f"{path.name} cannot be opened: {error.strerror}.") from error
    except zlib.error:
        return False
    return start[257:262] == b"ustar"


def is_archive(path: Path) -> bool:
    return is_zip(path) or is_tar(path)


def is_litter(name: str) -> bool:
    """Whether a file or folder of that name is none of the owner's."""
    return _LITTER.fullmatch(name) is not None


# On disk ----------------------------------------------------------------------------------------------------------


def _in_folder(top: Path, meter: Meter, unread: list[str]) -> Iterator[File]:
    """Links are not followed: they would lead out of the folder, or to a file that is there already."""

    def note(error: OSError) -> None:
        unread.append(_shown(Path(error.filename).relative_to(top).as_posix()))

    for folder, inner, names in os.walk(top, onerror=note):
        inner[:] = sorted(name for name in inner if not is_litter(name))
        for name in names:
            path = Path(folder, name)
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and not is_litter(name):
                yield _on_disk(_shown(path.relative_to(top).as_posix()), path, status.st_size, meter)


def _on_disk(name: str, path: Path, size: int, meter: Meter) -> File:
    return File(name, size, partial(_open, name, partial(path.open, "rb", buffering=0), meter))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise DamagedFile(f"{path.name} cannot be opened: {error.strerror}.") from error


def _shown(name: str) -> str:
    """The same name whichever system wrote it, and always one that can be printed as UTF-8."""
    return normalize("NFC", name).encode("utf-8", "backslashreplace").decode()


# In a zip ---------------------------------------------------------------------------------------------------------


def _in_zip(path: Path, meter: Meter) -> Iterator[File]:
    whole = path.open("rb")
    try:
        archive = ZipFile(whole)
    except (BadZipFile, OSError, NotImplementedError, ValueError) as error:
        whole.close()
        raise DamagedFile(
            f"{path.name} is not a whole zip file ({error}).", remedy="Download it again, or have it exported again."
        ) from error
    finalize(archive, whole.close)  # before anything is taken down, in a ring of references too
    members = archive.infolist()
    _require_likely_size(path.name, sum(member.file_size for member in members), path.stat().st_size)
    for member in members:
        name = _member_name(member)
        if not member.is_dir() and not any(is_litter(part) for part in name.split("/")):
            _require_safe(name, member)
            opened = partial(archive.open, member)
            yield File(name, member.file_size, partial(_open, name, opened, meter))


def _member_name(member: ZipInfo) -> str:
    """Zips of many programs hold UTF-8 and do not say so."""
    name = member.filename
    if name.isascii():
        return name.replace("\\", "/")
    if not member.flag_bits & _UTF8_NAME:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return _shown(name.replace("\\", "/"))


def _require_safe(name: str, member: ZipInfo) -> None:
    if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/") or "\0" in member.orig_filename:
        raise UnsafeZip(f"The zip holds {name!r}, which leads out of it.")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise UnsafeZip(f"The zip holds {name!r}, which is a link.")
    if member.flag_bits & _ENCRYPTED:
        raise UnsafeZip(f"The zip holds {name!r}, which is encrypted.", remedy="Unpack it and import the folder.")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise UnsafeZip(f"The zip holds {name!r}, packed in a way that is not read here.")
    _require_likely_size(name, member.file_size, member.compress_size)


def _require_likely_size(name: str, size: int, packed: int) -> None:
    """What is read of a member never exceeds the size that it states, so the sizes stated are the ones to judge."""
    if size > RATIO_FREE_BYTES and size > RATIO_MAX * packed:
        raise UnsafeZip(f"{name!r} would grow from {packed:,} to {size:,} bytes, which no export does.")


# In a tar ---------------------------------------------------------------------------------------------------------


def _in_tar(path: Path, meter: Meter) -> Iterator[File]:
    """A packed one cannot be read from the middle, so it is unpacked once into a file that has no name anywhere."""
    whole = cast(IO[bytes], tempfile.TemporaryFile())  # noqa: SIM115  it goes with the archive that reads it
    try:
        _unpack(path, whole)
        archive = tarfile.open(fileobj=whole, mode="r:")  # noqa: SIM115
        finalize(archive, whole.close)
        members = archive.getmembers()
    except UnsafeZip:
        whole.close()
        raise
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        whole.close()
        raise DamagedFile(
            f"{path.name} is not a whole tar file ({error}).", remedy="Download it again, or have it exported again."
        ) from error
    for member in members:
        name = _shown(member.name.removeprefix("./"))
        if not member.isdir() and not any(is_litter(part) for part in name.split("/")):
            _require_safe_member(name, member)
            yield File(name, member.size, partial(_open, name, partial(_member_of, archive, member), meter))


def _unpack(path: Path, whole: IO[bytes]) -> None:
    """Raises: UnsafeZip where it grows as no export does."""
    size, limit = 0, max(RATIO_FREE_BYTES, RATIO_MAX * path.stat().st_size)
    with path.open("rb") as packed:
        is_packed = packed.read(len(_GZIP_START)) == _GZIP_START
        packed.seek(0)
        unpacking = gzip.GzipFile(fileobj=packed) if is_packed else packed
        while chunk := unpacking.read(BUFFER_BYTES):
            size += len(chunk)
            if size > limit:
                raise UnsafeZip(f"{path.name!r} would grow to more than {limit:,} bytes, which no export does.")
            whole.write(chunk)
    whole.seek(0)


def _member_of(archive: tarfile.TarFile, member: tarfile.TarInfo) -> "_Readable":
    stream = archive.extractfile(member)
    if stream is None:
        raise OSError("no file")
    return stream


def _require_safe_member(name: str, member: tarfile.TarInfo) -> None:
    if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
        raise UnsafeZip(f"The archive holds {name!r}, which leads out of it.")
    if not member.isreg() or member.issparse():
        raise UnsafeZip(f"The archive holds {name!r}, which is a link or a device.")


# Streams ----------------------------------------------------------------------------------------------------------


_TROUBLES = (BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, OSError)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes | None: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...
    def close(self) -> None: ...


class _Counted(io.RawIOBase):
    """A stream whose bytes are counted, and whose troubles are told by the name of the file."""

    def __init__(self, name: str, inner: _Readable, meter: Meter) -> None:
        self._name, self._inner, self._meter = name, inner, meter
        self._room = FIRST_BYTES

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        with _Told(self._name):
            data = self._inner.read(min(len(buffer), self._room)) or b""
        buffer[: len(data)] = data
        self._meter.count(len(data))
        self._room = min(2 * self._room, BUFFER_BYTES)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _Told(self._name):
            return self._inner.seek(offset, whence)

    def tell(self) -> int:
        return self._inner.tell()

    def close(self) -> None:
        self._inner.close()
        super().close()


def _open(name: str, opened: Callable[[], _Readable], meter: Meter) -> BinaryIO:
    with _Told(name):
        return io.BufferedReader(_Counted(name, opened(), meter), BUFFER_BYTES)


class _Told:
    """What goes wrong inside is told by the name of the file; a plain class, because small files are many."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, _TROUBLES):
            said = f"{self._name} cannot be read to its end ({error})."
            raise DamagedFile(said, param=self._name, remedy="Have it exported again.") from error
