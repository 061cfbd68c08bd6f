"""Values as bytes that sort as they should: numbers by size, then texts, then what is none."""

import struct

from pdpp_server.store.records.reach import BoundValue

_NUMBER, _TEXT, _NONE = b"\x01", b"\x02", b"\x03"
_PARTS = struct.Struct(">QQ")
_DOUBLE, _BITS = struct.Struct(">d"), struct.Struct(">Q")
_SIGN, _ALL = 1 << 63, (1 << 64) - 1
_WHOLE_FLOATS = (
    1 << 53
)  # from here on a double is whole: one that was written so is told from an integer by a byte more
_WRITTEN_REAL = b"\x01"


def kept(value: BoundValue) -> bytes:
    match value:
        case bytes():
            return _NONE
        case str():
            return _TEXT + value.encode()
        case _:
            near = float(value)
            beyond = value - int(near) if isinstance(value, int) else 0  # what a double cannot hold of a long integer
            parts = _NUMBER + _PARTS.pack(_sortable(near), beyond + _SIGN)
            return parts + _WRITTEN_REAL if isinstance(value, float) and abs(value) >= _WHOLE_FLOATS else parts


def given(raw: bytes) -> BoundValue:
    kind, rest = raw[:1], raw[1:]
    if kind == _NONE:
        return b""
    if kind == _TEXT:
        return rest.decode()
    bits, beyond = _PARTS.unpack_from(rest)
    near = _number(bits)
    is_real = len(rest) > _PARTS.size or not near.is_integer()
    return near if is_real else int(near) + beyond - _SIGN


def _sortable(number: float) -> int:
    """The bits of a double, turned so that they count upwards: of negative ones all, of others the sign."""
    (bits,) = _BITS.unpack(_DOUBLE.pack(number + 0.0))
    return bits ^ _ALL if bits & _SIGN else bits | _SIGN


def _number(bits: int) -> float:
    turned = bits ^ _SIGN if bits & _SIGN else bits ^ _ALL
    (number,) = _DOUBLE.unpack(_BITS.pack(turned))
    return number


def bytes_text(raw: bytes) -> str:
    """Bytes as the database reads them out of a text."""
    return "\\x" + raw.hex()
