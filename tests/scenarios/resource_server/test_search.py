"""GET /v1/search."""

from base64 import b64decode
from urllib.parse import quote

import pytest

from pdpp_server.store.records import candidates
from tests.engine.beneath import tables_of
from tests.requirements import requirement
from tests.scenarios.resource_server.chats import LONG, Api
from tests.scenarios.resource_server.writes import OwnersTools, envelope


@requirement("rs.search.hit", "rs.search.proven-evidence", "rs.search.balanced-marks")
def test_a_hit_names_its_record_and_proves_its_match(api: Api) -> None:
    body = api.body("/v1/search?q=overdraft&streams=messages")
    (hit,) = body["data"]

    assert (hit["stream"], hit["record_key"], hit["connection_id"]) == ("messages", "m1", api.chats.work)
    assert (hit["connector_key"], hit["display_name"], hit["title"]) == ("chats", "Work chat", "Overdraft")
    assert hit["authored_at"] == "2026-11-09T11:59:00Z"
    assert "data" not in hit
    assert set(hit["matched_fields"]) <= {"subject", "text"}
    assert hit["snippet"]["text"].count("<mark>") == hit["snippet"]["text"].count("</mark>") >= 1


@requirement("rs.search.evidence-offset", "rs.search.balanced-marks")
def test_following_an_excerpt_reads_on_at_the_match(api: Api) -> None:
    (hit,) = api.body("/v1/search?q=fee")["data"]
    (excerpt,) = hit["evidence_excerpts"]
    read = excerpt["read"]
    window = api.body(
        f"{read['route']}?field={read['field']}&offset_chars={read['offset_chars']}&connection_id={read['connection_id']}"
    )["window"]
    start, end = excerpt["match_start_chars"], excerpt["match_end_chars"]

    assert excerpt["total_chars"] == len(LONG)
    assert LONG[start:end] == "fee" == window["text"][start - window["start_chars"] : end - window["start_chars"]]
    assert "&lt;b&gt;<mark>fee</mark>&lt;/b&gt; &amp; more" in excerpt["preview_text"]


@requirement("rs.search.paging", "rs.envelope.links-next", "rs.search.recall")
def test_following_the_next_link_gives_every_hit_once(api: Api) -> None:
    whole = [hit["record_url"] for hit in api.body("/v1/search?q=pizza&limit=100")["data"]]
    link, paged = "/v1/search?q=pizza&limit=7", list[str]()
    while link is not None:
        page = api.body(link)
        link = page["links"]["next"]
        paged += [hit["record_url"] for hit in page["data"]]
        assert page["has_more"] is (link is not None) is ("next_cursor" in page)
        assert (page["meta"]["count"], page["meta"]["count_accuracy"]) == (31, "exact")

    assert paged == whole
    assert len({*whole}) == 31


@requirement("rs.search.recall")
def test_whether_all_matches_were_ranked_is_said_with_numbers(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = api.body("/v1/search?q=pizza")["meta"]
    assert (whole["count"], whole["count_accuracy"]) == (31, "exact")
    assert (whole["recall"]["complete"], whole["recall"]["truncated"]) == (True, False)

    monkeypatch.setattr(candidates, "CANDIDATES", 10)
    some = api.body("/v1/search?q=pizza")["meta"]
    assert (some["count"], some["count_accuracy"]) != (31, "exact")
    assert (some["recall"]["complete"], some["recall"]["truncated"]) == (False, True)
    assert 0 < some["recall"]["ranked_candidate_count"] < 31 < some["recall"]["candidate_window_limit"]


@requirement("rs.search.limit")
def test_a_page_has_25_hits_unless_told_over_all_connections_together(api: Api) -> None:
    assert len(api.body("/v1/search?q=pizza")["data"]) == 25
    assert len(api.body("/v1/search?q=pizza&limit=30")["data"]) == 30


@requirement("rs.search.limit", "rs.warnings.limit-clamped", "rs.warnings.closed-set")
def test_a_limit_above_the_most_is_lowered_with_a_warning(api: Api) -> None:
    (warned,) = api.body("/v1/search?q=pizza&limit=101")["meta"]["warnings"]

    assert (warned["code"], warned["param"]) == ("limit_clamped", "limit")
    assert warned["detail"] == {"requested_limit": 101, "max_limit": 100}


@requirement("rs.search.query-required", "rs.search.foreign-parameters", "rs.parameters.unknown-refused")
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("", "q"),
        ("q=", "q"),
        ("q=x&limit=0", "limit"),
        *(
            (f"q=x&{name}=1", name)
            for name in ("sort", "fields", "mode", "boost", "connector_id", "order", "access_token")
        ),
    ],
)
def test_a_bad_parameter_is_refused_by_name(api: Api, query: str, param: str) -> None:
    assert api.refusal(f"/v1/search?{query}") == (400, "invalid_request", param)


@requirement("rs.search.streams-scope", "rs.transport.repeated-parameters")
def test_streams_narrow_and_stay_inside_the_grant(api: Api) -> None:
    assert api.body("/v1/search?q=pizza&streams[]=photos")["data"] == []
    assert len(api.body("/v1/search?q=pizza&streams=photos&streams=messages&limit=100")["data"]) == 31
    assert api.refusal("/v1/search?q=pizza&streams=diary") == (403, "grant_stream_not_allowed", "streams")


@requirement("rs.search.hidden-fields")
def test_a_word_in_a_hidden_field_finds_nothing(api: Api) -> None:
    body = api.body("/v1/search?q=zebra")

    assert (body["data"], body["meta"]["count"]) == ([], 0)
    assert api.body("/v1/search?q=zebra", token="tok_owner")["data"] != []


@requirement("rs.cursors.bound-to-query", "rs.cursors.bound-to-grant")
def test_a_cursor_goes_on_with_its_own_query_and_grant_only(api: Api) -> None:
    cursor = api.body("/v1/search?q=pizza&limit=2")["next_cursor"]
    other = api.chats.grant("grt_2", "tok_other")

    assert api.refusal(f"/v1/search?q=pasta&limit=2&cursor={cursor}")[:2] == (400, "invalid_cursor")
    assert api.refusal(f"/v1/search?q=pizza&limit=2&cursor={cursor}", token=other)[:2] == (400, "invalid_cursor")
    assert api.refusal(f"/v1/search?q=pizza&limit=2&cursor={cursor[:-2]}AA")[:2] == (400, "invalid_cursor")
    assert api.refusal("/v1/search?q=pizza&cursor=")[:2] == (400, "invalid_cursor")


@requirement("rs.enforcement.fan-in", "rs.enforcement.connection-narrows")
def test_a_search_covers_every_connection_or_the_one_named(api: Api) -> None:
    both = {hit["connection_id"] for hit in api.body("/v1/search?q=pizza&limit=100")["data"]}
    (only,) = api.body(f"/v1/search?q=pizza&connection_id={api.chats.mine}")["data"]

    assert both == {api.chats.work, api.chats.mine}
    assert only["connection_id"] == api.chats.mine
    assert "display_name" not in only
    assert api.refusal("/v1/search?q=pizza&connection_id=cin_x") == (404, "connection_not_found", "connection_id")


@requirement("rs.search.any-text")
@pytest.mark.parametrize(
    "text",
    ["AND", "a OR", '"a', "b -a*", "a:b", "(a", "NEAR(a b)", "a'b", "^a", "{x}:y", "🦊", "a" * 2000],
)
def test_any_text_with_a_word_is_a_search(api: Api, text: str) -> None:
    assert api.body(f"/v1/search?q={quote(text)}")["object"] == "list"


@requirement("rs.search.one-hit-per-record")
def test_a_record_that_matches_in_two_fields_is_one_hit(api: Api) -> None:
    (hit,) = api.body("/v1/search?q=overdraft")["data"]

    assert {*hit["matched_fields"]} == {"subject", "text"}


@requirement("rs.search.words-ranked")
def test_words_may_stand_in_different_fields_and_need_not_all_occur(api: Api) -> None:
    hits = api.body("/v1/search?q=slashed+hello+nowhere&limit=100")["data"]

    assert hits[0]["record_key"] == "a/b c?+%"
    assert {hit["record_key"] for hit in hits[1:]} == {"same"}


@requirement("rs.search.words-narrow")
@pytest.mark.parametrize(
    ("text", "keys"),
    [('"pasta or"', 0), ('"pizza or pasta"', 30), ("slash*", 1), ("slas", 0), ("pizza -pasta", 1)],
)
def test_quotes_stars_and_minus_narrow(api: Api, text: str, keys: int) -> None:
    assert len(api.body(f"/v1/search?q={quote(text)}&limit=100")["data"]) == keys


@requirement("rs.search.authored-at")
def test_the_time_of_a_hit_comes_from_a_granted_field_only(api: Api) -> None:
    timeless = api.chats.grant("grt_3", "tok_timeless", fields=["id", "text"])
    (hit, *_) = api.body("/v1/search?q=pizza", token=timeless)["data"]

    assert "authored_at" not in hit
    assert "2026-11-09T11:59" not in str(hit)


@requirement("rs.cursors.sealed", "rs.cursors.bounded-size")
def test_a_cursor_is_sealed_and_of_one_length(api: Api) -> None:
    cursors = [api.body(f"/v1/search?q={q}&limit={limit}")["next_cursor"] for q, limit in (("pizza", 2), ("pasta", 20))]
    text = cursors[0][1:]  # the letter before it says what it is a cursor of
    sealed = b64decode(text + "=" * (-len(text) % 4), "-_")

    assert len({len(cursor) for cursor in cursors}) == 1
    assert len(cursors[0]) <= 160
    assert b"pizza" not in sealed
    assert b"n1" not in sealed
    for place in range(0, len(cursors[0]), 7):
        swapped = "A" if cursors[0][place] != "A" else "B"
        broken = cursors[0][:place] + swapped + cursors[0][place + 1 :]
        assert api.refusal(f"/v1/search?q=pizza&limit=2&cursor={broken}")[:2] == (400, "invalid_cursor")


@requirement("rs.cursors.no-growing-table")
def test_paging_leaves_no_row_behind(api: Api) -> None:
    def rows() -> dict[str, object]:
        with api.chats.services.database.reading() as reading:
            tables = {*tables_of(reading)} - {"tries"}  # rates of a token, told once a second: one row however often
            return {name: reading.one(f'select count(*) from "{name}"') for name in tables}

    link = "/v1/search?q=pizza&limit=5"
    api.body(link)  # keys are made when they are first needed
    before = rows()
    while link is not None:
        link = api.body(link)["links"]["next"]

    assert rows() == before


@requirement("rs.search.prefixes")
def test_a_short_prefix_is_a_word_and_both_doors_say_so(api: Api) -> None:
    found = api.body("/v1/search?q=pi*%20pizza")
    call = {"name": "search", "arguments": {"query": "pi* pizza"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    shown = api.client.post("/mcp", json=message, headers={"Authorization": "Bearer tok_client"}).json()["result"]

    (warned,) = found["meta"]["warnings"]
    said = "pi* was looked for as a whole word: a prefix needs three letters, not counting an ending."
    assert (warned["code"], warned["message"]) == ("prefix_too_short", said)
    assert found["data"]
    assert said in shown["content"][0]["text"]
    assert api.body("/v1/search?q=piz*")["data"]


@requirement("rs.search.prefixes")
def test_a_fifth_prefix_is_refused(api: Api) -> None:
    assert api.body("/v1/search?q=aaa*%20bbb*%20ccc*%20ddd*")["data"] == []
    assert api.refusal("/v1/search?q=aaa*%20bbb*%20ccc*%20ddd*%20eee*") == (400, "invalid_request", "q")


@requirement("rs.search.prefixes")
def test_a_long_prefix_finds_the_longest_words_and_a_longer_one_is_refused(api: Api) -> None:
    words = {f"long{n}": "q" * n for n in (599, 600, 650, 651, 900)}
    OwnersTools(api).post("messages", *(envelope(key, subject=word) for key, word in words.items()))

    def found(query: str) -> set[str]:
        return {hit["record_key"] for hit in api.body(f"/v1/search?q={query}")["data"]}

    assert found("q" * 600 + "*") == {"long600", "long650", "long651", "long900"}
    assert (found("q" * 651), found("q" * 601)) == ({"long651"}, set())
    assert api.refusal("/v1/search?q=" + "q" * 601 + "*") == (400, "invalid_request", "q")
