"""Whether what the owner decided lies within what was asked, and if not, what goes beyond it."""

from pdpp_server.model.grants import Grant, StreamGrant, TimeConstraint
from pdpp_server.model.selections import Selection


def excess(grant: Grant, asked: Selection, ceiling: tuple[StreamGrant, ...]) -> str | None:
    """What the grant has beyond the selection, of which `ceiling` is the most; None where there is nothing."""
    if grant.access_mode not in {asked.access_mode, "single_use"}:
        return "lasting access"
    if (grant.purpose_code, grant.purpose_description) != (asked.purpose_code, asked.purpose_description):
        return "another purpose"
    most = {stream.name: stream for stream in ceiling}
    for stream in grant.streams:
        if stream.name not in most:
            return f"stream {stream.name!r}"
        if beyond := _beyond(stream, most[stream.name]):
            return f"{beyond} of stream {stream.name!r}"
    return None


def _beyond(decided: StreamGrant, asked: StreamGrant) -> str | None:
    if not {*decided.connections} <= {*asked.connections}:
        return "other connections"
    if more := decided.fields - asked.fields:
        return f"field {min(more)!r}"
    if not _is_within(decided.time, asked.time):
        return "more time"
    if asked.resources is not None and (decided.resources is None or not decided.resources <= asked.resources):
        return "more records"
    return None


def _is_within(decided: TimeConstraint | None, asked: TimeConstraint | None) -> bool:
    if asked is None:
        return True
    if decided is None:
        return False
    (since, until), (first, last) = decided.bounds, asked.bounds
    return (first is None or (since is not None and since >= first)) and (
        last is None or (until is not None and until <= last)
    )
