"""kill -9 at any moment: what was acknowledged is there and findable, and nothing is there by half."""

import shutil
from collections import Counter
from pathlib import Path
from random import Random

import apsw
import orjson
import pytest

from pdpp_server.importers.ndjson import import_ndjson
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.restore import restore
from pdpp_server.reads.services import open_services
from pdpp_server.store.engines.sqlite.db import SqliteDatabase
from tests.crash import life
from tests.crash.agree import disagreements
from tests.crash.findable import require_findable
from tests.crash.homes import backed_up, filled, granted
from tests.crash.killing import DONE, Moment, Run, killed, undisturbed
from tests.crash.life import State
from tests.crash.old import old_home
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.world import NOW, close

pytestmark = pytest.mark.sqlite("kills at each step of SQLite and looks into its file")

FEW, MANY, AT_ONCE = range(2), range(2, 37), 7
REQUEST_ID_BYTES = len("req_") + 16


def kills(few: range = FEW) -> pytest.MarkDecorator:
    """A few in `make test`, many in `make soak`."""
    soak = [MANY[start : start + AT_ONCE] for start in range(0, len(MANY), AT_ONCE)]
    cases = [few, *(pytest.param(seeds, marks=pytest.mark.soak) for seeds in soak)]
    return pytest.mark.parametrize("seeds", cases, ids=str)


def database_of(home: Path) -> Path:
    return home / "pdpp.sqlite"


def require_whole(home: Path, run: Run, states: list[State], random: Random) -> None:
    """All that was acknowledged, at most the one batch in hand beside it, and every index as the records say."""
    path = database_of(home)
    if not path.exists():
        assert run.done == 0
        return
    state = life.stored(path)
    assert state in states[run.done : run.done + 2], run.where
    assert disagreements(path) == [] if is_laid_out(path) else state == {}
    require_findable(home, state, {} if not run.done else states[run.done - 1], random)


def is_laid_out(path: Path) -> bool:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute("pragma user_version").get > 0
    finally:
        connection.close()


def landed(tally: Counter[str]) -> None:
    """Many kills that only land between transactions would prove little."""
    print(dict(tally))
    assert tally.total() < AT_ONCE or tally["in a transaction"] + tally["in a commit"] > 0, tally


@kills()
@requirement("store.crash.kill-write", "store.ingest.atomic")
def test_a_killed_writer_loses_no_acknowledged_batch_and_leaves_no_half_one(seeds: range, tmp_path: Path) -> None:
    states = life.states(life.batches(life.lines(seeds.start)))
    whole = undisturbed(tmp_path / "whole", "write", str(seeds.start))
    assert life.stored(database_of(tmp_path / "whole")) == states[-1]
    tally: Counter[str] = Counter()
    for seed in seeds:
        random, home = Random(seed), tmp_path / str(seed) / "home"
        run = killed(Moment.drawn(random, whole.said), home, "write", str(seeds.start))
        tally[run.where] += 1
        require_whole(home, run, states, random)
    landed(tally)


@kills()
@requirement("store.crash.kill-import", "store.crash.run-again")
def test_a_killed_import_is_simply_run_again(seeds: range, tmp_path: Path) -> None:
    lines = life.lines(seeds.start)
    states, file = life.states(life.batches(lines)), life.written_to(tmp_path / "life.ndjson", lines)
    declaration = tmp_path / "chat.json"
    declaration.write_bytes(orjson.dumps(chat.DOCUMENT))
    whole = undisturbed(tmp_path / "whole", "import", file, declaration)
    tally: Counter[str] = Counter()
    for seed in seeds:
        random, home = Random(seed), tmp_path / str(seed) / "home"
        run = killed(Moment.drawn(random, whole.said), home, "import", file, declaration)
        tally[run.where] += 1
        require_whole(home, run, states, random)
        import_again(home, file)
        assert tombs_and_records(home) == tombs_and_records(tmp_path / "whole")
        assert disagreements(database_of(home)) == []
    landed(tally)


def import_again(home: Path, file: Path) -> None:
    services = open_services(home, now=lambda: NOW)
    import_ndjson(file, Owner(services, home).writer(chat.DECLARATION, life.ACCOUNT), lambda *_: None)
    close(services)


def tombs_and_records(home: Path) -> set[tuple[object, ...]]:
    connection = apsw.Connection(str(database_of(home)))
    try:
        found = connection.execute(
            "select name, key, at, emitted_at, deleted_at is null, data from records join streams using(sid)"
        )
        return set(found)
    finally:
        connection.close()


@kills()
@requirement("store.crash.kill-migration", "store.migrations.backup")
def test_a_killed_migration_leaves_the_old_database_or_the_new_one(seeds: range, tmp_path: Path) -> None:
    lines = life.lines(seeds.start)
    (state,) = life.states([lines])[-1:]
    old = old_home(tmp_path / "old", lines)
    shutil.copytree(old, tmp_path / "whole")
    whole = undisturbed(tmp_path / "whole", "open")
    tally: Counter[str] = Counter()
    for seed in seeds:
        random, home = Random(seed), tmp_path / str(seed) / "home"
        shutil.copytree(old, home)
        run = killed(Moment.drawn(random, whole.said), home, "open")
        tally[run.where] += 1
        assert life.stored(database_of(home)) == state
        SqliteDatabase(database_of(home)).close()
        require_whole(home, Run(DONE, True, ""), [{}, state], random)
        assert records_before(home) == state
    landed(tally)


def records_before(home: Path) -> State:
    """Of the copy that the migration made, which must be a sound database of the old version."""
    copy = home / "pdpp.sqlite.before-2"
    connection = apsw.Connection(str(copy))
    assert connection.execute("pragma integrity_check").get == "ok"
    assert connection.execute("pragma user_version").get == 1
    connection.close()
    return life.stored(copy)


@kills(range(1))
@requirement("store.crash.kill-removal")
def test_a_killed_removal_has_happened_whole_or_not_at_all_and_leaves_no_trace(seeds: range, tmp_path: Path) -> None:
    lines = life.lines(seeds.start)
    filled(tmp_path / "filled", lines)
    shutil.copytree(tmp_path / "filled", tmp_path / "whole")
    whole = undisturbed(tmp_path / "whole", "remove")
    tally: Counter[str] = Counter()
    for seed in seeds:
        random, home = Random(seed), tmp_path / str(seed) / "home"
        shutil.copytree(tmp_path / "filled", home)
        run = killed(Moment.drawn(random, whole.said), home, "remove")
        tally[run.where] += 1
        require_whole(home, run, [life.states([lines])[-1], {}], random)
        remove_again(home)
        assert b"zq" not in b"".join(path.read_bytes() for path in home.glob("pdpp.sqlite*"))
    landed(tally)


def remove_again(home: Path) -> None:
    services = open_services(home, now=lambda: NOW)
    owner = Owner(services, home)
    for source in owner.sources():
        owner.remove_source(source.connection_id)
    close(services)


@kills()
@requirement("log.line.before-answer")
def test_a_killed_reader_has_logged_every_answer_that_left(seeds: range, tmp_path: Path) -> None:
    filled(tmp_path / "filled", life.lines(seeds.start))
    token = granted(tmp_path / "filled")
    for seed in seeds:
        random, home = Random(seed), tmp_path / str(seed) / "home"
        shutil.copytree(tmp_path / "filled", home)
        run = killed(Moment(random.randint(1, 20_000), random.randint(0, 900)), home, "read", token)
        answered = [piece[:REQUEST_ID_BYTES].decode() for piece in run.said.split(DONE)[1:]]
        services = open_services(home, now=lambda: NOW)
        owner = Owner(services, home)
        logged = {disclosure.request_id for disclosure in owner.activity(limit=100_000)}
        assert {id for id in answered if len(id) == REQUEST_ID_BYTES} <= logged
        assert {verdict.state for verdict in owner.verify_activity()} <= {"intact", "torn"}
        close(services)


@kills(range(1))
@requirement("store.crash.kill-backup")
def test_a_killed_backup_leaves_the_one_before_and_is_simply_run_again(seeds: range, tmp_path: Path) -> None:
    filled(tmp_path / "home", life.lines(seeds.start))
    before = tmp_path / "before"
    backed_up(tmp_path / "home", before)
    shutil.copytree(before, tmp_path / "whole")
    whole = undisturbed(tmp_path / "home", "copy", tmp_path / "whole")
    for seed in seeds:
        random, target = Random(seed), tmp_path / str(seed) / "backup"
        shutil.copytree(before, target)
        killed(Moment.drawn(random, whole.said), tmp_path / "home", "copy", target)
        for number in range(2):
            restored = tmp_path / str(seed) / f"restored{number}"
            restore(target, restored, at=None, replace=False, now=NOW, progress=lambda *_: None)
            assert life.stored(database_of(restored)) == life.stored(database_of(tmp_path / "home"))
            backed_up(tmp_path / "home", target)
    assert disagreements(database_of(tmp_path / "home")) == []
