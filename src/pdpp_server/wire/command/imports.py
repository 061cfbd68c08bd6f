"""Imports as the owner's command prints them: what there is to bring, what became of it, and what can be undone."""

from collections.abc import Iterable, Mapping, Sequence

from pdpp_server.model.ingest import Finished
from pdpp_server.model.runs import Run, Undone
from pdpp_server.wire.command.sources import encode_extent
from pdpp_server.wire.envelope import Json

StreamExtent = tuple[int, int | None, int | None]  # records, and the first and the last moment in microseconds


def encode_kind(key: str, takes: str, obtain: str) -> Json:
    return {"key": key, "takes": takes, "obtain": obtain}


def encode_survey(
    connector_key: str,
    name: str,
    *,
    file: str,
    size: int,
    share: float,
    attachments: int,
    rejected: int,
    notes: Sequence[str],
    streams: Mapping[str, StreamExtent],
) -> Json:
    """What a first look found in an export."""
    return {
        "connector_key": connector_key,
        "name": name,
        "file": file,
        "size_bytes": size,
        "read_share": round(share, 3),
        "attachments": attachments,
        "rejected": rejected,
        "notes": notes,
        "streams": [encode_extent(stream, *extent) for stream, extent in streams.items()],
    }


def encode_receipt(connection_id: str, accepted: int, unchanged: int, rejected: int, further: Json) -> Json:
    """What became of the records; `further` is what else is to be told of an export."""
    counts = {"accepted": accepted, "unchanged": unchanged, "rejected": rejected}
    return {"connection_id": connection_id, **counts, **further}


def encode_unchanged(connection_id: str, before: Finished) -> Json:
    """The receipt of an export that was read to its end before."""
    return encode_receipt(connection_id, 0, before.records, before.rejected, {"unchanged_since": before.at})


def encode_removal(run: int, *, before: int, after: int, removed: int, kept: int, why_kept: Sequence[str]) -> Json:
    """What the receipt of a newer export says of what it has no longer."""
    told = {"run": run, "before": before, "after": after, "removed": removed}
    return {**told, "missing_kept": kept, "kept_because": list(why_kept)} if kept else told


def encode_without_text(files: int) -> Json:
    """What a receipt says of attached files whose text was not read; nothing where all was."""
    return {"without_text": files} if files else {}


def encode_runs(runs: Iterable[Run]) -> Json:
    return {"runs": [run._asdict() for run in runs]}


def encode_undone(run: int, undone: Undone) -> Json:
    return {"run": run, "connection_id": undone.run.connection_id, **undone.restored._asdict()}
