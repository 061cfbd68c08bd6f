"""Things without an id, which may come twice."""

from pdpp_server.importers.repeats import Repeats
from tests.requirements import requirement


@requirement("imp.bank.once")
def test_the_same_twice_in_one_file_are_two_and_in_two_files_one() -> None:
    first, second = Repeats(), Repeats()
    assert [first.key(content) for content in ("a", "b", "a", "a")] == ["a", "b", "a~2", "a~3"]
    assert [second.key(content) for content in ("b", "a")] == ["b", "a"]
