"""Grants as the owner's command prints them: rights and state, what was issued, what a client would see."""

from collections.abc import Iterable, Sequence

from pdpp_server.model.grants import Grant
from pdpp_server.wire.envelope import Json, present
from pdpp_server.wire.grants import encode_grant


def encode_grants(rows: Iterable[Json]) -> Json:
    return {"grants": list(rows)}


def encode_row(
    grant: Grant,
    *,
    state: str,
    revoked_at: str | None,
    package_id: str | None,
    successor: str | None = None,
    name: str | None = None,
    note: str | None = None,
) -> Json:
    """A grant and what became of it; the owner's own words of it only where there are any."""
    told = {"state": state, "revoked_at": revoked_at, "package_id": package_id}
    return {**encode_grant(grant), **told, **present(successor=successor, name=name or None, note=note or None)}


def encode_issued(grant_id: str, token: str, expires_at: str | None, grants: Sequence[Grant]) -> Json:
    """A package names its grants."""
    issued = {"grant_id": grant_id, "token": token, "expires_at": expires_at}
    return {**issued, "grants": [grant.grant_id for grant in grants]} if len(grants) > 1 else issued


def encode_preview(grant_id: str, schema: Json, records: list[Json]) -> Json:
    return {"grant_id": grant_id, "schema": schema, "records": records}


def encode_explanation(grant_id: str, sentences: Sequence[str]) -> Json:
    return {"grant_id": grant_id, "sentences": list(sentences)}
