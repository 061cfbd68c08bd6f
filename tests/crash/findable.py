"""What is stored can be read: as a page, by its key and by its words; and what is gone cannot."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import orjson
import pytest

from pdpp_server.errors import NotFound
from pdpp_server.model.queries import FetchQuery, RecordsQuery, SearchQuery
from pdpp_server.model.records import Record
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import Services, open_services
from pdpp_server.store.upkeep import check
from pdpp_server.wire.grants import decode_selection
from tests.crash.life import Key, State, words_of
from tests.worlds import chat
from tests.worlds.told import ToldReader
from tests.worlds.world import NOW, close

ASKED = 6  # of each kind


def require_findable(home: Path, state: State, gone: State, random: Random) -> None:
    """Asked of a copy, so that a grant for the asking changes nothing."""
    copy = home.with_name("asked")
    shutil.copytree(home, copy)
    services = open_services(copy, now=lambda: NOW)
    try:
        owner = Owner(services, copy)
        _require_sound(services)
        if owner.sources():
            details = [chat.detail(*({"name": name} for name in ("messages", "channels")))]
            reader = ToldReader(
                LocalReader(services, owner.create_grant(decode_selection(details), "Agent", None).token)
            )
            _require_pages(reader, state)
            _require_found(reader, state, random)
            _require_gone(reader, state, gone, random)
            assert {verdict.state for verdict in owner.verify_activity()} <= {"intact", "torn"}
        else:
            assert state == {}
    finally:
        close(services)
        shutil.rmtree(copy)


def _require_sound(services: Services) -> None:
    """By what `pdpp doctor` asks."""
    with services.database.reading() as reading:
        assert check.damage(reading) + check.words_damage(reading) + check.miscounted_streams(reading) == []
        assert check.dangling_rows(reading) + check.miscounted_days(reading) + check.broken_history(reading) == 0
        assert check.unerased_versions(reading) == 0


def _require_pages(reader: ToldReader, state: State) -> None:
    read = {name: text for stream in ("messages", "channels") for name, text in _pages(reader, stream)}
    assert read == dict(state)


def _pages(reader: ToldReader, stream: str) -> Iterator[tuple[Key, str]]:
    query = RecordsQuery(stream, limit=40)
    while True:
        page = reader.query_records(query).value
        for record in page.records:
            assert isinstance(record, Record)
            yield (stream, record.id.key), orjson.dumps(record.data, option=orjson.OPT_SORT_KEYS).decode()
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


def _require_found(reader: ToldReader, state: State, random: Random) -> None:
    for name in random.sample(sorted(state), min(ASKED, len(state))):
        stream, key = name
        assert reader.fetch(FetchQuery(stream, key)).value.data == orjson.loads(state[name])
        for word in words_of(state[name]):
            assert (stream, key) in {(hit.id.stream, hit.id.key) for hit in reader.search(SearchQuery(word)).value.hits}


def _require_gone(reader: ToldReader, state: State, gone: State, random: Random) -> None:
    there = {word for text in state.values() for word in words_of(text)}
    for name in random.sample(sorted(gone), min(ASKED, len(gone))):
        if name not in state:
            with pytest.raises(NotFound):
                reader.fetch(FetchQuery(*name))
        for word in {*words_of(gone[name])} - there:
            assert reader.search(SearchQuery(word)).value.hits == ()
