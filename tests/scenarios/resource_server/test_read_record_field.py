"""GET /v1/streams/{stream}/records/{id}/field-window."""

import pytest

from tests.requirements import requirement
from tests.scenarios.resource_server.chats import LONG, Api

WINDOW = "/v1/streams/messages/records/m1/field-window"


@requirement("rs.window.shape", "rs.window.names-connection", "rs.window.limits")
def test_a_window_says_where_it_stands(api: Api) -> None:
    body = api.body(f"{WINDOW}?field=text")

    assert (body["object"], body["stream"], body["record_id"]) == ("field_window", "messages", "m1")
    assert body["connection_id"] == api.chats.work
    assert body["field"] == {"path": "text", "type": "string", "text_like": True}
    assert body["url"] == WINDOW
    assert body["window"] == {
        "text": LONG[:4096],
        "total_chars": len(LONG),
        "start_chars": 0,
        "end_chars": 4096,
        "limit_chars": 4096,
        "complete": False,
        "has_more": True,
        "match_start_chars": None,
        "match_end_chars": None,
        "next_offset_chars": 4096,
        "previous_offset_chars": None,
    }


@requirement("rs.window.joined-windows", "rs.window.code-points", "rs.window.complete")
def test_following_the_offsets_gives_the_field_again(api: Api) -> None:
    window = api.body(f"{WINDOW}?field=text&limit_chars=1999")["window"]
    text = window["text"]
    while window["has_more"]:
        window = api.body(f"{WINDOW}?field=text&limit_chars=1999&offset_chars={window['next_offset_chars']}")["window"]
        text += window["text"]

    assert text == LONG
    assert (window["has_more"], window["complete"]) == (False, False)
    assert api.body(f"{WINDOW}?field=subject")["window"]["complete"] is True


@requirement("rs.window.query", "rs.window.context")
def test_a_word_opens_the_window_at_its_first_match(api: Api) -> None:
    window = api.body(f"{WINDOW}?field=text&q=OVERDRAFT&before_chars=5&after_chars=4")["window"]
    at = LONG.index("overdraft")

    assert window["text"] == " The overdraft <b>"
    assert (window["start_chars"], window["match_start_chars"], window["match_end_chars"]) == (at - 5, at, at + 9)
    assert api.refusal(f"{WINDOW}?field=text&q=nowhere") == (404, "query_not_found", "q")


@requirement("rs.window.limits", "rs.warnings.limit-clamped")
def test_a_limit_above_the_most_is_lowered_with_a_warning(api: Api) -> None:
    body = api.body(f"{WINDOW}?field=text&limit_chars=99999")
    (warned,) = body["meta"]["warnings"]

    assert (body["window"]["limit_chars"], body["window"]["text"]) == (16_384, LONG)
    assert (warned["code"], warned["detail"]) == ("limit_clamped", {"requested_limit": 99_999, "max_limit": 16_384})


@requirement("rs.window.limits", "rs.window.context")
@pytest.mark.parametrize(
    "selector",
    [
        "offset_chars=-1",
        "limit_chars=0",
        "limit_chars=x",
        "before_chars=1",
        "q=a&before_chars=8193",
        "q=a&offset_chars=1",
    ],
)
def test_bad_numbers_are_refused(api: Api, selector: str) -> None:
    assert api.refusal(f"{WINDOW}?field=text&{selector}")[:2] == (400, "invalid_window")


@requirement("rs.window.refusals")
def test_a_field_must_be_named_granted_and_there(api: Api) -> None:
    assert api.refusal(WINDOW) == (400, "invalid_field_path", "field")
    assert api.refusal(f"{WINDOW}?field=secret")[:2] == (403, "field_not_granted")
    assert api.refusal("/v1/streams/messages/records/h1/field-window?field=words")[:2] == (404, "field_not_found")


@requirement("rs.window.json")
def test_a_list_is_windowed_over_its_json_and_a_number_is_no_text(api: Api) -> None:
    body = api.body(f"{WINDOW}?field=words")

    assert (body["field"]["type"], body["window"]["text"]) == ("json", '["b",{"a":1}]')
    assert api.refusal(f"{WINDOW}?field=size")[:2] == (422, "field_not_text")
