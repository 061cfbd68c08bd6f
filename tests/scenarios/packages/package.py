"""A package of the world: the chats of both accounts, and notes of another source that share their stream's name."""

from typing import Any, NamedTuple

from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.worlds import chat
from tests.worlds.world import World

NOTES = "https://registry.pdpp.dev/connectors/notes"
CROWD = 20
_NOTES = decode_declaration({**chat.DOCUMENT, "source": {"kind": "connector", "id": NOTES}})


class Package(NamedTuple):
    token: str
    package_id: str
    chats_grant: str
    notes_grant: str
    notes: str  # the connection


def packed(world: World) -> Package:
    """All streams of the chats, and only the messages of the notes: for `lease`, a good hit and a bad one."""
    writer = world.owner.writer(_NOTES, "Notes")
    writer.deliver(
        [
            chat.message("n1", subject="Lease, lease", text="The lease.", sent_at="2026-03-03T08:00:00Z"),
            chat.message("n2", subject="Much", text="Nothing new. " * 900 + "A lease.", sent_at="2026-03-02T08:00:00Z"),
        ]
    )
    issued = world.owner.create_grant(
        decode_selection([chat.detail(world.both("messages"), world.both("channels")), _detail(writer.connection_id)]),
        "Agent",
        None,
    )
    chats, notes = (grant.grant_id for grant in issued.grants)
    return Package(issued.token, issued.grant_id, chats, notes, writer.connection_id)


def crowded(world: World) -> str:
    """A token for a package of one chat account and very many notebooks."""
    many = [world.owner.writer(_NOTES, f"Notebook {number}").connection_id for number in range(CROWD)]
    asked = [chat.detail({"name": "messages", "instance_ids": [world.work]}), _detail(*many)]
    return world.owner.create_grant(decode_selection(asked), "Agent", None).token


def _detail(*connections: str) -> dict[str, Any]:
    return {**chat.detail({"name": "messages", "instance_ids": [*connections]}), "source": {"id": NOTES}}
