"""Boxes to tick: the streams, fields and accounts of what was asked or granted, each of which can be left out."""

from collections.abc import Mapping
from typing import NamedTuple

from pdpp_server.console.choice import Most, Ticks, necessity
from pdpp_server.evidence.grants import bounds_texts
from pdpp_server.model.grants import StreamGrant
from pdpp_server.model.selections import Selection
from pdpp_server.wire.declarations import required_fields


class FieldBox(NamedTuple):
    name: str
    description: str | None
    is_needed: bool
    is_ticked: bool


class StreamBox(NamedTuple):
    place: str
    label: str
    detail: str | None
    is_optional: bool
    is_ticked: bool
    fields: list[FieldBox]
    views: list[tuple[str, str, bool]]  # id, label, whether it is chosen
    has_time: bool
    bounds: list[str]  # which it has already


class SourceBox(NamedTuple):
    place: int
    name: str
    accounts: list[str]  # what the owner calls its connections
    connections: list[
        tuple[str, str, bool]
    ]  # id, the owner's name for it, whether it is ticked; where there are several
    streams: list[StreamBox]
    end: str  # a day of its own; empty where it ends with all


def boxes(
    asked: tuple[Selection, ...], most: Most, ticks: Ticks, named: Mapping[str, str], services: Mapping[str, str]
) -> list[SourceBox]:
    """`named` is what the owner calls each connection, `services` what each source is called."""
    return [_source_box(each, most[i], ticks, i, named, services) for i, each in enumerate(asked)]


def _source_box(
    selection: Selection,
    most: tuple[StreamGrant, ...],
    ticks: Ticks,
    i: int,
    named: Mapping[str, str],
    services: Mapping[str, str],
) -> SourceBox:
    several = dict.fromkeys(each for stream in most if len(stream.connections) > 1 for each in stream.connections)
    return SourceBox(
        i,
        services.get(selection.source_id, selection.source_id),
        [*dict.fromkeys(named.get(each, each) for stream in most for each in stream.connections)],
        [(each, named.get(each, each), (i, each) in ticks.connections) for each in several],
        [_stream_box(selection, stream, ticks, (i, j)) for j, stream in enumerate(most)],
        ticks.ends.get(i, ""),
    )


def _stream_box(selection: Selection, stream: StreamGrant, ticks: Ticks, place: tuple[int, int]) -> StreamBox:
    declared, needed = stream.declared, required_fields(stream.declared)
    return StreamBox(
        f"{place[0]}.{place[1]}",
        declared.label or declared.name,
        declared.detail or declared.description,
        necessity(selection, stream) == "optional",
        place in ticks.streams,
        [
            FieldBox(name, field.description, name in needed, (*place, name) in ticks.fields)
            for name, field in declared.fields.items()
            if name in stream.fields
        ]
        if declared.selects_fields
        else [],
        [
            (view.id, view.label, ticks.views.get(place) == view.id)
            for view in declared.views
            if {*view.fields} <= stream.fields
        ],
        declared.consent_time_field is not None,
        bounds_texts(stream),
    )
