"""A value that was read and may not leave yet."""

import pytest

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.model.activity import Shown
from pdpp_server.model.pending import Leaving, Pending

LETTER = Shown(records=("post/letters:l1",))


def test_what_leaves_is_written_down_first_and_once() -> None:
    lines: list[tuple[Shown, int]] = []
    pending = Pending(20, "req_1", lambda shown, size: lines.append((shown, size))).shaped(lambda value: value + 1)
    assert lines == []

    assert pending.leave(lambda value: Leaving(f"<{value}>", LETTER, 4)) == "<21>"
    assert lines == [(LETTER, 4)]


def test_nothing_leaves_where_nothing_can_be_written() -> None:
    def full(_shown: Shown, _size: int) -> None:
        raise DisclosureLogUnavailable("Full.")

    with pytest.raises(DisclosureLogUnavailable):
        Pending("secret", "req_1", full).leave(lambda value: Leaving(value, LETTER, 6))


def test_of_reads_that_followed_each_other_only_the_last_has_a_line() -> None:
    lines: list[str] = []
    first = Pending(1, "req_1", lambda *_: lines.append("first"))
    second = Pending(2, "req_1", lambda *_: lines.append("second"))

    first.followed(lambda _: second).leave(lambda value: Leaving(value, LETTER, 1))

    assert lines == ["second"]
