"""Declarations are kept for ever, connections keep their id, and stored records are never reinterpreted."""

import re
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from pdpp_server.errors import (
    AmbiguousConnectorInstance,
    ConnectorInstanceNotFound,
    ConnectorInvalid,
    InvalidDeclaration,
    PdppError,
)
from pdpp_server.model.ingest import RefusedLine, Rejection
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery
from pdpp_server.store.records import sources
from pdpp_server.store.records.connection_ids import connection_id_of
from pdpp_server.store.records.sources import finish_delivery, list_rejections, resolve_connection
from pdpp_server.wire.declarations import decode_declaration
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.chat import WORK, deletion, message
from tests.worlds.world import World


def changed(version: str = "2", **of_messages: Any) -> Any:
    document = deepcopy(chat.DOCUMENT)
    document["declaration_version"] = version
    document["streams"][0] |= of_messages
    return decode_declaration(document)


@requirement("store.connections.stable-id")
def test_the_same_account_always_has_the_same_connection(world: World) -> None:
    again = world.owner.writer(chat.DECLARATION, WORK).connection_id

    assert again == world.work != world.family
    connector = chat.DECLARATION.source
    with world.services.database.reading() as reading:
        assert again == connection_id_of(reading, connector, WORK, subject="owner_local")
        for source, subject in (
            (replace(connector, id=f"{connector.id}ter"), "owner_local"),
            (replace(connector, kind="provider_native"), "owner_local"),
            (connector, "somebody"),
        ):
            assert connection_id_of(reading, source, WORK, subject=subject) != again


@requirement("store.connections.short-id")
def test_a_new_connection_is_called_by_its_connector_and_five_letters(world: World) -> None:
    assert re.fullmatch(r"chat-[2-9a-hjkmnp-z]{5}", world.work)

    address = replace(chat.DECLARATION.source, id="https://data.example/My Source/v1?x=1")
    with world.services.database.reading() as reading:
        made = connection_id_of(reading, address, WORK, subject="owner_local")
    assert re.fullmatch(r"data-example-my-source-v1-x-1-[2-9a-hjkmnp-z]{5}", made)


@requirement("store.connections.short-id")
def test_an_id_that_another_account_has_or_had_is_lengthened(world: World) -> None:
    digest = "f" * 64
    with world.services.database.writing() as writer:
        taken = connection_id_of(writer, chat.DECLARATION.source, "third", subject="owner_local")
        writer.run("insert into connection_names(connection_id, digest) values(?, ?)", (taken, digest))

    longer = world.owner.writer(chat.DECLARATION, "third").connection_id

    assert longer[:-1] == taken
    assert world.owner.writer(chat.DECLARATION, "third").connection_id == longer


@requirement("store.connections.short-id")
def test_a_connection_from_before_keeps_its_long_id(world: World) -> None:
    with world.services.database.writing() as writer:
        named = "\n".join(("owner_local", "chat", "connector", WORK))
        old = f"cin_{sha256(named.encode()).hexdigest()[:24]}"
        writer.run("update connections set connection_id = ? where connection_id = ?", (old, world.work))
        writer.run("update layout set generation = generation + 1")

    assert world.owner.writer(chat.DECLARATION, WORK).connection_id == old


@requirement("store.declarations.equivocation")
def test_the_same_version_with_other_content_is_refused_and_the_first_stays(world: World) -> None:
    with pytest.raises(InvalidDeclaration, match="already declared something else"):
        world.owner.writer(changed("1", display={"label": "Other"}), WORK)

    assert world.reader.fetch(FetchQuery("messages", "m1", world.work)).value.data["author"] == "Ada"
    assert world.owner.writer(chat.DECLARATION, WORK).connection_id == world.work


@requirement("store.declarations.snapshot", "grants.permit.frozen")
def test_a_newer_declaration_adds_nothing_to_an_old_grant(world: World) -> None:
    schema = deepcopy(chat.DOCUMENT["streams"][0]["schema"])
    schema["properties"]["diary"] = {"type": "string"}
    schema["required"] = ["id", "diary"]
    newer = changed(schema=schema, query={"search": {"lexical_fields": ["diary", "text"]}})

    receipt = world.owner.writer(newer, WORK).deliver([message("m9", text="Hello", diary="A secret")])

    assert receipt.accepted == 1
    reader = world.reader
    assert dict(reader.fetch(FetchQuery("messages", "m9", world.work)).value.data) == {"id": "m9", "text": "Hello"}
    assert reader.search(SearchQuery("secret")).value.hits == ()
    assert [hit.id.key for hit in reader.search(SearchQuery("hello")).value.hits] == ["m9"]
    entries = {entry.stream.name: entry for entry in reader.schema(SchemaQuery()).value.entries}
    assert "diary" not in entries["messages"].stream.fields


@requirement("store.index.same-transaction")
def test_what_a_newer_declaration_makes_findable_is_found_in_old_records(world: World) -> None:
    newer = changed(query={"search": {"lexical_fields": ["author", "text"]}})
    assert world.reader.search(SearchQuery("cleo")).value.hits == ()

    world.owner.writer(newer, WORK)

    token = world.grant({"name": "messages", "instance_ids": [world.work]})
    assert [hit.id.key for hit in world.reader_of(token).search(SearchQuery("cleo")).value.hits] == ["m4"]
    assert [hit.id.key for hit in world.reader_of(token).search(SearchQuery("lunch")).value.hits] == ["m3"]


@pytest.mark.parametrize(
    "layout",
    [
        {"consent_time_field": "edited_at", "cursor_field": "edited_at"},
        {"primary_key": ["author"]},
    ],
    ids=["time", "key"],
)
@requirement("grants.permit.frozen")
def test_a_declaration_that_would_reinterpret_stored_records_is_refused(layout: dict[str, Any], world: World) -> None:
    schema = deepcopy(chat.DOCUMENT["streams"][0]["schema"])
    schema["properties"]["edited_at"] = {"type": "string", "format": "date-time"}
    bounded = world.grant(world.both("messages", time_range={"since": "2026-05-01"}))

    with pytest.raises(InvalidDeclaration, match="holds records by"):
        world.owner.writer(changed(schema=schema, query={}, **layout), WORK)

    assert world.reader_of(bounded).search(SearchQuery("lease")).value.hits == ()
    assert world.deliver(WORK, [message("m9", text="As before.")]).accepted == 1


def test_an_empty_stream_may_be_declared_anew(world: World) -> None:
    schema = deepcopy(chat.DOCUMENT["streams"][0]["schema"])
    schema["properties"]["edited_at"] = {"type": "string", "format": "date-time"}

    world.owner.writer(chat.DECLARATION, "Empty")
    writer = world.owner.writer(changed(schema=schema, query={}, consent_time_field="edited_at"), "Empty")

    assert writer.deliver([message("m9", edited_at="2026-01-01T00:00:00Z")]).accepted == 1


def test_a_failed_adoption_leaves_no_trace_in_what_readers_know(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from pdpp_server.owner import writer as port

    def crash(*_: object) -> None:
        raise KeyError

    rebuild = port.rebuild_words
    monkeypatch.setattr(port, "rebuild_words", lambda *asked: (rebuild(*asked), crash()))
    with pytest.raises(KeyError):
        world.owner.writer(changed(query={"search": {"lexical_fields": ["author"]}}), WORK)
    monkeypatch.undo()

    world.owner.writer(changed("3", query={"search": {"lexical_fields": ["text"]}}), WORK)
    assert [hit.id.key for hit in world.reader.search(SearchQuery("lunch", streams=("messages",))).value.hits] == ["m3"]


def test_the_rejections_of_the_last_run_of_a_file_are_the_ones_that_stand(world: World) -> None:
    writer = world.owner.writer(chat.DECLARATION, WORK)
    writer.finish("a.ndjson", [Rejection("a.ndjson:1", "x", "bad"), Rejection("a.ndjson:2", "x", "bad")])
    writer.finish("b.ndjson", [Rejection("b.ndjson:1", "x", "bad")])

    writer.finish("a.ndjson", [Rejection("a.ndjson:2", "x", "still bad")])

    assert [(r.place, r.reason) for r in world.owner.rejections(world.work)] == [
        ("a.ndjson:2", "still bad"),
        ("b.ndjson:1", "bad"),
    ]


def test_sources_tell_what_there_is(world: World) -> None:
    world.deliver(WORK, [deletion("m5")])

    work, family = world.owner.sources()

    assert (work.name, work.connector_key, work.rejected) == (WORK, "chat", 0)
    assert {stream.name: stream.records for stream in work.streams} == {"messages": 4, "channels": 2}
    assert {stream.name: stream.records for stream in family.streams} == {"messages": 2, "channels": 1}


def test_when_records_without_a_time_were_stored_is_not_their_time(world: World) -> None:
    work, _ = world.owner.sources()

    spans = {stream.name: (stream.earliest is not None, stream.latest is not None) for stream in work.streams}
    assert spans == {"messages": (True, True), "channels": (False, False)}


@requirement("rs.ingest.routing")
@pytest.mark.parametrize(
    ("connector_key", "connection_id", "refusal"),
    [
        ("nothing", None, ConnectorInvalid),
        ("nothing", "{work}", ConnectorInvalid),
        ("chat", "cin_never", ConnectorInstanceNotFound),
        ("chat", None, AmbiguousConnectorInstance),
    ],
)
def test_a_connection_that_cannot_be_told_is_refused(
    world: World, connector_key: str, connection_id: str | None, refusal: type[PdppError]
) -> None:
    named = connection_id and connection_id.format(work=world.work)
    with world.services.database.reading() as reading, pytest.raises(refusal) as refused:
        resolve_connection(reading.layout, connector_key, named)

    offered = {candidate.connection_id for candidate in refused.value.candidates}
    assert offered == ({world.work, world.family} if refusal is AmbiguousConnectorInstance else set())


@requirement("rs.ingest.routing")
def test_the_only_connection_of_a_connector_need_not_be_named(world: World) -> None:
    world.owner.remove_source(world.work)

    with world.services.database.reading() as reading:
        assert resolve_connection(reading.layout, "chat", None).origin.connection_id == world.family


@requirement("rs.ingest.receipts")
def test_of_lines_that_came_over_http_the_newest_receipts_are_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "RECEIPTS_KEPT", 2)
    world.owner.writer(chat.DECLARATION, WORK).finish("file", [Rejection("file:1", "invalid_record", "why")])
    with world.services.database.writing() as writer:
        number = world.services.database.layouts.of(writer).connections[world.work].number
        for day in (1, 2, 3):
            refused = [RefusedLine(0, "invalid_record", "why", f"rej_{day}")]
            finish_delivery(writer, number, "messages", refused, f"2026-11-0{day}T00:00:00.000Z")

    with world.services.database.reading() as reading:
        places = [rejection.place for rejection in list_rejections(reading, world.work)]
    assert places == ["file:1", "ingest/messages/rej_2", "ingest/messages/rej_3"]


@requirement("store.removal.again")
def test_the_number_of_a_removed_declaration_is_never_given_again(world: World) -> None:
    numbers = list[int]()
    for version in ("1", "2"):
        document = {**chat.DOCUMENT, "source": {"kind": "connector", "id": "https://example.org/x"}}
        writer = world.owner.writer(decode_declaration({**document, "declaration_version": version}), "X")
        with world.services.database.reading() as reading:
            numbers.append(reading.layout.connections[writer.connection_id].declaration)
        world.owner.remove_source(writer.connection_id)

    assert numbers[0] < numbers[1]
    with world.services.database.reading() as reading:
        assert reading.one("select count(*) from declarations") == 1
