"""Two processes that write: each waits for the other, for so long and no longer."""

from pathlib import Path

import apsw
import pytest

from pdpp_server.errors import IngestStorageError
from pdpp_server.model.queries import FetchQuery
from pdpp_server.store.engines.sqlite import db
from tests.crash import life
from tests.crash.agree import disagreements
from tests.crash.killing import BEGIN, Child, Run, undisturbed
from tests.requirements import requirement
from tests.worlds.chat import WORK, message
from tests.worlds.world import Clock, build, close

pytestmark = pytest.mark.sqlite("locks the file of a home")


@requirement("store.writers.two")
def test_a_second_writer_waits_for_the_first_and_nothing_of_either_is_lost(home: Path, tmp_path: Path) -> None:
    said = undisturbed(tmp_path / "alone", "write", "1").said
    inside = [at for at, point in enumerate(said, start=1) if bytes([point]) == BEGIN][4] + 2
    first = Child(home, "write", "1", halt=inside)
    assert first.listen(inside)
    assert Run(first.said, True, "").where == "in a transaction"
    second = Child(home, "write", "1")
    while not second.said.endswith(BEGIN):
        assert second.listen(len(second.said) + 1)
    first.go_on()

    runs = [first.end(), second.end()]

    states = life.states(life.batches(life.lines(1)))
    assert [(run.was_killed, run.done) for run in runs] == [(False, len(states) - 1)] * 2
    assert life.stored(home / "pdpp.sqlite") == states[-1]
    assert disagreements(home / "pdpp.sqlite") == []


@requirement("store.writers.wait-ends")
def test_a_writer_that_waited_too_long_is_refused_and_readers_never_wait(
    home: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "BUSY_TIMEOUT_MS", 20)
    world = build(home, clock)
    other = apsw.Connection(str(home / "pdpp.sqlite"))
    other.execute("begin immediate")

    with pytest.raises(IngestStorageError) as refused:
        world.deliver(WORK, [message("m9", text="late")])
    assert "wait for the other writer" in refused.value.remedy
    assert world.reader.fetch(FetchQuery("messages", "m3", world.work)).value.data["text"] == "Lunch at noon?"

    other.execute("rollback")
    assert world.deliver(WORK, [message("m9", text="late")]).accepted == 1
    other.close()
    close(world.services)
