"""The index answers from the segments, and from nothing else."""

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.model.activity import Day, Disclosure
from pdpp_server.store.engines.logged import ALSO_NAMED, RECENT, RECENT_NAMED
from pdpp_server.store.engines.sqlite import activity as module
from pdpp_server.store.engines.sqlite.activity import ActivityIndex, SqliteActivity, catch_up, open_index, seen_by
from pdpp_server.store.log import DisclosureLog, read_segment, segment_paths, verify
from tests.requirements import requirement

READ = Disclosure(
    at="2026-03-01T10:00:00.000Z",
    request_id="req_0",
    operation="search",
    token_kind="client",
    client_id="cli_a",
    grant_ids=("grt_1",),
    query={"query": "sha256:00"},
    connections=("con_1",),
    streams=("notes",),
    fields=("text",),
    records=("con_1/notes:n1", "con_1/notes:n2"),
    bytes=120,
)
FIRST = READ._replace(request_id="req_1")
OF_PACKAGE = READ._replace(
    request_id="req_2", at="2026-03-01T11:00:00.000Z", token_kind="mcp_package", grant_ids=("grt_1", "grt_2")
)
OF_OTHER_CLIENT = READ._replace(
    request_id="req_3",
    at="2026-03-02T09:00:00.000Z",
    client_id="cli_b",
    grant_ids=("grt_3",),
    records=("con_1/notes:n2",),
)
OF_OWNER = READ._replace(
    request_id="req_4",
    at="2026-03-03T09:00:00.000Z",
    token_kind="owner",
    client_id=None,
    grant_ids=(),
    records=(),
)
ALL = [OF_OWNER, OF_OTHER_CLIENT, OF_PACKAGE, FIRST]

CATCHING_UP = """
import sys
from pathlib import Path
from pdpp_server.store.engines.sqlite.activity import catch_up, open_index

home = Path(sys.argv[1])
sys.stdin.read()
for _ in range(5):
    index = open_index(home / "activity.sqlite")
    catch_up(index, home / "activity")
    index.close()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Three segments, one for each day; the later ones written by a log that was opened later."""
    for part in ((FIRST, OF_PACKAGE), (OF_OTHER_CLIENT, OF_OWNER)):
        log = DisclosureLog(tmp_path / "activity")
        for disclosure in part:
            log.append(disclosure)
        log.close()
    return tmp_path


@pytest.fixture
def index(home: Path) -> Iterator[ActivityIndex]:
    index = open_index(home / "activity.sqlite")
    catch_up(index, home / "activity")
    yield index
    index.close()


def answers(index: ActivityIndex) -> list[object]:
    return [
        index.logged.recent(),
        *(index.logged.recent(grant_id=grant_id) for grant_id in ("grt_1", "grt_2", "grt_3")),
        *(index.logged.recent(client_id=client_id) for client_id in ("cli_a", "cli_b")),
        index.logged.recent(record="con_1/notes:n2"),
        index.logged.per_day(),
        index.logged.per_day("grt_1"),
        seen_by(index),
    ]


def test_the_newest_come_first_as_they_were_written(index: ActivityIndex) -> None:
    assert index.logged.recent() == ALL
    assert index.logged.recent(limit=2) == ALL[:2]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"grant_id": "grt_1"}, [OF_PACKAGE, FIRST]),
        ({"grant_id": "grt_2"}, [OF_PACKAGE]),
        ({"client_id": "cli_b"}, [OF_OTHER_CLIENT]),
        ({"request_id": "req_4"}, [OF_OWNER]),
        ({"record": "con_1/notes:n1"}, [OF_PACKAGE, FIRST]),
        ({"record": "con_1/notes:n2", "client_id": "cli_b"}, [OF_OTHER_CLIENT]),
        ({"record": "con_1/notes:n2", "client_id": "cli_a", "grant_id": "grt_2"}, [OF_PACKAGE]),
        ({"request_id": "req_1", "grant_id": "grt_2"}, []),
        ({"grant_id": "grt_1", "since": "2026-03-01T10:30:00Z"}, [OF_PACKAGE]),
        ({"since": "2026-03-02"}, [OF_OWNER, OF_OTHER_CLIENT]),
        ({"since": "2026-03-01T12:30:00+02:00"}, [OF_OWNER, OF_OTHER_CLIENT, OF_PACKAGE]),
        ({"grant_id": "' or 1=1 --"}, []),
        ({"grant_id": ""}, []),
    ],
)
def test_disclosures_are_found_by_every_name_they_have(
    index: ActivityIndex, asked: dict[str, Any], found: list[Disclosure]
) -> None:
    assert index.logged.recent(**asked) == found


def test_a_time_that_is_none_is_not_taken_for_always(index: ActivityIndex) -> None:
    with pytest.raises(ValueError, match="no time"):
        index.logged.recent(since="yesterday")


def test_days_are_counted_for_all_and_for_one_grant(index: ActivityIndex) -> None:
    assert index.logged.per_day() == [Day("2026-03-03", 1, 0), Day("2026-03-02", 1, 1), Day("2026-03-01", 2, 4)]
    assert index.logged.per_day("grt_2") == [Day("2026-03-01", 1, 2)]


@requirement("log.index.derived")
def test_an_index_that_was_deleted_is_built_again_with_the_same_answers(home: Path, index: ActivityIndex) -> None:
    log = DisclosureLog(home / "activity")
    log.append(READ._replace(request_id="req_5", at=OF_OWNER.at))  # grown in steps, with a tie in time
    catch_up(index, home / "activity")
    before = answers(index)
    index.close()
    for path in home.glob("activity.sqlite*"):
        path.unlink()

    again = open_index(home / "activity.sqlite")
    catch_up(again, home / "activity")

    assert len(again.logged.recent()) == 5
    assert answers(again) == before
    again.close()


def test_a_tie_in_time_has_one_order_however_the_segments_were_met(home: Path) -> None:
    shutil.rmtree(home / "activity")
    for number in range(6):
        DisclosureLog(home / "activity").append(READ._replace(request_id=f"req_{number}"))
    orders: list[list[str]] = []
    for name, paths in (("a", segment_paths(home / "activity")), ("b", segment_paths(home / "activity")[::-1])):
        index = open_index(home / name)
        for path in paths:
            assert module._read_batch(index, path)
        orders += [[found.request_id for found in index.logged.recent(grant_id=id, limit=4)] for id in ("grt_1", None)]
        index.close()

    assert orders == [orders[0]] * 4


def test_catching_up_again_adds_nothing_and_reads_nothing(
    home: Path, index: ActivityIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = answers(index)
    monkeypatch.setattr(module, "read_segment", None)
    catch_up(index, home / "activity")

    assert answers(index) == before


def test_only_new_lines_are_read(home: Path, index: ActivityIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    log = DisclosureLog(home / "activity")
    log.append(READ._replace(at="2026-03-04T00:00:00.000Z"))
    catch_up(index, home / "activity")
    path = segment_paths(home / "activity")[-1]
    size = path.stat().st_size
    asked: list[tuple[Path, int]] = []
    monkeypatch.setattr(module, "read_segment", lambda *place: asked.append(place) or read_segment(*place))

    log.append(READ._replace(request_id="req_new", at="2026-03-04T00:00:01.000Z"))
    catch_up(index, home / "activity")

    assert asked == [(path, size), (path, path.stat().st_size)]
    assert index.logged.recent(limit=1)[0].request_id == "req_new"


def test_a_long_segment_is_read_in_several_transactions(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_LINES", 2)
    index = open_index(home / "small.sqlite")
    catch_up(index, home / "activity")

    assert index.logged.recent() == ALL
    index.close()


def test_a_line_that_was_seen_half_written_is_read_when_it_is_whole(home: Path, index: ActivityIndex) -> None:
    path = segment_paths(home / "activity")[0]
    whole = path.read_bytes()
    other = open_index(home / "other.sqlite")
    for end in (-1, -50, len(whole)):
        path.write_bytes(whole[:end])
        catch_up(other, home / "activity")

    assert answers(other) == answers(index)
    other.close()


def test_what_was_written_before_a_kill_is_found_afterwards(home: Path, index: ActivityIndex) -> None:
    """The process died between its line and any index: a torn line behind it was never answered."""
    log = DisclosureLog(home / "activity")
    answered = READ._replace(request_id="req_9", at="2026-03-09T00:00:00.000Z")
    log.append(answered)
    path = segment_paths(home / "activity")[-1]
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines(keepends=True)[1][:50])
    catch_up(index, home / "activity")
    catch_up(index, home / "activity")

    assert index.logged.recent(limit=1) == [answered]
    assert {verdict.state for verdict in verify(home / "activity", seen_by(index))} == {"intact", "torn"}


@requirement("log.verify.truncation")
def test_what_the_index_saw_betrays_lost_lines_and_lost_segments(home: Path, index: ActivityIndex) -> None:
    first, _, last = segment_paths(home / "activity")
    first.unlink()
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:-1]))
    catch_up(index, home / "activity")

    states = [verdict.state for verdict in verify(home / "activity", seen_by(index))]
    assert states == ["missing", "intact", "truncated"]
    assert index.logged.recent() == ALL


@requirement("log.verify.edits")
def test_an_edited_line_is_listed_and_does_not_vouch_for_itself(home: Path) -> None:
    path = segment_paths(home / "activity")[0]
    raw = path.read_bytes().splitlines(keepends=True)
    raw[1] = raw[1].replace(b"con_1/notes:n1", b"con_1/notes:n7")
    beyond = raw[1].replace(b'"n":1', b'"n":18446744073709551615')
    path.write_bytes(b"".join([*raw[:2], b"not json\n", b'{"n":7,"prev":"x","at":[]}\n', beyond, *raw[2:], raw[2]]))
    index = open_index(home / "activity.sqlite")
    catch_up(index, home / "activity")

    assert len(index.logged.recent()) == 4
    assert {segment.id: segment.n for segment in seen_by(index)}[path.stem] == 1
    assert [verdict.is_sound for verdict in verify(home / "activity", seen_by(index))] == [False, True, True]
    index.close()


@requirement("log.index.derived")
def test_several_processes_catch_up_at_once(home: Path) -> None:
    log = DisclosureLog(home / "activity")
    for number in range(2000):
        log.append(READ._replace(request_id=f"req_{number}", at="2026-02-01T00:00:00.000Z"))
    children = [
        subprocess.Popen([sys.executable, "-c", CATCHING_UP, str(home)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in children:
        assert process.stdin
        process.stdin.close()
    for process in children:
        assert process.stderr
        assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")
        process.stderr.close()

    index = open_index(home / "activity.sqlite")
    assert [day.disclosures for day in index.logged.per_day()] == [1, 1, 2, 2000]
    assert index.logged.recent(limit=4) == ALL
    index.close()


def test_a_failure_in_the_middle_of_a_batch_keeps_nothing_of_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = open_index(home / "activity.sqlite")
    with monkeypatch.context() as broken:
        broken.setattr(module, "names_of", lambda disclosure: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            catch_up(index, home / "activity")
    assert (index.logged.recent(), seen_by(index)) == ([], [])

    catch_up(index, home / "activity")
    assert index.logged.recent() == ALL
    index.close()


def test_only_the_owner_may_read_the_index(home: Path, index: ActivityIndex) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in home.glob("activity.sqlite*")}

    assert modes == dict.fromkeys(("activity.sqlite", "activity.sqlite-wal", "activity.sqlite-shm"), 0o600)


ALWAYS = {"since": "", "limit": 5}


def test_a_listing_by_name_is_an_index_range(index: ActivityIndex) -> None:
    bindings = {"kind": "grant", "name": "g", "client": "c", **ALWAYS}
    statement = RECENT_NAMED.format(also=ALSO_NAMED.format(kind="client"))
    plan = [row[-1] for row in index.rows("explain query plan " + statement, bindings)]

    assert plan[0].startswith("SEARCH k USING PRIMARY KEY (kind=? AND name=? AND at>?")
    assert not [line for line in plan if line.startswith("SCAN")], plan


def test_the_newest_of_all_come_from_an_index(index: ActivityIndex) -> None:
    plan = [row[-1] for row in index.rows("explain query plan " + RECENT.format(also=""), ALWAYS)]

    assert plan[0].startswith("SEARCH d USING INDEX disclosures_by_time (at>?")


def test_no_log_yet_is_an_empty_index(tmp_path: Path) -> None:
    index = open_index(tmp_path / "activity.sqlite")
    catch_up(index, tmp_path / "activity")

    assert (index.logged.recent(), index.logged.per_day(), seen_by(index)) == ([], [], [])
    index.close()


@pytest.mark.parametrize(("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 1), ("trusted_schema", 0)])
def test_every_pragma_takes_effect(index: ActivityIndex, pragma: str, value: object) -> None:
    assert index.connection.pragma(pragma) == value


def test_a_segment_that_is_taken_over_is_there_as_it_was_written(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "activity").mkdir(parents=True)
    activity = SqliteActivity(other)

    for path in segment_paths(home / "activity"):
        activity.take(path.stem, [*read_segment(path)])
        activity.take(path.stem, [])  # it is there

    assert activity.recent() == ALL
    assert all(verdict.is_sound for verdict in activity.verify())
