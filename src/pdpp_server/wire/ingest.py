"""Records as they arrive: one NDJSON line to one incoming record, or to the reason why not; and what became of them."""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, cast

import orjson

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.model.ingest import Delivered, Delivery, Incoming, Line, RefusedLine, Rejection
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.params import TARGET, ParameterRow, Params

CONTENT_TYPE = "application/x-ndjson"
PARAMETERS = (
    *TARGET,
    ParameterRow("run_id", "The run of a collector that these lines belong to; it is named in the server's log."),
)

LINE_BYTES_MAX = 16 * 1024 * 1024 + 64 * 1024  # the largest record, and room for its envelope
_ENVELOPE = frozenset({"type", "stream", "key", "data", "emitted_at", "op"})
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_RUN_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_LONG_INTEGER = re.compile(rb"(?<![0-9.eE+-])-?[0-9]{19,}(?![0-9.eE])")


def decode_delivery(params: Params, stream: str, content_type: str, body: bytes) -> Delivery:
    params.only(*PARAMETERS)
    target, run_id = params.target(), params.text("run_id")
    if run_id is not None and not _RUN_ID.fullmatch(run_id):
        raise InvalidRequest("run_id has 1 to 128 letters, digits and . _ : - only.", param="run_id")
    if content_type.partition(";")[0].strip().lower() != CONTENT_TYPE:
        raise InvalidRequest(f"The body must be {CONTENT_TYPE}, one record a line.", param="Content-Type")
    return Delivery(target, stream, run_id, _lines(body, stream))


def _lines(body: bytes, stream: str) -> Iterator[Line]:
    filled = (line for line in BytesIO(body) if line.strip())
    for index, raw in enumerate(filled):
        yield Line(raw, decode_record(raw, str(index), stream))


def encode_delivered(delivered: Delivered) -> Json:
    refused = delivered.refused
    return {
        "stream": delivered.stream,
        "records_accepted": delivered.accepted,
        "records_unchanged": delivered.unchanged,
        "records_rejected": len(refused),
        "errors": [f"record {line.number}: {line.reason}" for line in refused],
        "records_attempted": delivered.accepted + len(refused),
        "rejections": [
            {"input_index": line.number, "code": line.code, "receipt_id": line.receipt_id} for line in refused
        ],
    }


def encode_record(record: Incoming) -> bytes:
    """A line for its stream."""
    if record.data is None:
        body: Json = {"op": "delete"}
    else:
        body = {"data": record.data}
    if record.key is not None:
        body["key"] = record.key
    if record.emitted_at is not None:
        body["emitted_at"] = record.emitted_at
    return orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)


def decode_delivered(body: Json) -> Delivered:
    """Raises: SourceUnavailable where the counts cannot be read; a server may leave out what was unchanged."""
    match body:
        case {"stream": str(stream), "records_accepted": int(accepted), "rejections": list(), "errors": list()}:
            pass
        case _:
            raise SourceUnavailable("it does not say what became of the records")
    rejections, reasons = cast("list[Any]", body["rejections"]), cast("list[Any]", body["errors"])
    refused = [_decode_refused(*both) for both in zip(rejections, reasons, strict=False)]
    unchanged = body.get("records_unchanged", 0)
    return Delivered(stream, accepted, tuple(refused), unchanged if isinstance(unchanged, int) else 0)


def _decode_refused(rejection: Any, error: Any) -> RefusedLine:
    match rejection:
        case {"input_index": int(index), "code": str(code), "receipt_id": str(receipt)}:
            return RefusedLine(index, code, str(error).removeprefix(f"record {index}: "), receipt)
        case _:
            raise SourceUnavailable("it does not say which records it refused")


def decode_record(line: bytes, place: str, stream: str) -> Incoming | Rejection:
    """A line for one stream is an envelope, and nothing else."""
    body = _object(line, place)
    if isinstance(body, Rejection):
        return body
    if not body.keys() <= _ENVELOPE:
        members = ", ".join(f"`{name}`" for name in sorted(_ENVELOPE))
        return Rejection(place, "invalid_record", f"a line has {members} and no other members")
    return _enveloped(body, place, {stream: stream})


def decode_line(line: bytes, place: str, streams: Mapping[str, object]) -> Incoming | Rejection | None:
    """None for a blank line. A line is an envelope, or, where the source has one stream, the data alone."""
    if not line.strip():
        return None
    body = _object(line, place)
    if isinstance(body, Rejection):
        return body
    if body.keys() <= _ENVELOPE and ("data" in body or "op" in body):
        return _enveloped(body, place, streams)
    if len(streams) > 1:
        return Rejection(place, "invalid_record", f"no `stream` and `data`; streams are {', '.join(streams)}")
    return Incoming(place, next(iter(streams)), None, body, None)


def _object(line: bytes, place: str) -> dict[str, Any] | Rejection:
    if len(line) > LINE_BYTES_MAX:
        return Rejection(place, "resource_limit", f"the line is longer than {LINE_BYTES_MAX >> 20} MiB")
    try:
        body: object = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _unreadable(line, place, error)
    if not isinstance(body, dict):
        return Rejection(place, "malformed_ndjson", "the line is not a JSON object")
    body = cast(dict[str, Any], body)
    if _holds_wide_number(body) and _holds_wide_integer(line):
        return Rejection(place, "invalid_record", "a whole number needs more than 64 bits and would be changed")
    return body


def _holds_wide_number(body: object) -> bool:
    """Whether a number is so large that it may have been a whole one; without recursion, for depth is unchecked."""
    pending: list[Any] = [body]
    for value in pending:  # grows while it is read
        if type(value) is dict:
            pending.extend(cast(dict[str, Any], value).values())
        elif type(value) is list:
            pending.extend(cast(list[Any], value))
        elif type(value) is float and abs(value) >= 1 << 63:
            return True
    return False


def _holds_wide_integer(line: bytes) -> bool:
    """Whether one was written as a whole number: such a number is read as a float, and not exactly."""
    written = _LONG_INTEGER.findall(_STRING.sub(b'""', line))
    return any(len(digits) > 20 or not -(1 << 63) <= int(digits) < 1 << 64 for digits in written)


def _unreadable(line: bytes, place: str, error: orjson.JSONDecodeError) -> Rejection:
    try:
        line.decode()
    except UnicodeDecodeError as bad:
        return Rejection(place, "invalid_utf8", f"byte {bad.start + 1} of the line is not UTF-8")
    return Rejection(place, "malformed_ndjson", f"not JSON: {error.msg} (column {error.colno})")


def _enveloped(body: dict[str, Any], place: str, streams: Mapping[str, object]) -> Incoming | Rejection:
    match body:
        case {"op": op} if op not in ("upsert", "delete"):
            return Rejection(place, "invalid_record", "`op` is upsert or delete")
        case {"emitted_at": time} if not isinstance(time, str):
            return Rejection(place, "invalid_record", "`emitted_at` is not a string")
        case _:
            pass
    stream = body.get("stream", next(iter(streams)) if len(streams) == 1 else None)
    if not isinstance(stream, str) or stream not in streams:
        return Rejection(place, "invalid_record", f"`stream` is none of {', '.join(streams)}")
    key = _key(body.get("key"))
    if key is _BAD_KEY:
        return Rejection(place, "invalid_record_identity", "`key` is neither a string nor a list of strings")
    if body.get("op") == "delete":
        if key is None:
            return Rejection(place, "invalid_record_identity", "a deletion needs a `key`")
        return Incoming(place, stream, key, None, body.get("emitted_at"))
    if not isinstance(body.get("data"), dict):
        return Rejection(place, "invalid_record", "`data` is not an object")
    return Incoming(place, stream, key, body["data"], body.get("emitted_at"))


_BAD_KEY = ("",)


def _key(value: object) -> str | tuple[str, ...] | None:
    match value:
        case None | str():
            return value
        case bool():
            return _BAD_KEY
        case int():
            return str(value)
        case list():
            parts = cast(list[Any], value)
            is_key = parts and all(type(part) in (str, int) for part in parts)
            return tuple(str(part) for part in parts) if is_key else _BAD_KEY
        case _:
            return _BAD_KEY
