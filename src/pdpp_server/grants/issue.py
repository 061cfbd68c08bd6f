"""A selection and a declaration become a frozen grant, never wider than was asked."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import orjson

from pdpp_server.errors import Candidate, InvalidAuthorizationDetails
from pdpp_server.model.grants import Grant, StreamGrant, TimeConstraint
from pdpp_server.model.selections import Key, Selection, StreamSelection, TimeRange
from pdpp_server.model.sources import Declaration
from pdpp_server.model.streams import Stream
from pdpp_server.model.times import instant, iso_micros

NAMES_LISTED = 12


def issue(
    selection: Selection,
    declaration: Declaration,
    *,
    eligible: Mapping[str, tuple[str, ...]],
    grant_id: str,
    issued_at: str,
    subject: str,
    client_id: str,
    client_name: str | None,
    expires_at: str | None,
) -> Grant:
    """`eligible` names, for each stream, the connections that hold it; `param` of a refusal is a JSON pointer."""
    _check_source(selection, declaration)
    return Grant(
        grant_id=grant_id,
        issued_at=issued_at,
        subject=subject,
        client_id=client_id,
        client_name=client_name,
        source=declaration.source,
        declaration_version=declaration.version,
        purpose_code=selection.purpose_code,
        purpose_description=selection.purpose_description,
        access_mode=selection.access_mode,
        streams=_stream_grants(selection, declaration, eligible),
        expires_at=expires_at,
    )


def ceiling(
    selection: Selection, declaration: Declaration, eligible: Mapping[str, tuple[str, ...]]
) -> tuple[StreamGrant, ...]:
    """The most that the selection asks for: of every connection that holds a stream, where it leaves the choice."""
    _check_source(selection, declaration)
    return _stream_grants(selection, declaration, eligible, every_connection=True)


def _stream_grants(
    selection: Selection,
    declaration: Declaration,
    eligible: Mapping[str, tuple[str, ...]],
    *,
    every_connection: bool = False,
) -> tuple[StreamGrant, ...]:
    def connections(asked: StreamSelection, held_by: tuple[str, ...], at: str) -> tuple[str, ...]:
        chosen = replace(asked, connections=held_by) if every_connection and asked.connections is None else asked
        return _connections(chosen, held_by, declaration, at)

    return tuple(
        StreamGrant(
            declared=stream,
            connections=connections(asked, eligible.get(stream.name, ()), at),
            fields=_fields(asked, stream, at),
            time=_time(asked.time, stream, at),
            resources=_resources(asked.resources, stream, at),
        )
        for asked, stream, at in _resolved(selection, declaration)
    )


def everything(declaration: Declaration, connections: tuple[str, ...]) -> Grant:
    """The owner's own view of a source, as a grant without bounds."""
    return Grant(
        grant_id=f"owner:{declaration.source.connector_key}@{declaration.version}",
        issued_at=iso_micros(0),
        subject="owner",
        client_id="owner",
        client_name=None,
        source=declaration.source,
        declaration_version=declaration.version,
        purpose_code="https://pdpp.dev/purpose/export",
        purpose_description=None,
        access_mode="continuous",
        streams=tuple(
            StreamGrant(stream, connections, frozenset(stream.fields)) for stream in declaration.streams.values()
        ),
    )


def _check_source(selection: Selection, declaration: Declaration) -> None:
    source = declaration.source
    if selection.source_id != source.id:
        raise _refusal(f"The selection asks for another source than {source.id}.", "/source/id")
    if selection.source_kind not in {None, source.kind}:
        raise _refusal(f"Source {source.id} is of kind {source.kind}.", "/source/kind")


def _resolved(selection: Selection, declaration: Declaration) -> Iterator[tuple[StreamSelection, Stream, str]]:
    if selection.preset is not None:
        for asked in _preset(selection.preset, declaration):
            yield asked, declaration.streams[asked.name], "/selection_preset"
        return
    for place, asked in enumerate(selection.streams):
        at = f"/streams/{place}"
        for name in declaration.streams if asked.name == "*" else (asked.name,):
            stream = declaration.streams.get(name)
            if stream is None:
                raise _unknown("stream", name, declaration.streams, f"{at}/name")
            _check_narrowing(asked, stream, at)
            yield replace(asked, name=name), stream, at


def _preset(preset_id: str, declaration: Declaration) -> tuple[StreamSelection, ...]:
    """Read from the snapshot itself, which was checked when it was decoded."""
    documents = cast(list[dict[str, Any]], declaration.document.get("selection_presets", []))
    presets = {document["id"]: document["streams"] for document in documents}
    if preset_id not in presets:
        raise _unknown("preset", preset_id, presets, "/selection_preset")
    return tuple(
        StreamSelection(
            name=chosen["name"],
            view=chosen.get("view"),
            fields=tuple(chosen["fields"]) if "fields" in chosen else None,
        )
        for chosen in presets[preset_id]
    )


def _check_narrowing(asked: StreamSelection, stream: Stream, at: str) -> None:
    if asked.fields is not None and not stream.selects_fields:
        raise _refusal(f"Stream {stream.name!r} is given with all its fields; leave fields out.", f"{at}/fields")
    if asked.resources is not None and not stream.selects_resources:
        raise _refusal(f"Stream {stream.name!r} is not given by record; leave resources out.", f"{at}/resources")


def _fields(asked: StreamSelection, stream: Stream, at: str) -> frozenset[str]:
    """The chosen ones, and always those without which a record of the stream is none."""
    chosen = frozenset(_chosen_fields(asked, stream, at))
    required = frozenset(cast(list[str], stream.schema.get("required", []))) & stream.fields.keys()
    return chosen | required | frozenset(stream.primary_key)


def _chosen_fields(asked: StreamSelection, stream: Stream, at: str) -> Iterable[str]:
    if asked.view is not None:
        views = {view.id: view.fields for view in stream.views}
        if asked.view not in views:
            raise _unknown("view", asked.view, views, f"{at}/view")
        return views[asked.view]
    if asked.fields is None:
        return stream.fields
    for place, name in enumerate(asked.fields):
        if name not in stream.fields:
            raise _unknown("field", name, stream.fields, f"{at}/fields/{place}")
    return asked.fields


def _connections(
    asked: StreamSelection, eligible: tuple[str, ...], declaration: Declaration, at: str
) -> tuple[str, ...]:
    """Several connections are never joined unless each was named."""
    if asked.connections is None and len(eligible) == 1:
        return eligible
    if asked.connections is not None and {*asked.connections} <= {*eligible}:
        return asked.connections
    wrong = "needs instance_ids" if asked.connections is None else "is asked of a connection that does not hold it"
    raise InvalidAuthorizationDetails(
        f"Stream {asked.name!r} {wrong}{'' if eligible else ': no connection holds it'}.",
        param=f"{at}/instance_ids",
        # Apart, for strangers are not told which connections there are.
        remedy=f"It is held by {_listed(eligible)}." if eligible else None,
        candidates=tuple(Candidate(one, declaration.source.connector_key) for one in eligible),
    )


def _time(asked: TimeRange | None, stream: Stream, at: str) -> TimeConstraint | None:
    if asked is None:
        return None
    if stream.consent_time_field is None:
        raise _refusal(f"Stream {stream.name!r} cannot be limited in time; leave time_range out.", f"{at}/time_range")
    since, until = _moment(asked.since, f"{at}/time_range/since"), _moment(asked.until, f"{at}/time_range/until")
    if since is None and until is None:
        raise _refusal("A time_range gives since, until or both.", f"{at}/time_range")
    if since is not None and until is not None and since >= until:
        raise _refusal("The time_range is empty: since must be before until.", f"{at}/time_range")
    return TimeConstraint(stream.consent_time_field, asked.since, asked.until)


def _moment(text: str | None, at: str) -> int | None:
    moment = instant(text)
    if text is not None and moment is None:
        raise _refusal("A time is an ISO 8601 date or date-time, such as 2026-01-31T00:00:00Z.", at)
    return moment


def _resources(asked: tuple[Key, ...] | None, stream: Stream, at: str) -> frozenset[str] | None:
    if asked is None:
        return None
    return frozenset(_canonical(key, stream, f"{at}/resources/{place}") for place, key in enumerate(asked))


def _canonical(key: Key, stream: Stream, at: str) -> str:
    """A single key is its string; a compound one is the short JSON list of its strings."""
    arity = len(stream.primary_key)
    if arity == 1 and isinstance(key, str):
        return key
    parts = _parts(key)
    if len(parts) != arity:
        names = ", ".join(stream.primary_key)
        raise _refusal(f"A key of stream {stream.name!r} has {arity} part{'s' * (arity > 1)}: {names}.", at)
    return parts[0] if arity == 1 else orjson.dumps(parts).decode()


def _parts(key: Key) -> tuple[str, ...]:
    if isinstance(key, tuple):
        return key
    try:
        parsed = orjson.loads(key)
    except orjson.JSONDecodeError:
        return ()
    parts = cast(list[Any], parsed) if isinstance(parsed, list) else []
    return tuple(parts) if all(isinstance(part, str) for part in parts) else ()


def _unknown(noun: str, name: str, valid: Iterable[str], at: str) -> InvalidAuthorizationDetails:
    return _refusal(f"No {noun} {name[:80]!r} is declared; there is {_listed(valid)}.", at)


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - NAMES_LISTED} more" if len(every) > NAMES_LISTED else ""
    return (", ".join(every[:NAMES_LISTED]) or "none") + more


def _refusal(message: str, at: str) -> InvalidAuthorizationDetails:
    return InvalidAuthorizationDetails(message, param=at)
