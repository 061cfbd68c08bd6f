"""POST /v1/ingest/{stream}."""

from typing import Any

import apsw
import orjson
import pytest
from psycopg.errors import DiskFull

from pdpp_server.reads import ingest as reads
from pdpp_server.resource_server import ingest as handler
from pdpp_server.store.records.sources import list_rejections
from tests.engine.beneath import is_postgres
from tests.requirements import requirement
from tests.scenarios.resource_server.writes import NDJSON, OwnersTools, deletion, envelope

LINE = orjson.dumps(envelope("n")).decode()


@requirement("rs.ingest.batch")
def test_lines_are_stored_and_found_at_once(tools: OwnersTools) -> None:
    response = tools.post("messages", envelope("new1", "Marzipan"), b"", b"  \r", envelope("new2"))

    assert response.status_code == 200
    assert response.json() == {
        "stream": "messages",
        "records_accepted": 2,
        "records_rejected": 0,
        "errors": [],
        "records_unchanged": 0,
        "records_attempted": 2,
        "rejections": [],
    }
    (hit,) = tools.api.body("/v1/search?q=marzipan")["data"]
    assert (hit["record_key"], hit["connection_id"]) == ("new1", tools.chats.work)
    assert tools.has("new2")
    assert not tools.has("new2", tools.chats.mine)


@requirement("rs.ingest.batch", "store.ingest.rejections", "store.ingest.malformed-lines")
def test_a_bad_line_is_rejected_with_its_number_and_its_code_and_the_others_are_stored(tools: OwnersTools) -> None:
    bad = [b'{"key":', b'{"data":"\xff"}', b"[]", {"key": "a", "data": {"id": "b"}}, {"data": {"id": 7}}]

    body = tools.post("messages", envelope("first"), *bad, envelope("last")).json()

    assert (body["records_accepted"], body["records_rejected"], body["records_attempted"]) == (2, 5, 7)
    assert [(entry["input_index"], entry["code"]) for entry in body["rejections"]] == [
        (1, "malformed_ndjson"),
        (2, "invalid_utf8"),
        (3, "malformed_ndjson"),
        (4, "invalid_record_identity"),
        (5, "invalid_record"),
    ]
    assert len({entry["receipt_id"] for entry in body["rejections"]}) == 5
    assert len(body["errors"]) == 5
    assert tools.has("first")
    assert tools.has("last")


@requirement("rs.ingest.receipts")
def test_a_line_that_is_sent_again_gets_the_same_receipt_and_the_owner_can_look_it_up(tools: OwnersTools) -> None:
    first, again = (tools.post("messages", {"data": {"subject": "x"}}).json()["rejections"] for _ in range(2))

    assert first == again
    with tools.chats.services.database.reading() as reading:
        (kept,) = list_rejections(reading, tools.chats.work)
    assert kept.place == f"ingest/messages/{first[0]['receipt_id']}"
    assert kept.code == "invalid_record"


@requirement("rs.ingest.batch")
@pytest.mark.parametrize(
    "line",
    [
        {"key": "x", "data": {"id": "x", "size": "wormwood"}},
        {"key": "wormwood", "data": {"id": "x"}},
        {"key": "x", "data": {"id": "x"}, "wormwood": 1},
        {"key": "x", "data": {"id": "x"}, "op": "wormwood"},
        {"key": "x", "data": {"id": "x"}, "emitted_at": "wormwood"},
        {"key": "x", "data": {"id": "x"}, "stream": "wormwood"},
        {"id": "x", "subject": "wormwood"},
        b'{"key": "wormwood',
    ],
)
def test_why_a_line_was_rejected_is_said_without_a_word_of_it(tools: OwnersTools, line: Any) -> None:
    response = tools.post("messages", line)

    assert response.json()["records_rejected"] == 1
    assert "wormwood" not in response.text


@requirement("rs.ingest.idempotent")
def test_the_same_lines_again_change_nothing_and_an_append_only_record_is_not_overwritten(tools: OwnersTools) -> None:
    photo = {"key": ["2026-11-02", "1"], "data": {"day": "2026-11-02", "number": 1}}
    other = {"key": ["2026-11-02", "1"], "data": {"day": "2026-11-02", "number": 1, "place": "lake"}}

    for _ in range(2):
        assert tools.post("photos", photo).json()["records_accepted"] == 1

    (refused,) = tools.post("photos", other).json()["rejections"]
    assert refused["code"] == "invalid_record"


@requirement("rs.ingest.routing")
@pytest.mark.parametrize(
    ("stream", "query", "refused"),
    [
        ("messages", "", (400, "invalid_request", "connector_id")),
        ("messages", "connector_id=", (400, "invalid_request", "connector_id")),
        ("messages", "connector_id=nothing", (400, "connector_invalid", "connector_id")),
        ("messages", "connector_id=chats", (409, "ambiguous_connector_instance", "connection_id")),
        ("messages", "connector_id=chats&connection_id=cin_x", (404, "connector_instance_not_found", "connection_id")),
        ("nothing", "{work}", (404, "not_found", "stream")),
        ("messages", "{work}&limit=3", (400, "invalid_request", "limit")),
        ("messages", "{work}&connector_id=chats", (400, "invalid_request", "connector_id")),
        ("messages", "{work}&run_id=a%20b", (400, "invalid_request", "run_id")),
        ("messages", "{work}&connector_instance_id=cin_x", (400, "invalid_argument", "connector_instance_id")),
    ],
)
def test_a_batch_for_nobody_is_refused(tools: OwnersTools, stream: str, query: str, refused: tuple[Any, ...]) -> None:
    path = f"/v1/ingest/{stream}?{query.format(work=tools.work)}"

    assert tools.refusal("POST", path, LINE, Content_Type=NDJSON) == refused
    assert not tools.has("n")


@requirement("rs.ingest.routing")
def test_a_connector_is_named_by_its_key_or_its_address_and_its_connection_by_either_name(tools: OwnersTools) -> None:
    address = "https%3A%2F%2Fregistry.pdpp.dev%2Fconnectors%2Fchats%2F"

    for number, name in enumerate(("connection_id", "connector_instance_id")):
        to = f"connector_id={address}&{name}={tools.chats.mine}"
        assert tools.post("messages", envelope(f"n{number}x"), to=to).json()["records_accepted"] == 1
        assert tools.has(f"n{number}x", tools.chats.mine)


@requirement("rs.ingest.content-type")
@pytest.mark.parametrize("content_type", ["", "application/json", "application/x-www-form-urlencoded", "text/plain"])
def test_a_body_that_is_not_said_to_be_ndjson_is_refused(tools: OwnersTools, content_type: str) -> None:
    path = f"/v1/ingest/messages?{tools.work}"

    assert tools.refusal("POST", path, LINE, Content_Type=content_type) == (400, "invalid_request", "Content-Type")
    assert tools.post("messages", envelope("n"), Content_Type=f"{NDJSON}; charset=utf-8").status_code == 200


@requirement("rs.ingest.limits")
def test_a_body_that_is_too_long_is_refused_with_or_without_its_length(tools: OwnersTools) -> None:
    too_long = b" " * (handler.BODY_BYTES_MAX + 1)
    path = f"/v1/ingest/messages?{tools.work}"

    assert tools.refusal("POST", path, too_long, Content_Type=NDJSON)[:2] == (413, "resource_limit")
    pieces = iter([LINE.encode(), b"\n", too_long])
    assert tools.refusal("POST", path, pieces, Content_Type=NDJSON)[:2] == (413, "resource_limit")
    assert not tools.has("n")
    assert tools.send("POST", path, iter([LINE.encode()]), Content_Type=NDJSON).json()["records_accepted"] == 1


@requirement("rs.ingest.limits")
def test_where_nearly_every_line_is_unfit_nothing_is_stored(
    tools: OwnersTools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "REFUSED_MAX", 3)

    assert tools.post("messages", envelope("n"), *[b"x"] * 4).json()["error"]["code"] == "resource_limit"
    assert not tools.has("n")
    assert tools.post("messages", envelope("n"), *[b"x"] * 3).status_code == 200


@requirement("rs.ingest.limits")
def test_trouble_with_the_disk_stores_nothing_of_the_batch(tools: OwnersTools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reads, "CHUNK_LINES", 1)
    deliver, calls = reads.deliver, list[int]()

    def full_at_the_second(*given: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise DiskFull if is_postgres() else apsw.FullError
        return deliver(*given)

    monkeypatch.setattr(reads, "deliver", full_at_the_second)
    refused = tools.post("messages", envelope("n1x"), envelope("n2x"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "ingest_batch_storage_error")
    assert not tools.has("n1x")

    assert tools.post("messages", envelope("n1x"), envelope("n2x")).json()["records_accepted"] == 2


@requirement("rs.ingest.run")
def test_the_run_of_a_collector_is_named_in_the_log(tools: OwnersTools, capsys: pytest.CaptureFixture[str]) -> None:
    tools.post("messages", envelope("n"), b"x", to=f"{tools.work}&run_id=run-7", Request_Id="req_of_mine")

    lines = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
    (line,) = [line for line in lines if line["event"] == "delivery"]
    del line["at"], line["level"]
    told = {"request_id": "req_of_mine", "run_id": "run-7", "stream": "messages", "accepted": 1, "rejected": 1}
    assert line == {"event": "delivery", **told}


@requirement("rs.ingest.batch", "store.erasure.everywhere")
def test_a_deletion_in_a_batch_leaves_no_byte_behind(tools: OwnersTools) -> None:
    tools.post("messages", envelope("gone", "zyxwvut"), envelope("gone", "zyxwvut changed"))
    assert b"zyxwvut" in tools.bytes_of_home()

    assert tools.post("messages", deletion("gone"), deletion("never")).json()["records_accepted"] == 2

    assert not tools.has("gone")
    assert b"zyxwvut" not in tools.bytes_of_home()


@requirement("rs.ingest.batch")
def test_nothing_is_a_batch_too(tools: OwnersTools) -> None:
    assert tools.post("messages", b"\n\n").json()["records_attempted"] == 0


@requirement("rs.tokens.owner-only-operations")
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method_is_told_which_one_there_is(tools: OwnersTools, method: str) -> None:
    response = tools.send(method, "/v1/ingest/messages")

    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
