"""Things without an id: the same twice in one file are two, and in two files that overlap they are one."""

from collections import Counter


class Repeats:
    """Counts what came before in the same file; a new file begins with a new count."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()

    def key(self, content: str) -> str:
        """The digest of the content itself the first time, and numbered from the second on."""
        self._times[content] += 1
        times = self._times[content]
        return content if times == 1 else f"{content}~{times}"
