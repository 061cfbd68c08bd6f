"""What the owner's tool asks of a server elsewhere: addresses, and how far a delivery came as that server keeps it."""

from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode

from pdpp_server.errors import SourceUnavailable
from pdpp_server.model.delivery import DeliveredSoFar
from pdpp_server.model.ingest import Finished, Target
from pdpp_server.wire.envelope import Json, is_object

_MEMBER = "pdpp_import"  # beside whatever else a collector keeps of the stream


def ingest_path(target: Target, stream: str) -> str:
    return f"/v1/ingest/{quote(stream, safe='')}?{_named(target)}"


def keep_blob_path(target: Target, stream: str, key: str, mime_type: str) -> str:
    more = {"stream": stream, "record_key": key, "mime_type": mime_type}
    return f"/v1/blobs?{_named(target)}&{urlencode(more)}"


def state_path(target: Target) -> str:
    return f"/v1/state/{quote(target.connector_key, safe='')}?{urlencode({'connection_id': target.connection_id})}"


def _named(target: Target) -> str:
    return urlencode({"connector_id": target.connector_key, "connection_id": target.connection_id})


def decode_cursors(body: Json) -> dict[str, Json]:
    """What is kept of each stream."""
    state: Any = body.get("state")
    if not is_object(state):
        raise SourceUnavailable("it does not say how far deliveries came")
    return {name: cast("Json", cursor) for name, cursor in state.items() if is_object(cursor)}


def decode_so_far(cursors: Mapping[str, Json], streams: Iterable[str]) -> DeliveredSoFar | None:
    """What all streams agree on; None where one was emptied since, or never heard of it."""
    kept = [_decode_one(cursors.get(name, {}).get(_MEMBER)) for name in streams]
    return kept[0] if kept and all(one == kept[0] for one in kept) else None


def encode_state(cursors: Mapping[str, Json], streams: Iterable[str], so_far: DeliveredSoFar) -> Json:
    """The same for every stream: what else is kept of it stays."""
    told: Json = {
        "fingerprint": so_far.fingerprint,
        "records": so_far.records,
        "refused": list(so_far.rejected),
        "finished": so_far.finished and list(so_far.finished),
    }
    return {"state": {name: {**cursors.get(name, {}), _MEMBER: told} for name in streams}}


def _decode_one(told: Any) -> DeliveredSoFar | None:
    match told:
        case {"fingerprint": str(fingerprint), "records": int(records), "refused": list(), "finished": finished}:
            numbers = cast("list[Any]", told["refused"])
            rejected = tuple(number for number in numbers if isinstance(number, int))
            return DeliveredSoFar(fingerprint, records, rejected, _decode_finished(finished))
        case _:
            return None


def _decode_finished(told: Any) -> Finished | None:
    match told:
        case [str(file), int(records), int(rejected), str(at)]:
            return Finished(file, records, rejected, at)
        case _:
            return None
