"""A file of your own becomes a connection whose records can be read; nothing of it is lost in silence."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from pdpp_server.errors import InvalidDeclaration
from pdpp_server.importers import ndjson
from pdpp_server.importers.ndjson import import_ndjson
from pdpp_server.model.ingest import Receipt
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.world import World

GOOD: list[dict[str, Any]] = [
    {"stream": "messages", "data": {"id": "n1", "text": "Alpenglow over the lake", "sent_at": "2026-02-01T00:00:00Z"}},
    {"stream": "messages", "key": "n2", "data": {"id": "n2", "text": "Second"}, "emitted_at": "2026-02-02T00:00:00Z"},
    {"stream": "channels", "key": ["team", "1"], "data": {"team": "team", "number": 1, "topic": "Alpenglow"}},
]
Import = Callable[..., Receipt]


@pytest.fixture
def bring(world: World, tmp_path: Path) -> Import:
    def bring(*lines: Any, name: str = "Notes") -> Receipt:
        path = tmp_path / "mine.ndjson"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines))
        return import_ndjson(path, world.owner.writer(chat.DECLARATION, name), lambda _done, _receipt: None)

    return bring


def reader_of(world: World, name: str = "Notes"):
    connection_id = world.owner.writer(chat.DECLARATION, name).connection_id
    token = world.grant(*({"name": stream, "instance_ids": [connection_id]} for stream in ("messages", "channels")))
    return world.reader_of(token)


@requirement("imp.ndjson.own-data")
def test_a_file_becomes_a_connection_whose_records_can_be_read(bring: Import, world: World) -> None:
    receipt = bring(*GOOD)

    assert receipt == Receipt(3, 0, ())
    reader = reader_of(world)
    assert {hit.id.key for hit in reader.search(SearchQuery("alpenglow")).value.hits} == {"n1", '["team","1"]'}
    assert reader.fetch(FetchQuery("messages", "n2")).value.emitted_at == "2026-02-02T00:00:00Z"
    assert [source.name for source in world.owner.sources()][-1] == "Notes"


@requirement("imp.ndjson.again")
def test_the_same_file_again_stores_nothing_twice(bring: Import, world: World) -> None:
    bring(*GOOD)
    before = world.owner.sources()

    assert bring(*GOOD) == Receipt(0, 3, ())
    assert bring(GOOD[0] | {"data": {**GOOD[0]["data"], "text": "Changed"}}, *GOOD[1:]) == Receipt(1, 2, ())
    assert [source.streams for source in world.owner.sources()] == [source.streams for source in before]


@requirement("imp.ndjson.rejected-lines")
def test_bad_lines_are_told_with_their_place_and_the_others_are_imported(bring: Import, world: World) -> None:
    receipt = bring(
        GOOD[0],
        b"",
        b"{broken",
        b'{"stream":"messages","data":{"id":"\xff"}}',
        {"stream": "messages", "data": {"id": 7}},
        {"stream": "messages", "key": "x", "data": {"id": "y"}},
        {"stream": "nowhere", "data": {}},
        b'{"stream":"messages","data":{"id":"big","likes":18446744073709551616}}',
        GOOD[1],
    )

    assert receipt.accepted == 2
    told = {(rejection.place, rejection.code) for rejection in receipt.rejected}
    assert told == {
        ("mine.ndjson:3", "malformed_ndjson"),
        ("mine.ndjson:4", "invalid_utf8"),
        ("mine.ndjson:5", "invalid_record"),
        ("mine.ndjson:6", "invalid_record_identity"),
        ("mine.ndjson:7", "invalid_record"),
        ("mine.ndjson:8", "invalid_record"),
    }
    notes = world.owner.sources()[-1]
    assert notes.rejected == 6
    assert {(r.place, r.code) for r in world.owner.rejections(notes.connection_id)} == told


@requirement("imp.ndjson.rejected-lines", "store.ingest.rejections")
def test_a_mended_file_leaves_no_old_rejection_behind(bring: Import, world: World) -> None:
    bring(GOOD[0], b"{broken")

    bring(GOOD[0], GOOD[1])

    assert world.owner.sources()[-1].rejected == 0


@requirement("store.ingest.append-only", "imp.ndjson.rejected-lines")
def test_a_changed_line_of_an_append_only_stream_is_rejected_and_the_first_stays(bring: Import, world: World) -> None:
    bring(*GOOD)

    receipt = bring({**GOOD[2], "data": {**GOOD[2]["data"], "topic": "Other"}})

    assert [(r.place, r.code) for r in receipt.rejected] == [("mine.ndjson:1", "invalid_record")]
    assert reader_of(world).fetch(FetchQuery("channels", '["team","1"]')).value.data["topic"] == "Alpenglow"


@requirement("imp.ndjson.own-data")
def test_a_file_of_many_batches_is_whole_and_tells_its_progress(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ndjson, "BATCH_RECORDS", 10)
    path = tmp_path / "many.ndjson"
    lines = [
        orjson.dumps({"stream": "messages", "data": {"id": f"n{i % 95}", "text": f"number {i}"}}) for i in range(100)
    ]
    path.write_bytes(b"\n".join(lines))
    told: list[tuple[int, int]] = []

    receipt = import_ndjson(
        path, world.owner.writer(chat.DECLARATION, "Many"), lambda done, receipt: told.append((done, receipt.accepted))
    )

    assert receipt.accepted == 100  # five of them changed earlier ones
    assert told == sorted(told)
    assert told[-1] == (path.stat().st_size, 100)
    assert world.owner.sources()[-1].streams[-1].records == 95


@pytest.mark.parametrize(
    "reference", ["https://example.org/schema.json", "file:///etc/passwd", "other.json#/x", "//host/x"]
)
@requirement("imp.ndjson.bad-declaration", "store.declarations.local-references")
def test_a_declaration_that_refers_outside_itself_is_refused(reference: str) -> None:
    document = deepcopy(chat.DOCUMENT)
    document["streams"][0]["schema"]["properties"]["text"] = {"$ref": reference}

    with pytest.raises(InvalidDeclaration, match="is no fragment of this schema"):
        decode_declaration(document)


@requirement("imp.ndjson.rejected-lines")
def test_rejected_lines_are_listed_in_the_order_of_the_file(world: World, tmp_path: Path) -> None:
    lines = ["not JSON", '{"stream":"messages","data":{"id":5}}'] * 6  # refused while reading, and while storing
    path = tmp_path / "mixed.ndjson"
    path.write_text("\n".join(lines), encoding="utf-8")
    writer = world.owner.writer(chat.DECLARATION, "Mixed")

    receipt = import_ndjson(path, writer, lambda *_: None)

    places = [f"mixed.ndjson:{number}" for number in range(1, 13)]
    assert [rejection.place for rejection in receipt.rejected] == places
    assert [rejection.place for rejection in world.owner.rejections(writer.connection_id)] == places
