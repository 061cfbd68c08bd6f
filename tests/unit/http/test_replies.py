"""What was read leaves with its line in the log, or not at all."""

import pytest
from starlette.responses import Response

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.http.replies import Answered, JsonBytes, json_reply, reply
from pdpp_server.model.activity import NOTHING, Shown
from pdpp_server.model.pending import Pending

SHOWN = Shown(("cin_1",), ("messages",), ("body",), ("cin_1/messages:1",))
Line = tuple[Shown, int]


def pending(answered: Answered, log: list[Line]) -> Pending[Answered]:
    return Pending(answered, "r", lambda shown, size: log.append((shown, size)))


def test_what_tells_of_no_record_needs_no_line() -> None:
    assert reply(None).status_code == 204
    assert reply({"ok": True}).body == b'{"ok":true}'
    assert json_reply({}, 201, {"X": "1"}).headers["x"] == "1"


@pytest.mark.parametrize("headers", [None, {}, {"Retry-After": "3", "Content-Type": "application/problem+json"}])
def test_json_has_the_headers_of_any_response(headers: dict[str, str] | None) -> None:
    ours, theirs = JsonBytes(b'{"a":1}', 201, headers), Response(b'{"a":1}', 201, headers, "application/json")
    assert (ours.status_code, ours.body, ours.raw_headers) == (theirs.status_code, theirs.body, theirs.raw_headers)


def test_a_body_leaves_with_what_it_shows_and_its_size() -> None:
    log = list[Line]()
    assert reply(pending(Answered({"a": 1}, SHOWN), log)).body == b'{"a":1}'
    assert log == [(SHOWN, 7)]


def test_where_only_the_headers_leave_only_they_are_logged() -> None:
    log = list[Line]()
    reply(pending(Answered({"a": 1}, SHOWN), log), "HEAD")
    assert log == [(NOTHING, 0)]


def test_a_response_of_its_own_says_how_many_bytes_it_sends() -> None:
    log, own = list[Line](), Response(b"bytes")
    assert reply(pending(Answered(own, SHOWN, size=5), log), "HEAD") is own
    assert log == [(SHOWN, 5)]


def test_what_may_not_leave_is_let_go_of() -> None:
    gone = list[bool]()

    def settle(_shown: Shown, _size: int) -> None:
        raise DisclosureLogUnavailable("No room.")

    answered = Answered(Response(b"bytes"), SHOWN, give_up=lambda: gone.append(True))
    with pytest.raises(DisclosureLogUnavailable):
        reply(Pending(answered, "r", settle))
    assert gone == [True]
