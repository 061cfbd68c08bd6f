"""Somebody else's server: read as far as it goes, and refused in its own words."""

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from pdpp_server.errors import InvalidRequest, NotFound, PdppError, PermissionDenied, SourceUnavailable
from pdpp_server.model.queries import (
    AggregateQuery,
    Condition,
    FetchQuery,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    WindowQuery,
)
from pdpp_server.model.records import Record, RecordId, Tombstone
from pdpp_server.port.network import NetworkReader
from tests.requirements import requirement
from tests.scenarios.mcp.agents import agent_on
from tests.worlds.foreign import CONNECTION, TASKS, TOKEN, Foreign, hit
from tests.worlds.served import network, served


@contextmanager
def read_from(foreign: Foreign) -> Generator[NetworkReader]:
    with served(foreign.app()) as address, network(address) as reader_of:
        yield reader_of(TOKEN)


@requirement("mcp.schema.asks-compact", "port.network.kind-asked")
def test_the_compact_schema_is_asked_for_with_the_stream() -> None:
    foreign = Foreign()
    with read_from(foreign) as reader:
        agent = agent_on(reader)
        agent.call("schema")
        agent.call("schema", stream="tasks")

    assert foreign.asked == ["/v1/schema?view=compact", "/v1/schema?view=compact&stream=tasks"]


@requirement("mcp.schema.foreign-fallback", "port.network.foreign-shapes")
@pytest.mark.parametrize("compact", ["ignored", "refused"])
@pytest.mark.parametrize("arguments", [{}, {"stream": "tasks"}, {"connection_id": CONNECTION}])
def test_without_a_compact_view_the_same_schema_is_shown(compact: Any, arguments: dict[str, str]) -> None:
    with read_from(Foreign()) as knows, read_from(Foreign(compact)) as lacks:
        known, lacking = (agent_on(reader).call("schema", **arguments) for reader in (knows, lacks))

    assert lacking.text == known.text
    assert {**lacking.structured, "request_id": ""} == {**known.structured, "request_id": ""}
    assert "tasks" in known.text


@requirement("port.network.foreign-shapes", "ev.titles.foreign-hit")
def test_a_hit_without_title_and_proof_is_named_by_its_source_and_time() -> None:
    with read_from(Foreign()) as reader:
        first, second = reader.search(SearchQuery("gate")).value.hits
        shown = agent_on(reader).call("search", query="gate")

    assert first.id == RecordId(CONNECTION, "tasks", "t-1")
    assert (first.authored_at, second.authored_at) == (None, "2026-10-09T08:00:00Z")
    assert [result["title"] for result in shown.structured["results"]] == [
        "My tasks / tasks",
        "My tasks / tasks / 2026-10-09",
    ]


@requirement("ev.titles.foreign-hit")
def test_a_hits_own_title_and_time_win_and_no_other_name_counts() -> None:
    named = hit("t-1", title="The gate", authored_at="2026-01-01T00:00:00Z", subject="No", name="No", created_at="No")
    with read_from(Foreign(hits=[named, hit("t/2", subject="No", created_at="2020-01-01T00:00:00Z")])) as reader:
        shown = agent_on(reader).call("search", query="gate").structured["results"]

    assert [result["title"] for result in shown] == ["The gate", "My tasks / tasks"]


HANDLE = f"{CONNECTION}/tasks:t%2F2"


def uri(key: str) -> str:
    body = {"v": 1, "kind": "record", "connection_id": CONNECTION, "stream": "tasks", "record_id": key}
    return "pdpp://record/" + base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")


@requirement("mcp.search.foreign-record-uri", "mcp.search.foreign-ids")
@pytest.mark.parametrize(
    "named",
    [{"record_uri": uri("t/2")}, {"result_id": f"{CONNECTION}/tasks:t%2F2"}, {"id": f"{CONNECTION}/tasks:t%2F2"}],
)
def test_a_hit_that_is_named_by_a_handle_is_shown_and_opened_by_it(named: dict[str, str]) -> None:
    bare = {"object": "search_result", "emitted_at": "2026-11-01T00:00:00.000Z", **named}
    with read_from(Foreign(hits=[bare])) as reader:
        agent = agent_on(reader)
        (result,) = agent.call("search", query="gate").structured["results"]
        opened = agent.call("fetch", id=result["id"])

    assert result["id"] == HANDLE
    assert "Paint the gate green" in opened.text


@requirement("port.network.foreign-shapes")
def test_records_named_by_the_old_alias_are_read() -> None:
    with read_from(Foreign()) as reader:
        found = reader.fetch(FetchQuery("tasks", "t/2")).value
        page = reader.query_records(RecordsQuery("tasks", CONNECTION)).value
        counted = reader.aggregate(AggregateQuery("tasks", group_by_time="due", granularity="month")).value

    assert (found.id, found.data, found.origin.connector_key) == (
        RecordId(CONNECTION, "tasks", "t/2"),
        TASKS["t/2"],
        "tracker",
    )
    assert [(type(one), one.id.connection_id) for one in page.records] == [
        (Record, CONNECTION),
        (Record, CONNECTION),
        (Tombstone, CONNECTION),
    ]
    assert [(group.key, group.count) for group in counted.groups or ()] == [("2026-10-01", 2)]


@requirement("port.network.foreign-refusals")
def test_what_it_refuses_is_refused_in_its_words() -> None:
    due = (Condition("due", "gte", "2026-10-02"),)
    with read_from(Foreign()) as reader:
        with pytest.raises(InvalidRequest) as filtered:
            reader.query_records(RecordsQuery("tasks", conditions=due))
        with pytest.raises(NotFound) as windowed:
            reader.read_record_field(WindowQuery("tasks", "t-9", "what", CONNECTION))

    refusal = filtered.value
    assert (refusal.code, refusal.param, refusal.message) == (
        "invalid_request",
        "filter",
        "Client tokens cannot filter.",
    )
    assert (refusal.request_id, windowed.value.message) == ("req_theirs", "Route not found")


@requirement("port.network.kind-asked")
@pytest.mark.parametrize(
    ("kind", "refusal"),
    [("owner", PermissionDenied), ("trusted_owner_agent", PermissionDenied), (None, SourceUnavailable)],
)
def test_only_a_clients_token_reads(kind: str | None, refusal: type[PdppError]) -> None:
    foreign = Foreign(kind=kind)
    with read_from(foreign) as reader:
        for read in (
            lambda: reader.search(SearchQuery("gate")),
            lambda: reader.schema(SchemaQuery()),
            lambda: reader.schema(SchemaQuery("tasks")),
            lambda: reader.fetch(FetchQuery("tasks", "t-1", CONNECTION)),
        ):
            with pytest.raises(refusal):
                read()

    assert {path.partition("?")[0] for path in foreign.asked} == {"/v1/schema"}


@requirement("port.network.token-stays")
def test_every_question_carries_the_token_and_who_asks_and_no_more() -> None:
    foreign = Foreign()
    with read_from(foreign) as reader:
        answer = reader.search(SearchQuery("gate"))

    first, second = foreign.headers
    assert first["authorization"] == second["authorization"] == f"Bearer {TOKEN}"
    assert (first["pdpp-version"], second["request-id"]) == ("2026-04-06", answer.request_id)
    assert TOKEN not in " ".join(foreign.asked)
