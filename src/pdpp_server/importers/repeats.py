"""Things without an id: the same twice in one file are two, and in two files that overlap they are one."""

from array import array

_HASH_DIGITS = 16  # of the digest of a content: eight bytes


class Repeats:
    """Counts what came before in the same file; a new file begins with a new count."""

    def __init__(self) -> None:
        self._once: set[int] = set()  # as numbers, for a long chat has millions and says next to nothing twice
        self._times: dict[str, int] = {}
        self._latest = ""
        self._before = array("Q")  # what is of earlier moments, in a tenth of the room
        self._is_in_order = True

    def key(self, content: str, at: str = "") -> str:
        """The digest of the content itself the first time, and numbered from the second on.

        `at` is the moment that is part of the content: the same again is of the same moment.
        """
        if at != self._latest:
            self._move_on(at)
        number = int(content[:_HASH_DIGITS], 16)
        if number not in self._once:
            self._once.add(number)
            return content
        times = self._times[content] = self._times.get(content, 1) + 1
        return f"{content}~{times}"

    def _move_on(self, at: str) -> None:
        """While moments only get later nothing can come again; once one is earlier, all that came is looked at."""
        if self._is_in_order and at > self._latest:
            self._before.extend(self._once)
            self._once.clear()
            self._latest = at
        elif self._is_in_order:
            self._is_in_order = False
            self._once.update(self._before)
            self._before = array("Q")
