"""What was asked: kept for the owner, sealed, outside of the log, and gone with what it could have been asked of."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pdpp_server.model.activity import Asked
from pdpp_server.model.queries import Condition, RecordsQuery, SearchQuery, WindowQuery
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from tests.engine.beneath import forget_key
from tests.requirements import requirement
from tests.worlds.kept import Kept, backed_up, lived, restored
from tests.worlds.told import ToldReader
from tests.worlds.world import Clock, World, close

WORDS = "walrus clause"


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Kept]:
    with lived(tmp_path / "home") as kept:
        yield kept


def asked(owner: Owner) -> dict[str, Asked]:
    return owner.asked(owner.activity())


@requirement("log.asked.kept")
def test_the_owner_sees_the_words_of_searches_windows_and_filters(world: World) -> None:
    search = world.reader.search(SearchQuery(WORDS))
    window = world.reader.read_record_field(WindowQuery("messages", "m2", "text", world.work, q="lease"))
    filtered = RecordsQuery("messages", world.work, conditions=(Condition("author", "eq", "Ada"),))
    records = world.reader.query_records(filtered)
    plain = world.reader.query_records(RecordsQuery("messages", world.work))
    assert all(each.value for each in (search, window, records, plain))

    found = asked(world.owner)

    assert found.keys() == {search.request_id, window.request_id, records.request_id}
    assert found[search.request_id].words == WORDS
    assert found[window.request_id].words == "lease"
    assert found[records.request_id].conditions == (("author", "eq", "Ada"),)


@requirement("log.asked.kept")
def test_no_byte_of_the_home_holds_the_words_in_the_clear(world: World) -> None:
    assert world.reader.search(SearchQuery("xylophone zeppelin")).value.hits == ()
    assert asked(world.owner)

    held = [path.read_bytes() for path in world.home.rglob("*") if path.is_file()]

    assert not any(b"xylophone" in each or b"zeppelin" in each for each in held)


@requirement("log.asked.kept")
def test_a_month_has_a_key_of_its_own_without_which_nobody_reads_it(world: World) -> None:
    november = world.reader.search(SearchQuery(WORDS))
    assert november.value
    world.clock.moment = world.clock.moment.replace(month=12)
    december = world.reader.search(SearchQuery(WORDS))
    assert december.value

    forget_key(world.services.database, "asked-2026-11.key")

    assert asked(world.owner).keys() == {december.request_id}


@requirement("log.asked.kept")
def test_what_the_owner_asks_is_not_kept(world: World) -> None:
    token = world.owner.preview_token(world.grant_id)
    assert ToldReader(LocalReader(world.services, token)).search(SearchQuery(WORDS)).value

    assert asked(world.owner) == {}


@requirement("log.asked.off")
def test_the_setting_turns_it_off(world: World) -> None:
    close(world.services)
    services = open_services(world.home, now=Clock(), keep_asked=False)
    owner = Owner(services, world.home)
    assert ToldReader(LocalReader(services, world.token)).search(SearchQuery(WORDS)).value
    assert asked(owner) == {}
    assert not (world.home / "asked.sqlite").exists()
    close(services)


@requirement("log.asked.erased")
def test_a_removed_source_takes_along_what_was_asked_of_it(world: World) -> None:
    both = world.reader.search(SearchQuery(WORDS))
    family = world.reader.search(SearchQuery(WORDS, connection_id=world.family))
    assert both.value
    assert family.value

    world.owner.remove_source(world.work)

    assert asked(world.owner).keys() == {family.request_id}


@requirement("log.asked.kept")
def test_words_that_cannot_be_kept_stop_no_answer(world: World) -> None:
    (world.home / "asked.sqlite").mkdir()

    assert world.reader.search(SearchQuery("lease")).value.hits
    assert len(world.owner.activity()) == 1


@pytest.mark.sqlite("copies the files of a home")
@requirement("store.backup.asked")
def test_a_backup_holds_what_was_asked(life: Kept, tmp_path: Path) -> None:
    told = life.world.reader.search(SearchQuery(WORDS))
    assert told.value
    backed_up(life.home, tmp_path / "backup")

    restored(tmp_path / "backup", tmp_path / "again")

    services = open_services(tmp_path / "again", now=Clock())
    assert asked(Owner(services, tmp_path / "again"))[told.request_id].words == WORDS
    close(services)
