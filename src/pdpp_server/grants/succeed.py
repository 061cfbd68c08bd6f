"""A grant that takes the place of another: as its owner narrows it, and never wider."""

from dataclasses import replace

from pdpp_server.errors import InvalidAuthorizationDetails
from pdpp_server.grants.issue import issue
from pdpp_server.grants.narrow import excess
from pdpp_server.model.grants import Grant, StreamGrant
from pdpp_server.model.selections import Selection, StreamSelection, TimeRange
from pdpp_server.model.sources import Declaration


def selection_of(grant: Grant) -> Selection:
    """The grant as if it were asked for: what its owner narrows."""
    return Selection(
        source_id=grant.source.id,
        source_kind=grant.source.kind,
        purpose_code=grant.purpose_code,
        purpose_description=grant.purpose_description,
        access_mode=grant.access_mode,
        streams=tuple(
            StreamSelection(stream.name, connections=stream.connections, time=_range(stream))
            for stream in grant.streams
        ),
    )


def _range(stream: StreamGrant) -> TimeRange | None:
    return TimeRange(stream.time.since, stream.time.until) if stream.time else None


def successor(
    grant: Grant,
    selection: Selection,
    declaration: Declaration,
    *,
    grant_id: str,
    issued_at: str,
    expires_at: str | None,
) -> Grant:
    """By the declaration that the owner consented to. What a stream is not narrowed in stays as it was.

    Raises:
        InvalidAuthorizationDetails: it is more than the grant gives, or nothing of it.
    """
    held = {stream.name: stream for stream in grant.streams}
    asked = tuple(_within(each, held) for each in selection.streams)
    if not asked:
        raise InvalidAuthorizationDetails("Nothing of the grant would be left; end it instead.", param="streams")
    issued = issue(
        replace(selection, streams=asked, preset=None),
        declaration,
        eligible={name: stream.connections for name, stream in held.items()},
        grant_id=grant_id,
        issued_at=issued_at,
        subject=grant.subject,
        client_id=grant.client_id,
        client_name=grant.client_name,
        expires_at=expires_at,
    )
    pairs = zip(asked, issued.streams, strict=True)
    narrowed = replace(issued, streams=tuple(_kept(each, made, held[made.name]) for each, made in pairs))
    if beyond := excess(narrowed, selection_of(grant), grant.streams):
        raise InvalidAuthorizationDetails(f"This is more than the grant gives: {beyond}.", param="streams")
    return narrowed


def _within(asked: StreamSelection, held: dict[str, StreamGrant]) -> StreamSelection:
    if asked.name not in held:
        raise InvalidAuthorizationDetails(f"This is more than the grant gives: stream {asked.name!r}.", param="streams")
    return asked if asked.connections else replace(asked, connections=held[asked.name].connections)


def _kept(asked: StreamSelection, made: StreamGrant, held: StreamGrant) -> StreamGrant:
    """Where nothing was said of fields, times or records, what the grant says of them."""
    return replace(
        made,
        fields=made.fields if asked.view or asked.fields is not None else held.fields,
        time=made.time or held.time,
        resources=held.resources if made.resources is None else made.resources,
    )
