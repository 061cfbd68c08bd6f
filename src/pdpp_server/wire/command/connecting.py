"""Connecting as the owner's command prints it: how a client reaches this home, or this machine another server."""

from collections.abc import Sequence

from pdpp_server.wire.clients import WayIn
from pdpp_server.wire.envelope import Json


def encode_by_address(client: str, address: str, way: WayIn, *, is_running: bool) -> Json:
    return {
        "client": client,
        "transport": "http",
        "address": address,
        "server_running": is_running,
        "lines": list(way.lines),
        "link": way.link,
        "place": way.place,
    }


def encode_by_command(client: str, saved_as: str, grant_id: str, lines: Sequence[str]) -> Json:
    return {
        "client": client,
        "transport": "stdio",
        "saved_as": saved_as,
        "grant_id": grant_id,
        "lines": list(lines),
    }


def encode_written(report: Json, file: str, entry: Json, *, is_written: bool, is_changed: bool) -> Json:
    """The same, where the client has a file: its entry, and whether it was put there."""
    return {**report, "file": file, "entry": entry, "written": is_written, "changed": is_changed}


def encode_taken_out(client: str, file: str | None, *, is_changed: bool, revoked: str | None) -> Json:
    return {"client": client, "file": file, "changed": is_changed, "revoked": revoked}


def encode_server_connected(provider_url: str, saved_as: str, file: str, grant_id: str | None) -> Json:
    return {"provider_url": provider_url, "saved_as": saved_as, "file": file, "grant_id": grant_id}


def encode_server_forgotten(provider_url: str, saved_as: str, *, is_changed: bool) -> Json:
    return {"provider_url": provider_url, "saved_as": saved_as, "changed": is_changed}
