"""A thousand revocations, each followed at once by a read, in this process and in another: none is ever missed."""

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from random import Random

import pytest

from pdpp_server.errors import PdppError
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.owner.desk import IssuedGrant
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.packages.package import NOTES, packed
from tests.worlds import chat
from tests.worlds.world import NOW, World

TRIALS = 250  # of each kind: four make a thousand
AT_ONCE = 5  # grants that are alive together, so that reads and revocations of several interleave

READING = """
import sys
from datetime import datetime
from pathlib import Path
from pdpp_server.errors import PdppError
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from tests.worlds.told import told
home, now = Path(sys.argv[1]), datetime.fromisoformat(sys.argv[2])
services = open_services(home, now=lambda: now)
for line in sys.stdin:
    try:
        print("read", *told(LocalReader(services, line.strip()).schema(SchemaQuery())).grant_ids, flush=True)
    except PdppError as refusal:
        print(refusal.code, flush=True)
services.close()
"""

Reads = Callable[[str], str]  # a token -> "read" and the grants that it was read by, or the code of a refusal


@contextmanager
def reading(world: World, where: str) -> Generator[Reads]:
    def here(token: str) -> str:
        try:
            return " ".join(("read", *world.reader_of(token).schema(SchemaQuery()).value.grant_ids))
        except PdppError as refusal:
            return refusal.code

    if where == "here":
        yield here
        return
    arguments = [sys.executable, "-c", READING, str(world.home), NOW.isoformat()]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin
        assert other.stdout
        sent, told = other.stdin, other.stdout

        def there(token: str) -> str:
            sent.write(f"{token}\n")
            sent.flush()
            return told.readline().strip()

        yield there
        sent.close()


@requirement("grants.lifecycle.revoked")
@pytest.mark.parametrize("where", ["here", "in another process"])
def test_no_read_follows_the_revocation_of_its_grant(world: World, where: str) -> None:
    choose, alive, ended = Random(7), list[IssuedGrant](), list[IssuedGrant]()
    asked = decode_selection([chat.detail(world.both("messages"))])
    with reading(world, where) as read:
        while len(ended) < TRIALS:
            while len(alive) < AT_ONCE:
                alive.append(world.owner.create_grant(asked, "Agent", None))
            kept = choose.choice(alive)
            assert read(kept.token) == f"read {kept.grant_id}"  # known from now on, and soon no longer good
            over = alive.pop(choose.randrange(AT_ONCE))
            world.owner.revoke(over.grant_id)
            assert read(over.token) == "grant_revoked"
            ended.append(over)
        assert {read(over.token) for over in ended} == {"grant_revoked"}


@requirement("grants.lifecycle.revoked", "as.packages.revocation")
@pytest.mark.parametrize("where", ["here", "in another process"])
def test_no_read_of_a_package_follows_the_revocation_of_a_child(world: World, where: str) -> None:
    choose, notes = Random(7), packed(world).notes
    source = {**chat.detail({"name": "messages", "instance_ids": [notes]}), "source": {"id": NOTES}}
    asked = decode_selection([chat.detail(world.both("messages")), source])
    with reading(world, where) as read:
        for _ in range(TRIALS):
            issued = world.owner.create_grant(asked, "Agent", None)
            first, last = choose.sample([grant.grant_id for grant in issued.grants], 2)
            assert set(read(issued.token).split()) == {"read", first, last}
            world.owner.revoke(first)
            assert read(issued.token) == f"read {last}"
            world.owner.revoke(last)
            assert read(issued.token) == "package_revoked"
