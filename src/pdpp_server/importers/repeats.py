"""Things without an id: the same twice in one file are two, and in two files that overlap they are one."""


class Repeats:
    """Counts what came before in the same file; a new file begins with a new count."""

    def __init__(self) -> None:
        self._once: set[int] = set()  # as numbers, for a long chat has millions and says next to nothing twice
        self._times: dict[str, int] = {}

    def key(self, content: str) -> str:
        """The digest of the content itself the first time, and numbered from the second on."""
        number = int(content, 16)
        if number not in self._once:
            self._once.add(number)
            return content
        times = self._times[content] = self._times.get(content, 1) + 1
        return f"{content}~{times}"
