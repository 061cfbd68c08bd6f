"""Tensors in one file, laid out as safetensors does it: a header of JSON, then the numbers; checked whole when read."""

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import orjson
from numpy.typing import NDArray

Tensor = NDArray[Any]
Vectors = NDArray[np.float32]
_KINDS = {"F32": np.float32, "I8": np.int8, "U8": np.uint8, "I64": np.int64}
_NAMES = {np.dtype(kind): name for name, kind in _KINDS.items()}
_LENGTH = struct.Struct("<Q")
HEADER_BYTES_MAX = 1 << 20
DIGEST = "digest"


class DamagedTensors(ValueError):
    """The file is not what was written."""


def read_tensors(raw: bytes) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file and what it says of itself.

    Raises:
        DamagedTensors: a part is missing, or is no longer what was written.
    """
    try:
        (length,) = _LENGTH.unpack_from(raw)
        header = cast("dict[str, Any]", orjson.loads(raw[_LENGTH.size : _LENGTH.size + min(length, HEADER_BYTES_MAX)]))
        said: dict[str, str] = header.pop("__metadata__", {})
        body = memoryview(raw)[_LENGTH.size + length :]
        tensors = {name: _tensor(body, about) for name, about in header.items()}
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedTensors(str(error)) from error
    if DIGEST in said and said[DIGEST] != _digest(body):
        raise DamagedTensors("its numbers are not those that were written")
    return tensors, said


def written_tensors(tensors: Mapping[str, Tensor], said: Mapping[str, str]) -> bytes:
    """The bytes of a file, which says its own digest."""
    header: dict[str, Any] = {}
    pieces: list[bytes] = []
    start = 0
    for name, tensor in tensors.items():
        piece = np.ascontiguousarray(tensor).tobytes()
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": tensor.shape,
            "data_offsets": [start, start + len(piece)],
        }
        start += len(piece)
        pieces.append(piece)
    body = b"".join(pieces)
    head = orjson.dumps({"__metadata__": {**said, DIGEST: _digest(body)}, **header})
    return b"".join((_LENGTH.pack(len(head)), head, body))


def read_file(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    return read_tensors(path.read_bytes())


def _tensor(body: memoryview, about: Mapping[str, Any]) -> Tensor:
    start, end = about["data_offsets"]
    return np.frombuffer(body[start:end], _KINDS[about["dtype"]]).reshape(about["shape"])


def _digest(body: bytes | memoryview) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()
