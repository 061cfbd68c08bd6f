"""Owners as the command prints them: the secrets of one, and everybody who has a share of a database."""

from collections.abc import Iterable, Mapping

from pdpp_server.model.owners import OwnerRow, OwnerSummary
from pdpp_server.wire.envelope import Json, present


def encode_token(token: str, expires_at: str) -> Json:
    return {"token": token, "expires_at": expires_at}


def encode_password(password: str) -> Json:
    return {"password": password}


def encode_rotated(*keys: str) -> Json:
    return {"rotated": list(keys)}


def encode_resource_server(name: str, address: str | None, secret: str) -> Json:
    return {"name": name, **present(address=address), "secret": secret}


def encode_owners(owners: Iterable[OwnerSummary], arriving: Iterable[OwnerRow]) -> Json:
    return {"owners": [_encode_summary(each) for each in owners], "arriving": [each.name for each in arriving]}


def _encode_summary(summary: OwnerSummary) -> Json:
    return {
        "name": summary.owner.name,
        "number": summary.owner.number,
        "since": summary.owner.created_at,
        "has_password": summary.has_password,
        "connections": summary.connections,
        "records": summary.records,
        "grants": summary.grants,
    }


def encode_invited(name: str, link: str, expires_at: str) -> Json:
    return {"name": name, "link": link, "expires_at": expires_at}


def encode_erased(name: str, rows: Mapping[str, int]) -> Json:
    return {"removed": name, "rows": dict(rows)}


def encode_handed_over(owner: str, connections: int, records: int) -> Json:
    return {"owner": owner, "connections": connections, "records": records}
