"""Records that come one by one, as live mail does: a search reads few blocks of words, and answers the same."""

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pdpp_server.store.engines.postgres import index
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import Chats
from tests.scenarios.resource_server.writes import OwnersTools, deletion, envelope
from tests.scenarios.store.test_engines import SEALED
from tests.worlds.postgres import Cluster

RECORDS, SHARED = 30, 12
SEARCHES = [
    "/v1/search?q=walrus&limit=100",
    "/v1/search?q=walrus%20only7",
    '/v1/search?q="walrus%20clause"',
    "/v1/search?q=wal*%20-clause&limit=100",
    "/v1/search?q=only1*&limit=100",
    "/v1/search?q=corrected",
]
BLOCKS = "select batch, first, last, places from words where term = 'walru'"  # as its stem


def post(number: int) -> dict[str, Any]:
    """Of one day or another, so that they come in no order of days."""
    day = Random(number).randrange(1, 15)
    said = f"walrus {'clause' if number % 3 else 'and clause'} only{number}"
    return envelope(f"n{number}", said, sent_at=f"2026-11-{day:02}T08:00:00Z")


def answered(chats: Chats, deliveries: Iterable[list[dict[str, Any]]]) -> list[bytes]:
    """What two tokens find after deliveries; without what is sealed or new each time."""
    with chats.serving() as api:
        for lines in deliveries:
            assert OwnersTools(api).post("messages", *lines).status_code == 200
        answers = [api.get(path, token=token).content for path in SEARCHES for token in ("tok_client", "tok_owner")]
    return [SEALED.sub(b"", answer) for answer in answers]


@requirement("store.engines.same-answers", "store.erasure.index")
def test_what_came_one_by_one_shares_its_blocks_and_is_found_and_erased_as_ever(
    postgres: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "SHARED_RECORDS", SHARED)
    here, there = Chats(tmp_path / "here"), Chats(tmp_path / "there", postgres.open(tmp_path / "there"))
    came = [[post(number)] for number in range(RECORDS)]

    assert answered(there, came) == answered(here, came)
    with there.services.database.reading() as reading:
        blocks = reading.rows(BLOCKS)
    assert len(blocks) == -(-RECORDS // SHARED)
    assert [places.count("[") for *_, places in blocks] == [2] * len(blocks), "each is one run"

    changed = [[deletion("n7")], [envelope("n1", "corrected")], [deletion("n12"), deletion("n20")]]
    assert answered(there, changed) == answered(here, changed)
    with there.services.database.reading() as reading:
        terms = {term for (term,) in reading.rows("select term from words")}
        held = {rid for (rid,) in reading.rows("select rid from records where data like '%walrus%'")}
        found = [(first, last, index.runs([places])[0].rids) for _, first, last, places in reading.rows(BLOCKS)]
    assert not terms & {"only7", "only1", "only12", "only20"}
    assert {rid for *_, rids in found for rid in rids} == held
    assert all((first, last) == (min(rids), max(rids)) for first, last, rids in found), "none ends where nothing is"
    for chats in (here, there):
        chats.services.close()


@requirement("store.engines.same-answers")
def test_what_came_together_and_what_came_alone_is_ranked_alike(postgres: Cluster, tmp_path: Path) -> None:
    together, alone = (Chats(tmp_path / name, postgres.open(tmp_path / name)) for name in ("together", "alone"))
    came = [post(number) for number in range(index.FEW_RECORDS + 1)]

    found = answered(together, [came])
    assert answered(alone, [[line] for line in came]) == found
    for chats in (together, alone):
        chats.services.close()
