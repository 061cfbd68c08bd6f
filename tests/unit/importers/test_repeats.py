"""Things without an id, which may come twice."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from pdpp_server.importers.identity import digest
from pdpp_server.importers.repeats import Repeats
from tests.requirements import requirement


@requirement("imp.bank.once")
def test_the_same_twice_in_one_file_are_two_and_in_two_files_one() -> None:
    first, second = Repeats(), Repeats()
    assert [first.key(content) for content in ("a", "b", "a", "a")] == ["a", "b", "a~2", "a~3"]
    assert [second.key(content) for content in ("b", "a")] == ["b", "a"]


@requirement("imp.bank.once")
def test_what_came_once_takes_few_bytes() -> None:
    """A chat of a million messages is counted in less than a hundred megabytes."""
    repeats, count = Repeats(), 100_000
    tracemalloc.start()
    try:
        for number in range(count):
            repeats.key(digest(str(number)))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100 * count


@requirement("imp.bank.once")
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=60), st.booleans())
def test_moments_that_go_back_count_as_those_that_do_not(said: list[tuple[int, int]], is_sorted: bool) -> None:
    told = [
        (digest(f"{minute} {text}"), f"2026-01-01T00:0{minute}")
        for minute, text in (sorted(said) if is_sorted else said)
    ]
    timed, plain = Repeats(), Repeats()
    assert [timed.key(content, at) for content, at in told] == [plain.key(content) for content, _ in told]


@requirement("imp.bank.once")
def test_a_chat_in_its_order_takes_eight_bytes_for_each_message() -> None:
    repeats, count = Repeats(), 100_000
    tracemalloc.start()
    try:
        for number in range(count):
            repeats.key(digest(str(number)), f"{number // 3:09}")
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 12 * count
