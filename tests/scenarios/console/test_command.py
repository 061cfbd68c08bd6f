"""The password and the keys, from the terminal."""

import re
from pathlib import Path

import pytest

from pdpp_server.errors import InvalidCursor
from pdpp_server.model.queries import RecordsQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.scenarios.cli.test_serve import serving
from tests.scenarios.console.visitor import Visitor
from tests.worlds.told import ToldReader
from tests.worlds.world import World, close


@pytest.fixture
def pdpp(world: World, tmp_path: Path) -> Command:
    return Command(world.home, tmp_path)


@requirement("con.sign-in.first-password")
def test_the_terminal_sets_the_password_and_ends_every_session(owner: Visitor, pdpp: Command) -> None:
    made = pdpp("owner", "password", "--generate", "--json").json["password"]

    assert owner.get("/clients").status_code == 303
    assert owner.sign_in(made).status_code == 303


@requirement("con.sign-in.first-password")
def test_a_short_password_is_refused_by_the_terminal_too(pdpp: Command) -> None:
    assert "--generate" in pdpp("owner", "password").err
    done = pdpp("owner", "password", stdin="short\nshort\n")

    assert (done.code, "A password has at least 10 characters." in done.err) == (1, True)


@requirement("con.sign-in.first-password")
def test_the_server_prints_a_setup_code_until_there_is_a_password(pdpp: Command) -> None:
    with serving(pdpp) as (process, _):
        assert process.stdout
        said = "".join(iter(process.stdout.readline, "Ctrl-C ends it.\n"))
    assert re.search(r"/welcome and choose one with the setup code [a-z0-9]{4}-[a-z0-9]{4}\n", said)

    pdpp("owner", "password", "--generate")
    with serving(pdpp) as (process, _):
        assert process.stdout
        assert "setup code" not in "".join(iter(process.stdout.readline, "Ctrl-C ends it.\n"))


@requirement("con.keys.rotated")
def test_a_new_key_ends_cursors_and_nothing_else(world: World, pdpp: Command) -> None:
    page = RecordsQuery("messages", world.work, limit=1)
    cursor = world.reader.query_records(page).value.next_cursor
    assert world.reader.query_records(RecordsQuery("messages", world.work, limit=1, cursor=cursor))

    assert pdpp("owner", "keys", "rotate").code == 0

    again = open_services(world.home, now=world.clock)
    reader = ToldReader(LocalReader(again, world.token))
    assert reader.query_records(page).value.next_cursor
    with pytest.raises(InvalidCursor):
        reader.query_records(RecordsQuery("messages", world.work, limit=1, cursor=cursor))
    close(again)
