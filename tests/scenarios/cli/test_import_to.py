"""`pdpp import PATH --to URL`."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from pdpp_server.app import create_app
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.cli.command import DECLARATION, Command
from tests.worlds.served import served
from tests.worlds.world import Clock, World, build, close

CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:x
BEGIN:VEVENT
UID:a
DTSTAMP:20260101T000000Z
DTSTART:20260601T090000Z
SUMMARY:Harbour
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def there(tmp_path: Path) -> Generator[tuple[World, str]]:
    world = build(tmp_path / "there", Clock())
    with served(create_app(Settings(home=world.home), world.services)) as address:
        yield world, address
    close(world.services)


@requirement("imp.elsewhere.same")
def test_an_export_is_read_here_and_delivered_there(pdpp: Command, there: tuple[World, str]) -> None:
    world, address = there
    path, token = pdpp.file("home.ics", CALENDAR), world.owner.owner_token(1)[0]
    here = pdpp("import", path, "--json").json

    sent = pdpp("import", path, "--to", address, "--json", PDPP_OWNER_TOKEN=token)

    assert sent.code == 0, sent.err
    told = ("connection_id", "accepted", "unchanged", "rejected")
    assert [sent.json[name] for name in told] == [here[name] for name in told]
    assert token not in sent.out + sent.err
    (source,) = [one for one in world.owner.sources() if one.connection_id == here["connection_id"]]
    assert sum(stream.records for stream in source.streams) == here["accepted"]
    again = pdpp("import", path, "--to", address, PDPP_OWNER_TOKEN=token)
    assert "is unchanged since" in again.out


@requirement("imp.elsewhere.same")
def test_records_of_ones_own_go_there_too(pdpp: Command, there: tuple[World, str]) -> None:
    world, address = there
    token = world.owner.owner_token(1)[0]
    lines = '{"id":"n1","title":"Lease","written_at":"2026-01-02T10:00:00Z"}\n{"id":7}\n'
    path, declaration = pdpp.file("n.ndjson", lines), pdpp.file("d.json", json.dumps(DECLARATION))
    words = ("import", path, "--to", address, "--declaration", declaration, "--name", "Mine", "--json")

    sent = pdpp(*words, PDPP_OWNER_TOKEN=token)

    assert (sent.json["accepted"], sent.json["unchanged"], sent.json["rejected"]) == (1, 0, 1)
    assert "n.ndjson:2" in sent.err
    assert not (pdpp.home / "pdpp.sqlite").exists()
    table = pdpp.file("books.csv", "id,title\n1,Tides\n2,Lamps\n")
    proposed = pdpp("import", table, "--to", address, "--yes", "--json", PDPP_OWNER_TOKEN=token)
    assert proposed.json["accepted"] == 2


@requirement("imp.elsewhere.same")
def test_what_was_rejected_there_is_looked_up_there(pdpp: Command, there: tuple[World, str]) -> None:
    world, address = there
    path = pdpp.file("n.ndjson", '{"id":7}\n' * 30)
    declaration = pdpp.file("d.json", json.dumps(DECLARATION))
    words = ("import", path, "--to", address, "--declaration", declaration, "--name", "Mine")

    sent = pdpp(*words, PDPP_OWNER_TOKEN=world.owner.owner_token(1)[0])

    said = " ".join(sent.err.split())
    assert f"10 more; see them on the machine of {address} with: pdpp sources --rejected" in said
    assert str(pdpp.home) not in said


@requirement("imp.elsewhere.refused")
@pytest.mark.parametrize(
    ("words", "variables", "code", "says"),
    [
        (("--to", "http://127.0.0.1:9"), {}, 64, "needs a token of that server's owner"),
        (("--to", "http://example.org"), {"PDPP_OWNER_TOKEN": "t"}, 64, "--to takes the address of a server"),
        (("--to", "example.org"), {}, 64, "--to takes the address of a server"),
        (("--to", "http://127.0.0.1:9"), {"PDPP_OWNER_TOKEN": "t"}, 1, "cannot be reached"),
        (("--to", "http://127.0.0.1:9", "--newer"), {"PDPP_OWNER_TOKEN": "t"}, 64, "--to removes nothing"),
    ],
)
def test_what_cannot_be_sent_is_said(
    pdpp: Command, words: tuple[str, ...], variables: dict[str, str], code: int, says: str
) -> None:
    ran = pdpp("import", pdpp.file("home.ics", CALENDAR), *words, **variables)

    assert ran.code == code, ran.err
    assert says in " ".join(ran.err.split())
