"""The query_records tool: bounded in both channels, every cut marked, and never a dead end."""

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema_rs
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.evidence.text import byte_len, compact_json
from pdpp_server.mcp.tool import ToolResult
from pdpp_server.mcp.tools.query_records import QUERY_RECORDS
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import Condition, Expand, RecordsQuery
from pdpp_server.model.records import Expanded, Record, RecordId, RecordPage, Tombstone
from tests.requirements import requirement
from tests.unit.mcp.fakes import HOME, WORK, FakeReader, called, record
from tests.unit.mcp.hostile import is_visible, records

SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
OURS = ("messages: ", "rest: ", "more: ", "next: ", "next time: ", "warning ")
ROLES = {"subject": "primary-title", "sent_at": "event-time", "text": "primary-body"}
GONE = Tombstone(RecordId("cin_4f2a", "messages", "m0"), WORK, "2026-11-15T08:00:00Z", "2026-11-01T00:00:00Z")


def ask(reader: FakeReader, **arguments: Any) -> ToolResult:
    return called(QUERY_RECORDS, reader, {"stream": "messages", **arguments})


def letters(number: int, chars: int = 20) -> tuple[Record, ...]:
    return tuple(
        record(f"m{n:03}", {"id": f"m{n:03}", "text": f"letter {n} ".ljust(chars, "x")}) for n in range(number)
    )


def items(text: str) -> list[str]:
    return [line for line in text.split("\n")[1:] if re.match(r"[^\s/]+/[^\s:]+:\S", line)]


def printed(text: str, word: str) -> dict[str, Any] | None:
    """The arguments of the call on the line that starts with that word, as an agent would copy it."""
    for line in text.split("\n")[1:]:
        if line.startswith(f"{word}: query_records "):
            return json.JSONDecoder().raw_decode(line.split("query_records ", 1)[1])[0]
        if line == f"{word}: the same call with cursor = next_cursor":
            return {"stream": "messages", "limit": 25, "cursor": re.search(r" next_cursor=(\S+)", text)[1]}  # pyright: ignore[reportOptionalSubscript]
    return None


def shown_record(key: str, text: str, **data: Any) -> Record:
    return record(
        key, {"id": key, "subject": "Lease", "sent_at": "2026-11-09T11:59:00Z", "text": text, **data}, roles=ROLES
    )


@requirement("mcp.query.handles-in-text", "ev.clip.continues", "ev.clip.marked")
def test_a_page_reads_like_this() -> None:
    reader = FakeReader((shown_record("m9", "lunch?"), shown_record("m7", "Minutes of the meeting. " * 500)) * 2)

    text = ask(reader, limit=2, count="exact", filter={"sender": "ana"}).text

    head, first, second, more, following = text.split("\n")
    cursor = f"cur_{2:0>150}"
    assert head == f"messages: 2 of 4 records (exact), newest first. next_cursor={cursor}"
    assert first == (
        'cin_4f2a/messages:m9 {"subject":"Lease","sent_at":"2026-11-09T11:59:00Z","text":"lunch?","id":"m9"}'
    )
    assert second.startswith('cin_4f2a/messages:m7 {"subject":"Lease","sent_at":"2026-11-09T11:59:00Z","text":"Minutes')
    assert second.endswith('…"+11200,"id":"m7"}')
    assert more == "more: the same call with cursor = next_cursor"
    read = '{"id":"cin_4f2a/messages:m7","field_path":"text"}'
    assert following == f'next: read_record_field {read} reads on in what is clipped ("…"+n: n characters more)'


@requirement("mcp.query.arguments", "mcp.filters.encoded")
@requirement("mcp.query.said-once")
def test_what_all_records_share_and_what_handles_tell_is_said_once() -> None:
    texts = ("lunch?", "no", "then tea")
    reader = FakeReader(tuple(shown_record(f"m{n}", text, room="hall") for n, text in enumerate(texts)))

    result = ask(reader)

    head, *lines = result.text.split("\n")[:4]
    assert 'all with {"subject":"Lease","room":"hall"}' in head
    assert lines[0] == 'cin_4f2a/messages:m0 {"sent_at":"2026-11-09T11:59:00Z","text":"lunch?"}'
    assert [entry["data"]["room"] for entry in result.structured["data"]["data"]] == ["hall"] * 3


@requirement("mcp.query.said-once")
def test_values_of_another_kind_are_not_shared() -> None:
    reader = FakeReader(tuple(record(f"m{n}", {"id": f"m{n}", "flag": flag}) for n, flag in enumerate((1, True, 1.0))))

    text = ask(reader).text

    assert "all with" not in text and [line.split(" ")[1] for line in items(text)] == [
        '{"flag":1}',
        '{"flag":true}',
        '{"flag":1.0}',
    ]


def test_every_argument_reaches_the_read() -> None:
    reader = FakeReader()

    ask(
        reader,
        filter={"sender": "ana", "likes": 3, "read": True, "sent_at": {"gte": "2026-01-01", "lt": 5.0}},
        sort="-sent_at",
        fields=["text", "likes"],
        expand=["thread", "replies"],
        expand_limit={"replies": 3},
        count="exact",
        limit=7,
        cursor="cur_1",
        connection_id="cin_4f2a",
    )

    conditions = (
        Condition("sender", "eq", "ana"),
        Condition("likes", "eq", "3"),
        Condition("read", "eq", "true"),
        Condition("sent_at", "gte", "2026-01-01"),
        Condition("sent_at", "lt", "5"),
    )
    assert reader.asked == [
        RecordsQuery(
            "messages",
            "cin_4f2a",
            fields=("text", "likes"),
            conditions=conditions,
            expand=(Expand("thread"), Expand("replies", 3)),
            sort="sent_at",
            count=True,
            limit=7,
            cursor="cur_1",
        )
    ]


@requirement(
    "mcp.budget.text", "mcp.budget.structured", "mcp.budget.one-whole-item", "mcp.tools.output-schemas",
    "ev.handles.never-cut",
)  # fmt: skip
@SLOW
@given(records(), st.sampled_from([10, 25, 100]), st.booleans())
def test_both_channels_keep_their_budget_over_hostile_data(
    found: tuple[Record, ...], limit: int, cursors: bool
) -> None:
    result = ask(FakeReader(found, cursors=cursors), limit=limit, count="exact")

    assert byte_len(result.text) <= 3600
    assert len(orjson.dumps(result.structured)) <= 24_000
    assert jsonschema_rs.is_valid(dict(QUERY_RECORDS.output_schema), result.structured)
    known = [mint(one.id) for one in found]
    shown = [line.split(" ")[0] for line in items(result.text)]
    assert shown == known[: len(shown)] != []
    assert [entry["handle"] for entry in result.structured["data"]["data"]] == known[
        : len(result.structured["data"]["data"])
    ]


@requirement("ev.escape.no-forged-lines", "ev.escape.both-channels")
@SLOW
@given(records())
def test_no_record_can_speak_for_us(found: tuple[Record, ...]) -> None:
    known = {mint(one.id) for one in found}
    text = ask(FakeReader(found), limit=25).text

    assert is_visible(text)
    for line in text.split("\n"):
        assert line.startswith(OURS) or line.split(" ")[0] in known
    unquoted = re.sub(r'"(?:[^"\\]|\\.)*"', "", "\n".join(items(text)))
    assert "evil" not in unquoted
    assert "<mark>" not in unquoted


@requirement("ev.clip.listed", "mcp.query.fitted-envelope")
@SLOW
@given(records(many=3))
def test_whatever_is_cut_is_listed_with_its_length_and_all_else_is_verbatim(found: tuple[Record, ...]) -> None:
    structured = ask(FakeReader(found)).structured
    meta = structured["data"]["meta"]

    for entry in structured["data"]["data"]:
        data = next(one.data for one in found if mint(one.id) == entry["handle"])
        clipped = meta.get("clipped", {}).get(entry["handle"], {})
        assert len(entry["data"]) + meta.get("omitted_fields", {}).get(entry["handle"], 0) == len(data)
        for name, value in entry["data"].items():
            if name in clipped:
                whole = (
                    data[name]
                    if isinstance(data[name], str)
                    else orjson.dumps(data[name], option=orjson.OPT_SORT_KEYS).decode()
                )
                assert clipped[name] == len(whole) > len(value)
                assert value.endswith("…")
                assert whole.startswith(value[:-1])
            else:
                assert value == data[name]
    assert ("read_with" in structured) == bool(meta.get("clipped"))


@requirement("mcp.channels.rest-call", "mcp.channels.text-enough", "mcp.channels.no-dead-handles")
@pytest.mark.parametrize("cursors", [True, False])
def test_a_reader_of_the_text_alone_reaches_every_record_once(cursors: bool) -> None:
    reader = FakeReader(letters(60, 90), cursors=cursors)
    seen: list[str] = []
    arguments: dict[str, Any] | None = {"stream": "messages", "limit": 25}

    while arguments:
        text = called(QUERY_RECORDS, reader, arguments).text
        seen += [line.split(" ")[0] for line in items(text)]
        again = re.search(r'rest: the same call with (\{"limit":\d+\})', text)
        arguments = {**arguments, **json.loads(again[1])} if again else printed(text, "rest") or printed(text, "more")
        if again:
            seen = seen[: -len(items(text))]

    assert seen == [mint(one.id) for one in reader.records]


@requirement("mcp.channels.structured-enough")
@pytest.mark.parametrize("chars", [50, 3000, 60_000])
def test_a_reader_of_the_structure_alone_does_too(chars: int) -> None:
    reader = FakeReader(letters(60, chars))
    seen: list[str] = []
    asked: list[dict[str, Any]] = [{"stream": "messages", "limit": 100}]

    while asked:
        structured = called(QUERY_RECORDS, reader, asked[0]).structured
        seen += [entry["handle"] for entry in structured["data"]["data"]]
        asked = [call["arguments"] for call in structured["next"] if call["tool"] == "query_records"]

    assert seen == [mint(one.id) for one in reader.records]


@requirement("mcp.query.nothing-shown-again")
def test_the_next_step_of_a_whole_page_turns_it_and_opens_a_record_only_where_there_is_no_other_page() -> None:
    turned = ask(FakeReader(letters(9)), limit=3)
    last = ask(FakeReader(letters(3)), limit=3)

    assert [call["tool"] for call in turned.structured["next"]] == ["query_records"]
    assert turned.text.endswith("\nmore: the same call with cursor = next_cursor")
    assert [call["tool"] for call in last.structured["next"]] == ["fetch"]
    assert last.text.endswith('\nnext: fetch {"id":"cin_4f2a/messages:m000"}')


@requirement("mcp.query.asked-fields")
def test_a_page_of_fields_that_were_asked_for_shows_fewer_records_with_all_of_them() -> None:
    records = tuple(record(f"m{n:03}", {f"field_{m}": f"{n} word" * 6 for m in range(7)}) for n in range(60))

    result = ask(FakeReader(records), limit=60, fields=[*records[0].data])

    rows = [line for line in result.text.split("\n") if line.startswith("cin_4f2a/")]
    assert 4 <= len(rows) < 60
    assert all(compact_json(one.data) in row for one, row in zip(records, rows, strict=False))


@requirement("mcp.query.fitted-envelope")
@pytest.mark.parametrize("cursors", [True, False])
def test_long_values_are_clipped_before_a_record_is_left_out(cursors: bool) -> None:
    clipped = ask(FakeReader(letters(25, 5000), cursors=cursors), limit=25).structured["data"]
    fields = {f"field_{n}": "word " * 9 for n in range(60)}
    many = FakeReader(tuple(record(f"m{n}", fields) for n in range(25)), cursors=cursors)
    shortened = ask(many, limit=25)

    assert len(clipped["data"]) == 25
    assert set(clipped["meta"]["clipped"]["cin_4f2a/messages:m007"].values()) == {5000}
    assert clipped["meta"]["warnings"] == []
    here = len(shortened.structured["data"]["data"])
    assert 1 < here < 25
    assert [warned["code"] for warned in shortened.structured["data"]["meta"]["warnings"]] == ["page_shortened"]
    assert shortened.structured["data"]["next_cursor"].endswith(f"{here:0>4}")
    assert shortened.text.count("page_shortened") == 1


def test_the_structured_form_spends_its_room() -> None:
    structured = ask(FakeReader((*letters(5), *letters(20, 5000))), limit=25).structured

    assert 19_000 < len(orjson.dumps(structured)) <= 24_000
    assert structured["data"]["data"][0]["data"]["text"].startswith("letter 0 xxx")
    assert structured["next"][0]["tool"] == "read_record_field"
    assert structured["read_with"]["tool"] == "read_record_field"


def test_the_only_record_of_a_page_is_shown_however_long_it_is() -> None:
    related = tuple(record(f"r{n}" + "k" * 400, {"text": "word " * 99}) for n in range(60))
    data = {f"field_number_{n}": n for n in range(1500)}
    long = record("m1", data)._replace(expanded={"replies": Expanded(related), "thread": Expanded(related[:1], False)})

    result = ask(FakeReader((long,)), expand=["replies", "thread"])

    (shown,) = result.structured["data"]["data"]
    assert byte_len(result.text) <= 3600
    assert len(orjson.dumps(result.structured)) <= 24_000
    omitted = result.structured["data"]["meta"]["omitted_fields"]["cin_4f2a/messages:m1"]
    assert len(shown["data"]) + omitted == 1500
    assert [warned["code"] for warned in result.structured["data"]["meta"]["warnings"]] == ["expansion_shortened"]
    assert "expanded: replies 60; thread 1" in result.text
    assert result.structured["next"][0] == {"tool": "fetch", "arguments": {"id": "cin_4f2a/messages:m1"}}


@requirement("mcp.query.fitted-envelope")
def test_of_the_only_record_values_are_cut_short_before_fields_are_left_out() -> None:
    wide = record("m1", {"id": "m1", **{f"field_{n:03}": "x" * 500 for n in range(100)}})

    data = ask(FakeReader((wide,))).structured["data"]

    assert len(data["data"][0]["data"]) == 101
    assert "omitted_fields" not in data["meta"]


def test_related_records_are_named_in_the_text_and_whole_in_the_structure() -> None:
    related = (record("r1", {"text": "Yes"}), record("r2", {"text": "No " * 20_000}))
    first = record("m1", {"id": "m1"})._replace(expanded={"replies": Expanded(related, has_more=True)})
    second = record("m2", {"id": "m2"})._replace(expanded={"thread": Expanded((), is_list=False)})

    result = ask(FakeReader((first, second)), expand=["replies"])

    assert "expanded: replies 2 and more cin_4f2a/messages:r1 cin_4f2a/messages:r2" in result.text
    assert "expanded: thread none" in result.text
    one, two = result.structured["data"]["data"]
    assert [entry["handle"] for entry in one["expanded"]["replies"]["data"]] == [mint(other.id) for other in related]
    assert result.structured["data"]["meta"]["clipped"] == {"cin_4f2a/messages:r2": {"text": 60_000}}
    assert two["expanded"] == {"thread": None}


@requirement("mcp.query.handles-in-text")
def test_a_feed_tells_what_is_gone_and_what_to_keep() -> None:
    reader = FakeReader((record("m1", {"id": "m1"}),), gone=(GONE,))

    result = ask(reader, changes_since="beginning")

    bookmark = f"cur_{0:0>150}"
    head, _, gone, later = result.text.split("\n")
    assert head.endswith(f"2 changes in all, in the order of their last change. next_changes_since={bookmark}")
    assert gone == "cin_4f2a/messages:m0 deleted 2026-11-01T00:00Z"
    call = f'query_records {{"stream":"messages","changes_since":"{bookmark}"}}'
    assert later == f"next time: {call} gives what changed since now"
    arguments = {"stream": "messages", "changes_since": bookmark}
    assert result.structured["next"][-1] == {"tool": "query_records", "arguments": arguments}
    assert result.structured["data"]["data"][1]["deleted"] is True


def test_a_feed_that_is_cut_goes_on_by_cursor_and_keeps_no_bookmark() -> None:
    reader = FakeReader(
        letters(40), gone=tuple(replace(GONE, id=GONE.id._replace(key=f"g{n}" + "k" * 300)) for n in range(40))
    )

    result = ask(reader, changes_since="beginning", limit=100)

    assert "next_changes_since" not in result.structured["data"]
    assert "changes_since" not in result.structured["next"][-1]["arguments"]
    assert result.structured["data"]["has_more"] is True


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "messages: 0 records, no record here that the grant shows."),
        ({"cursor": "cur_0"}, "messages: 0 records, nothing after this cursor."),
    ],
)
def test_nothing_is_said_plainly_with_a_next_step(arguments: dict[str, Any], said: str) -> None:
    result = ask(FakeReader(), **arguments)

    assert result.text.split("\n")[0] == said
    assert result.text.split("\n")[-1].startswith('next: schema {"stream":"messages"}')
    assert result.structured["next"] == [{"tool": "schema", "arguments": {"stream": "messages"}}]


@pytest.mark.parametrize(
    ("value", "nearest"),
    [
        (
            "zed",
            'search {"query":"zed","streams":["messages"]} finds words inside values; a filter compares whole values',
        ),
        ("4711", "drop a condition or widen it; "),
        ("true", "drop a condition or widen it; "),
        ("z" * 101, "drop a condition or widen it; "),
    ],
)
def test_where_no_record_passes_a_filter_it_is_said_what_a_filter_compares(value: str, nearest: str) -> None:
    result = ask(FakeReader(), filter={"sender": value})

    head, step = result.text.split("\n")
    assert head == "messages: 0 records, no record passes the filter."
    assert step.startswith(f"next: {nearest}")
    assert result.structured["next"][0]["tool"] == nearest.split(" ")[0].replace("drop", "schema")


def test_only_times_that_fall_are_called_newest_first() -> None:
    later, earlier = record("m1", {"id": "m1"}), record("m2", {"id": "m2"}, HOME)
    earlier = earlier._replace(authored_at="2026-04-01T09:12:00+02:00")

    assert "newest first" in ask(FakeReader((later, earlier))).text
    assert "newest first" not in ask(FakeReader((earlier, later))).text
    assert "by sent_at, ascending" in ask(FakeReader((earlier, later)), sort="sent_at").text


def test_a_handle_of_512_bytes_is_shown_whole() -> None:
    key = "k" * (512 - len("cin_4f2a/messages:"))
    text = ask(FakeReader((record(key, {"text": "walrus " * 99}),) * 3)).text

    assert byte_len(text) <= 3600
    assert parse(items(text)[0].split(" ")[0]).key == key


@requirement("mcp.channels.text-enough")
@pytest.mark.parametrize("chars", [180, 600, 5000])
def test_a_long_cursor_of_another_server_stands_once_or_is_left_to_the_structure(chars: int) -> None:
    class LongCursors(FakeReader):
        def query_records(self, query: RecordsQuery) -> Pending[RecordPage]:
            found = super().query_records(query)
            return found.shaped(lambda page: replace(page, next_cursor="c" * chars, cursor_after=lambda _: "d" * chars))

    result = ask(LongCursors(letters(20, 200)), limit=20)
    head = result.text.split("\n")[0]

    assert byte_len(result.text) <= 3600
    assert (f"next_cursor={'c' * chars}" in head) == (chars < 700)
    assert ("next_cursor is too long for this text" in head) == (chars > 700)
    again = f'the same call with {{"limit":{len(items(result.text))}}}, then on from its cursor'
    copied = f'query_records {{"stream":"messages","limit":20,"cursor":"{"d" * chars}"}}'
    assert f"\nrest: {copied if chars < 200 else again}\n" in f"{result.text}\n"
    assert result.structured["data"]["next_cursor"] == "c" * chars


@requirement("mcp.query.arguments")
def test_ten_records_are_asked_for_unless_told_and_a_call_too_long_to_repeat_is_refused() -> None:
    reader = FakeReader()

    ask(reader)

    assert reader.asked == [RecordsQuery("messages", limit=10)]
    with pytest.raises(InvalidRequest, match="at most 3000"):
        ask(reader, filter={"text": "x" * 3000})
    assert len(reader.asked) == 1
