"""Selections and grants: what a client asks (RFC 9396) and what the owner agreed to."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pdpp_server.errors import GrantInvalid, InvalidAuthorizationDetails, InvalidRequest
from pdpp_server.model.grants import Grant, StreamGrant, TimeConstraint
from pdpp_server.model.selections import Key, Selection, StreamSelection, TimeRange
from pdpp_server.model.sources import Declaration, Source
from pdpp_server.wire.envelope import present
from pdpp_server.wire.shapes import JSON, TEXT, URI, Shape, list_of, members

DETAIL_TYPE = "https://pdpp.dev/data-access"
GRANT_VERSION = "0.1.0"
DETAILS, STREAMS, RESOURCES = 8, 200, 10_000

_KIND: JSON = {"enum": ["connector", "provider_native"]}
_MODE: JSON = {"enum": ["single_use", "continuous"]}
_KEY: JSON = {"type": ["string", "array"], "minLength": 1, "minItems": 1, "maxItems": 64, "items": {"type": "string"}}
_BOUNDS: JSON = {"since": TEXT, "until": TEXT}

_STREAM_SELECTION = members(
    {"name": TEXT},
    {
        "necessity": {"enum": ["required", "optional"]},
        "instance_ids": list_of(TEXT, minItems=1),
        "time_range": {**members({}, _BOUNDS), "minProperties": 1},
        "view": TEXT,
        "fields": list_of(TEXT, minItems=1),
        "resources": list_of(_KEY, minItems=1, maxItems=RESOURCES),
    },
)
_DETAIL = members(
    {"type": {"const": DETAIL_TYPE}, "source": members({"id": URI}, {"kind": _KIND}), "purpose_code": URI}
    | {"access_mode": _MODE},
    {
        "purpose_description": {"type": "string"},
        "retention": members(
            {"max_duration": {"type": "string", "format": "duration"}, "on_expiry": {"enum": ["delete", "anonymize"]}}
        ),
        "streams": list_of(_STREAM_SELECTION, minItems=1, maxItems=STREAMS),
        "selection_preset": TEXT,
        "client_claims": members({}, {"commitments": {"type": "array"}}),
    },
)
_DETAILS = Shape(list_of(_DETAIL, minItems=1, maxItems=DETAILS))

_GRANT = Shape(
    members(
        {
            "version": {"const": GRANT_VERSION},
            "grant_id": TEXT,
            "issued_at": TEXT,
            "subject": members({"id": TEXT}),
            "client": members({"client_id": TEXT}, {"client_display": members({"name": {"type": "string"}})}),
            "source": members({"kind": _KIND, "id": TEXT}),
            "source_declaration": members({"version": TEXT}),
            "purpose_code": {"type": "string"},
            "access_mode": _MODE,
            "streams": list_of(
                members(
                    {
                        "name": TEXT,
                        "instance_ids": list_of(TEXT, minItems=1),
                        "fields": list_of(TEXT, minItems=1),
                    },
                    {
                        "time_constraint": {**members({"field": TEXT}, _BOUNDS), "minProperties": 2},
                        "resources": list_of({"type": "string"}),
                    },
                ),
                minItems=1,
            ),
            "expires_at": {"type": ["string", "null"]},
        },
        {"purpose_description": {"type": "string"}},
    )
)


def decode_selection(details: object) -> tuple[Selection, ...]:
    """One selection for each member of `authorization_details`; `param` of a refusal is a JSON pointer into it."""
    for fault in _DETAILS.faults(details):
        raise InvalidAuthorizationDetails(f"{fault.path or '/'}: {fault.reference!r} {fault.says}.", param=fault.path)
    return tuple(_selection(detail, f"/{place}") for place, detail in enumerate(cast(list[JSON], details)))


def _selection(detail: JSON, at: str) -> Selection:
    if ("streams" in detail) == ("selection_preset" in detail):
        raise InvalidAuthorizationDetails("Give exactly one of streams and selection_preset.", param=at)
    streams = tuple(
        _stream_selection(stream, f"{at}/streams/{place}") for place, stream in enumerate(detail.get("streams", []))
    )
    names = [stream.name for stream in streams]
    if "*" in names and len(names) > 1:
        message = "The stream '*' means every stream, so it stands alone."
        raise InvalidAuthorizationDetails(message, param=f"{at}/streams/{names.index('*')}/name")
    for place, name in enumerate(names):
        if name in names[:place]:
            message = f"Stream {name!r} is named twice; ask for each stream once."
            raise InvalidAuthorizationDetails(message, param=f"{at}/streams/{place}/name")
    return Selection(
        source_id=detail["source"]["id"],
        source_kind=detail["source"].get("kind"),
        purpose_code=detail["purpose_code"],
        purpose_description=detail.get("purpose_description"),
        access_mode=detail["access_mode"],
        streams=streams,
        preset=detail.get("selection_preset"),
        retention=detail.get("retention"),
        client_claims=detail.get("client_claims"),
    )


def _stream_selection(stream: JSON, at: str) -> StreamSelection:
    if "view" in stream and "fields" in stream:
        raise InvalidRequest("Give either view or fields: a view already stands for fields.", param=f"{at}/view")
    resources = None
    if "resources" in stream:
        resources = tuple(_key(key) for key in stream["resources"])
    return StreamSelection(
        name=stream["name"],
        necessity=stream.get("necessity", "required"),
        connections=_named_once(stream, "instance_ids"),
        time=TimeRange(**stream["time_range"]) if "time_range" in stream else None,
        view=stream.get("view"),
        fields=_named_once(stream, "fields"),
        resources=resources,
    )


def _named_once(stream: JSON, member: str) -> tuple[str, ...] | None:
    """Each name once, where there are any; None where all are meant."""
    return tuple(dict.fromkeys(stream[member])) if member in stream else None


def _key(key: str | list[str]) -> Key:
    return key if isinstance(key, str) else tuple(key)


def encode_selection(selections: Iterable[Selection]) -> list[JSON]:
    """`authorization_details` again, of the same meaning."""
    return [_encode_detail(selection) for selection in selections]


def _encode_detail(selection: Selection) -> JSON:
    return {
        "type": DETAIL_TYPE,
        "source": present(id=selection.source_id, kind=selection.source_kind),
        "purpose_code": selection.purpose_code,
        "access_mode": selection.access_mode,
        **present(
            purpose_description=selection.purpose_description,
            retention=selection.retention,
            streams=[_encode_stream_selection(stream) for stream in selection.streams] or None,
            selection_preset=selection.preset,
            client_claims=selection.client_claims,
        ),
    }


def _encode_stream_selection(stream: StreamSelection) -> JSON:
    return present(
        name=stream.name,
        necessity=stream.necessity,
        instance_ids=stream.connections,
        time_range=stream.time and present(since=stream.time.since, until=stream.time.until),
        view=stream.view,
        fields=stream.fields,
        resources=stream.resources,
    )


def retention(selection: Selection) -> tuple[str, str] | None:
    """How long a client says it keeps what it read, as a duration, and what it does then."""
    said = selection.retention
    return (said["max_duration"], said["on_expiry"]) if said else None


def commitments(selection: Selection) -> list[object]:
    """What a client says that it commits itself to."""
    return (selection.client_claims or {}).get("commitments", [])


def encode_granted(grant: Grant) -> JSON:
    """The rights of a grant as a member of `authorization_details`."""
    return {
        "type": DETAIL_TYPE,
        "source": {"kind": grant.source.kind, "id": grant.source.id},
        "purpose_code": grant.purpose_code,
        **present(purpose_description=grant.purpose_description),
        "access_mode": grant.access_mode,
        "streams": [_encode_stream(stream) for stream in grant.streams],
    }


def encode_grant(grant: Grant) -> JSON:
    client: JSON = {"client_id": grant.client_id}
    if grant.client_name is not None:
        client["client_display"] = {"name": grant.client_name}
    described = {} if grant.purpose_description is None else {"purpose_description": grant.purpose_description}
    return {
        "version": GRANT_VERSION,
        "grant_id": grant.grant_id,
        "issued_at": grant.issued_at,
        "subject": {"id": grant.subject},
        "client": client,
        "source": {"kind": grant.source.kind, "id": grant.source.id},
        "source_declaration": {"version": grant.declaration_version},
        "purpose_code": grant.purpose_code,
        **described,
        "access_mode": grant.access_mode,
        "streams": [_encode_stream(stream) for stream in grant.streams],
        "expires_at": grant.expires_at,
    }


def access_mode(document: Mapping[str, Any]) -> str:
    """Of a grant as it is kept, without decoding the rest of it."""
    return document["access_mode"]


def _encode_stream(stream: StreamGrant) -> JSON:
    document: JSON = {"name": stream.name, "instance_ids": [*stream.connections], "fields": sorted(stream.fields)}
    if stream.time is not None:
        bounds = {"field": stream.time.field, "since": stream.time.since, "until": stream.time.until}
        document["time_constraint"] = {name: value for name, value in bounds.items() if value is not None}
    if stream.resources is not None:
        document["resources"] = sorted(stream.resources)
    return document


def decode_grant(document: Mapping[str, Any], declaration: Declaration) -> Grant:
    """Raises `GrantInvalid` unless the grant fits the very declaration that its owner consented to."""
    if not _GRANT.fits(document):
        raise GrantInvalid("The stored grant is not readable.")
    snapshot = (declaration.source.id, declaration.version)
    if (document["source"]["id"], document["source_declaration"]["version"]) != snapshot:
        raise GrantInvalid("The grant belongs to another declaration.")
    return Grant(
        grant_id=document["grant_id"],
        issued_at=document["issued_at"],
        subject=document["subject"]["id"],
        client_id=document["client"]["client_id"],
        client_name=document["client"].get("client_display", {}).get("name"),
        source=Source(document["source"]["kind"], document["source"]["id"]),
        declaration_version=document["source_declaration"]["version"],
        purpose_code=document["purpose_code"],
        purpose_description=document.get("purpose_description"),
        access_mode=document["access_mode"],
        streams=tuple(_decode_stream(stream, declaration) for stream in document["streams"]),
        expires_at=document["expires_at"],
    )


def _decode_stream(document: JSON, declaration: Declaration) -> StreamGrant:
    declared = declaration.streams.get(document["name"])
    time = TimeConstraint(**document["time_constraint"]) if "time_constraint" in document else None
    fields = frozenset[str](document["fields"])
    named = fields | {time.field} if time else fields
    if declared is None or not named <= declared.fields.keys():
        raise GrantInvalid("The grant names streams or fields that its declaration lacks.")
    resources = frozenset[str](document["resources"]) if "resources" in document else None
    return StreamGrant(declared, tuple(document["instance_ids"]), fields, time, resources)
