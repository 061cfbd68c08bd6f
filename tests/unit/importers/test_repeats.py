"""Things without an id, which may come twice."""

import tracemalloc

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
