"""`pdpp doctor`: every planted fault is found, and what it says it mends is mended."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import apsw
import pytest

from pdpp_server.cli.doctor import WELL, WORDS
from pdpp_server.model.health import Finding
from pdpp_server.owner.doctor import PARTS, SHARED_PARTS, examine
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.port.credentials import save
from pdpp_server.settings import Settings
from pdpp_server.store.engine import Reading
from pdpp_server.store.log import segment_paths
from pdpp_server.store.upkeep import check
from pdpp_server.wire.grants import decode_selection
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.worlds import chat
from tests.worlds.kept import Kept, lived
from tests.worlds.world import NOW

M1 = "(select rid from records where key = 'm1' and data like '%lease draft%')"
Plant = Callable[[Kept], object]


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Kept]:
    with lived(tmp_path / "home") as kept:
        kept.world.owner.activity()  # the index has seen every line
        yield kept


def sql(statement: str) -> Plant:
    def plant(life: Kept) -> None:
        connection = apsw.Connection(str(life.home / "pdpp.sqlite"))
        connection.execute(statement)
        connection.close()

    return plant


def blob_path(life: Kept) -> Path:
    digest = life.photo.removeprefix("blob_")
    return life.home / "blobs" / digest[:2] / digest[2:4] / digest


def stray(life: Kept) -> None:
    path = life.home / "blobs" / ("0" * 64)
    path.write_bytes(b"nobody's")
    path.chmod(0o600)
    os.utime(path, (0, 0))


def cut_log(life: Kept) -> None:
    (path,) = segment_paths(life.home / "activity")
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


def client(token: str = "unknown", **credential: Any) -> Plant:
    def plant(life: Kept) -> None:
        save(str(life.home), "old", {"credential": {"access_token": token, "expires_at": None, **credential}})

    return plant


def owners_client(life: Kept) -> None:
    client(life.world.owner.owner_token(7)[0])(life)


def revoked_client(life: Kept) -> None:
    details = [chat.detail(life.world.both("messages"))]
    issued = life.world.owner.create_grant(decode_selection(details), "old", None)
    life.world.owner.revoke(issued.grant_id)
    client(issued.token, grant_id=issued.grant_id)(life)


FAULTS: dict[str, tuple[str, Plant]] = {
    "open_to_others": ("permissions", lambda life: (life.home / "pdpp.sqlite").chmod(0o644)),
    "key_broken": ("keys", lambda life: _shorten(life.home / "keys" / "cursors.key")),
    "key_missing": ("keys", lambda life: (life.home / "keys" / "activity.key").unlink()),
    "dangling_rows": ("database", sql(
        "insert into tokens(digest, kind, grant_id, issued_at) values(x'00', 'client', 'x', '')"
    )),
    "streams_miscounted": ("counts", sql("update streams set live = live + 1 where name = 'messages'")),
    "days_miscounted": ("counts", sql("update days set live = 7 where day > 0")),
    "index_damaged": ("index", sql("update words_data set block = zeroblob(length(block)) where id > 10")),
    "index_missing": ("index", sql("delete from positions where rid = " + M1)),
    "index_surplus": ("index", sql("insert into words(rowid, s0) values(17, 'nobody')")),
    "index_differs": ("index", sql(
        "insert into words(words, rowid, s0, s1)"
        " values('delete', " + M1 + ", 'Lease draft', 'The lease draft is ready.');"
        "insert into words(rowid, s0, s1) values(" + M1 + ", 'Other', 'words')"
    )),
    "history_broken": ("history", sql("update history set until = version - 1")),
    "history_unerased": ("history", sql("update history set data = '{}' where key = 'm4'")),
    "blob_lost": ("blobs", lambda life: blob_path(life).unlink()),
    "blob_damaged": ("blobs", lambda life: _flip(blob_path(life))),
    "blob_stray": ("blobs", stray),
    "grant_unreadable": ("grants", sql("update grants set document = '{}'")),
    "client_unusable": ("clients", client()),
    "client_unreadable": ("clients", lambda life: save(str(life.home), "old", {})),
    "client_expired": ("clients", client(expires_at="2001-01-01T00:00:00Z")),
    "client_owner": ("clients", owners_client),
    "client_ended": ("clients", revoked_client),
    "log_changed": ("log", cut_log),
    "log_index_damaged": ("log index", lambda life: (life.home / "activity.sqlite").write_bytes(b"no database" * 1000)),
}  # fmt: skip
MENDED = ["open_to_others", "streams_miscounted", "days_miscounted", "index_damaged", "index_missing",
          "index_surplus", "index_differs", "blob_stray", "log_index_damaged"]  # fmt: skip


def _shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[0] ^= 1
    path.write_bytes(raw)


class SaysOnly(NamedTuple):
    """A reading of which every statement gives the same rows."""

    said: list[tuple[str]]

    def rows(self, _: str) -> list[tuple[str]]:
        return self.said


def examined(life: Kept, *, repair: bool = False) -> dict[str, Finding]:
    settings = replace(Settings(home=life.home), port=_free_port())
    return {finding.part: finding for finding in examine(settings, now=NOW.replace(year=2100), repair=repair)}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def ill(found: dict[str, Finding]) -> dict[str, set[str]]:
    return {name: {fault.code for fault in finding.faults} for name, finding in found.items() if finding.faults}


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.well")
def test_a_sound_home_is_well_in_every_part(life: Kept) -> None:
    found = examined(life)

    assert ill(found) == {}
    assert [*found] == [part.name for part in PARTS]


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.finds", "cli.doctor.credentials")
@pytest.mark.parametrize("code", FAULTS)
def test_each_planted_fault_is_found_where_it_was_planted(life: Kept, code: str) -> None:
    part, plant = FAULTS[code]
    plant(life)

    assert code in ill(examined(life))[part]


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.repair")
@pytest.mark.parametrize("code", MENDED)
def test_what_can_be_mended_is_mended_and_stays_so(life: Kept, code: str) -> None:
    part, plant = FAULTS[code]
    before = life.records()
    plant(life)

    mended = examined(life, repair=True)[part].mended

    assert code in {fault.code for fault in mended}
    assert ill(examined(life)) == {}
    assert life.records() == before


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.repair")
@pytest.mark.parametrize("code", sorted(FAULTS.keys() - set(MENDED)))
def test_what_cannot_be_made_anew_is_left_as_it_is(life: Kept, code: str) -> None:
    part, plant = FAULTS[code]
    plant(life)
    before = life.records()

    assert code in ill(examined(life, repair=True))[part]
    assert code in ill(examined(life))[part]
    assert life.records() == before


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.credentials")
def test_a_credential_that_renews_itself_is_well_though_it_ended(life: Kept) -> None:
    client(expires_at="2001-01-01T00:00:00Z", refresh_token="r")(life)

    found = examined(life)["clients"]

    assert (found.faults, found.facts) == ((), {"clients": 1, "renewable": 1})


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.credentials")
def test_a_credential_that_others_can_read_is_closed_to_them(life: Kept) -> None:
    client(expires_at=None, refresh_token="r")(life)
    path = life.home / "clients" / "old.json"
    path.chmod(0o644)

    assert examined(life)["permissions"].faults[0].places == ("clients/old.json",)
    assert examined(life, repair=True)["permissions"].is_well
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.password")
def test_a_missing_password_is_a_fault_only_where_others_can_come(life: Kept) -> None:
    settings = Settings(home=life.home, port=_free_port())
    public = replace(settings, public_url=f"http://127.0.0.1:{settings.port}")

    assert _part("password", settings) == Finding("password", facts={"set": 0})
    assert [fault.code for fault in _part("password", public).faults] == ["password_missing"]
    SignIn(life.world.services).set_password("a long enough one")
    assert _part("password", public).is_well


def _part(name: str, settings: Settings) -> Finding:
    return next(found for found in examine(settings, now=NOW, repair=False) if found.part == name)


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.finds")
def test_a_damaged_database_is_said_and_the_other_parts_are_tried(tmp_path: Path) -> None:
    with lived(tmp_path / "home") as life:
        pass
    path = life.home / "pdpp.sqlite"
    raw = bytearray(path.read_bytes())
    raw[4096 * 3 : 4096 * 20] = bytes(4096 * 17)
    path.write_bytes(raw)

    found = examined(life)

    assert found["database"].faults
    assert found["log"].is_well
    assert found["keys"].is_well


@requirement("cli.doctor.finds")
def test_what_sqlite_says_of_damage_is_told_line_by_line_without_its_heading() -> None:
    pages = ["Tree 31 page 7: never used", "Tree 31 page 8: never used"]
    said = SaysOnly([("\n".join(["*** in database main ***", *pages]),), ("ok",)])

    assert check.damage(cast("Reading", said)) == pages


@requirement("cli.doctor.finds")
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "port_taken"),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"other":true}', "port_taken"),
        (b"SSH-2.0-other\r\n", "port_taken"),
        (b'HTTP/1.1 503 no\r\nContent-Length: 19\r\n\r\n{"object":"health"}', "server_unwell"),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{"object":"health"}', None),
    ],
)
def test_whoever_answers_at_the_port_is_told_from_our_server(tmp_path: Path, answer: bytes, fault: str | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reply() -> None:
            caller, _ = server.accept()
            with caller:
                caller.recv(65_536)
                caller.sendall(answer)

        answering = threading.Thread(target=reply)
        answering.start()
        settings = Settings(home=tmp_path / "home", port=server.getsockname()[1])
        found = {finding.part: finding for finding in examine(settings, now=NOW, repair=False)}
        answering.join()

    assert ill(found) == ({"port": {fault}} if fault else {})


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.well", "cli.doctor.finds")
def test_the_command_says_one_line_for_each_part_and_ends_with_1_if_any_is_wrong(notes: Command) -> None:
    port = str(_free_port())
    well = notes("doctor", PDPP_PORT=port)
    (notes.home / "pdpp.sqlite").chmod(0o644)
    wrong = notes("doctor", PDPP_PORT=port)
    mended = notes("doctor", "--repair", PDPP_PORT=port)

    assert (well.code, wrong.code, mended.code) == (0, 1, 0)
    assert {line.split()[0] for line in well.out.splitlines()[:-1]} == {"ok"}
    assert "WRONG   permissions: others can read 1 file or folder (pdpp.sqlite). `pdpp doctor --repair`" in wrong.out
    assert "mended  permissions" in mended.out
    assert notes("doctor", "--json", PDPP_PORT=port).json["well"] is True


@requirement("cli.doctor.well")
def test_where_there_is_no_home_none_is_made(pdpp: Command) -> None:
    ran = pdpp("doctor", PDPP_PORT=str(_free_port()))

    assert ran.code == 0
    assert "nothing is here yet" in ran.out
    assert not pdpp.home.exists()


@requirement("cli.doctor.finds")
def test_a_home_that_cannot_be_made_is_said_with_what_is_in_the_way(pdpp: Command) -> None:
    in_the_way = pdpp.file("home", "a file")

    ran = pdpp("doctor", PDPP_HOME=str(in_the_way / "below"), PDPP_PORT=str(_free_port()))

    assert ran.code == 1
    assert f"WRONG   home: there is a file where the home should be ({in_the_way})" in ran.out


@requirement("cli.doctor.finds")
def test_a_home_of_somebody_else_is_a_fault_and_the_rest_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    settings = Settings(home=tmp_path, port=_free_port())
    monkeypatch.setattr(Path, "is_file", refuse)  # whoever runs the tests may be allowed everything
    found = {finding.part: finding for finding in examine(settings, now=NOW, repair=False)}
    monkeypatch.setattr(os, "access", lambda *_: False)

    assert found["home"].faults[0].places == (str(tmp_path / "pdpp.sqlite"),)
    assert [*found] == ["home", "port", "address"]
    assert _part("home", settings).faults[0].places == (str(tmp_path),)


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.finds")
def test_a_database_that_is_refused_is_told_with_the_remedy_of_its_refusal(notes: Command) -> None:
    port = str(_free_port())
    connection = apsw.Connection(str(notes.home / "pdpp.sqlite"))
    connection.execute("pragma user_version = 999")
    connection.close()

    ran = notes("doctor", PDPP_PORT=port)
    (database,) = [part for part in notes("doctor", "--json", PDPP_PORT=port).json["parts"] if not part["well"]]

    (line,) = [line for line in ran.out.splitlines() if line.startswith("WRONG")]
    assert line.startswith(
        "WRONG   database: it could not be tried (pdpp.sqlite has schema 999; this pdpp-server knows "
    )
    assert ". Install the newer pdpp-server again" in line
    assert database["faults"][0].keys() == {"code", "number", "places", "says", "do"}


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.finds")
def test_a_setting_that_cannot_be_meant_is_one_of_the_faults(notes: Command) -> None:
    ran = notes("doctor", PDPP_LOG_SYNC="sometimes", PDPP_PORT=str(_free_port()))

    assert ran.code == 1
    assert "WRONG   settings: a setting cannot be meant (PDPP_LOG_SYNC must be normal or full.)" in ran.out
    assert "ok      database" in ran.out
    assert "ok      meaning: no model; `pdpp meaning install` brings one" in ran.out


@pytest.mark.sqlite("examines the files of a home")
@requirement("cli.doctor.finds")
def test_a_setting_whose_name_is_misspelt_is_one_of_the_faults(notes: Command) -> None:
    port = str(_free_port())
    ran = notes("doctor", PDPP_PUBIC_URL="https://data.example", PDPP_PORT=port)

    assert ran.code == 1
    fault = "nothing reads a variable of that name (PDPP_PUBIC_URL). PDPP_PUBLIC_URL was probably meant."
    assert f"WRONG   settings: {fault}" in ran.out
    assert notes("doctor", PDPP_OF_MY_OWN="1", PDPP_ACCESS_TOKEN="x", PDPP_PORT=port).code == 0


@requirement("cli.doctor.finds")
def test_every_fault_and_every_part_has_words() -> None:
    assert FAULTS.keys() <= WORDS.keys()
    named = {part.name for part in (*PARTS, *SHARED_PARTS)}
    assert {"settings", *named, "inbox", "client files"} == WELL.keys()
    assert {code for part in PARTS for code in part.mends} <= WORDS.keys()
