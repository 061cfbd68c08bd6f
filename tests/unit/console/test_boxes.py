"""Boxes to tick, for each stream, field and account that was asked for."""

from dataclasses import replace

from pdpp_server.console.boxes import boxes
from pdpp_server.console.choice import Ticks, first_ticks
from pdpp_server.model.grants import StreamGrant
from pdpp_server.model.selections import Selection, StreamSelection
from pdpp_server.model.streams import View
from tests.worlds.chat import DECLARATION

VIEWS = (View("short", "Short", ("id", "text")), View("wide", "Wide", ("id", "likes")))
MESSAGES = replace(DECLARATION.streams["messages"], views=VIEWS)
CHANNELS = replace(DECLARATION.streams["channels"], selects_fields=False)
ASKED = Selection(
    "chat", None, "p", None, "continuous", (StreamSelection("messages"), StreamSelection("channels", "optional"))
)
MOST = (
    (
        StreamGrant(MESSAGES, ("cin_a", "cin_b"), frozenset({"id", "text"})),
        StreamGrant(CHANNELS, ("cin_a",), frozenset(CHANNELS.fields)),
    ),
)
TICKS: Ticks = replace(
    first_ticks((ASKED,), MOST, ""),
    connections=frozenset({(0, "cin_b")}),
    fields=frozenset({(0, 0, "id")}),
    views={(0, 0): "short"},
)


def test_a_source_is_called_as_people_know_it_and_only_several_accounts_are_a_choice() -> None:
    (source,) = boxes((ASKED,), MOST, TICKS, {"cin_a": "Work"}, {"chat": "Chat"})
    assert (source.place, source.name) == (0, "Chat")
    assert source.connections == [("cin_a", "Work", False), ("cin_b", "cin_b", True)]
    (alone,) = boxes((ASKED,), (MOST[0][1:],), TICKS, {}, {})
    assert (alone.name, alone.connections) == ("chat", [])


def test_a_stream_shows_what_may_be_left_out_of_it() -> None:
    ((messages, channels),) = (source.streams for source in boxes((ASKED,), MOST, TICKS, {}, {}))
    assert (messages.place, messages.label, messages.is_optional, messages.is_ticked) == (
        "0.0",
        "Messages",
        False,
        True,
    )
    assert (channels.place, channels.label, channels.is_optional, channels.is_ticked) == (
        "0.1",
        "channels",
        True,
        False,
    )
    assert (messages.has_time, channels.has_time) == (True, False)
    assert [(box.name, box.is_needed, box.is_ticked) for box in messages.fields] == [
        ("id", True, True),
        ("text", False, False),
    ]
    assert channels.fields == []  # its publisher lets nobody choose among them


def test_only_a_view_within_what_was_asked_is_offered() -> None:
    ((messages, _),) = (source.streams for source in boxes((ASKED,), MOST, TICKS, {}, {}))
    assert messages.views == [("short", "Short", True)]
