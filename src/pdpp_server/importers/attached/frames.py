"""How documents and their texts pass between the server and the process that reads them."""

from struct import Struct
from typing import IO, cast

from pdpp_server.importers.attached.kinds import KINDS, AttachedDocument

_ASKED, _TOLD = Struct(">BI"), Struct(">II")
TOLD_BYTES_MAX = 16 * 1024 * 1024


class Unreadable(Exception):
    """The other side is gone, or sends what is no frame."""


def ask(pipe: IO[bytes], kind: str, data: bytes) -> None:
    pipe.write(_ASKED.pack(KINDS.index(kind), len(data)) + data)
    pipe.flush()


def asked(pipe: IO[bytes]) -> tuple[str, bytes] | None:
    """None where nothing more comes."""
    head = pipe.read(_ASKED.size)
    if len(head) < _ASKED.size:
        return None
    number, size = cast("tuple[int, int]", _ASKED.unpack(head))
    return KINDS[number], pipe.read(size)


def tell(pipe: IO[bytes], document: AttachedDocument) -> None:
    text, note = document.text.encode(), document.note.encode()
    pipe.write(_TOLD.pack(len(text), len(note)) + text + note)
    pipe.flush()


def told(pipe: IO[bytes]) -> AttachedDocument:
    """Raises: Unreadable."""
    head = pipe.read(_TOLD.size)
    if len(head) < _TOLD.size:
        raise Unreadable
    text, note = cast("tuple[int, int]", _TOLD.unpack(head))
    if text + note > TOLD_BYTES_MAX:
        raise Unreadable
    whole = pipe.read(text + note)
    if len(whole) < text + note:
        raise Unreadable
    try:
        return AttachedDocument(whole[:text].decode(), whole[text:].decode())
    except UnicodeDecodeError as error:
        raise Unreadable from error
