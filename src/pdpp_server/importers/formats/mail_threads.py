"""Which messages of one account belong together, and what can be said of each such thread."""

import re
from collections.abc import Iterable, Iterator

from pdpp_server.importers.identity import short_hash
from pdpp_server.model.times import iso_micros
from pdpp_server.wire.envelope import Json

PARTICIPANTS_MAX = 50
SUBJECT_CHARS = 300  # of a thread; every message has its own whole

_REPLY = re.compile(
    r"\s*(?:re|aw|sv|vs|antw|ref|rif|tr|fwd?|wg|回复|答复|转发)(?:\s*\[[0-9]+\])?\s*[:\uff1a]\s*", re.IGNORECASE
)


class _Thread:
    __slots__ = ("count", "first", "last", "participants", "subject")

    def __init__(self, subject: str) -> None:
        self.subject = subject[:SUBJECT_CHARS]
        self.count = 0
        self.first: int | None = None
        self.last: int | None = None
        self.participants: tuple[str, ...] = ()


class MailThreads:
    """Grows with the number of threads, not with their text."""

    def __init__(self) -> None:
        self._threads: dict[str, _Thread] = {}
        self._roots: dict[int, int] = {}  # message to first message, where a chain of replies is told link by link
        self._subjects: dict[int, str] = {}  # subject to thread, for replies that name no message at all
        self._addresses: dict[str, str] = {}  # each kept once

    def of(self, message_id: str, references: list[str], answered: str | None, subject: str) -> str:
        """The thread of a message: named by its first message; a reply that names none goes by its subject."""
        bare = bare_subject(subject)
        known = None if references or answered or bare == subject else self._subjects.get(short_hash(bare))
        if known:
            return known
        first = short_hash((references or [answered or message_id])[0])
        root = self._roots.get(first, first)
        self._roots[short_hash(message_id)] = root
        thread = f"t-{root:016x}"
        if bare:
            self._subjects.setdefault(short_hash(bare), thread)
        return thread

    def knew(self, message_id: str, thread: str) -> None:
        """A message that was read another time is in that thread."""
        if re.fullmatch(r"t-[0-9a-f]{16}", thread):
            self._roots[short_hash(message_id)] = int(thread[2:], 16)

    def add(self, id: str, subject: str, at: int | None, addresses: Iterable[str]) -> None:
        thread = self._threads.get(id)
        if thread is None:
            thread = self._threads[id] = _Thread(bare_subject(subject))
        thread.count += 1
        if at is not None:
            thread.first = at if thread.first is None else min(at, thread.first)
            thread.last = at if thread.last is None else max(at, thread.last)
        new = [one for one in addresses if one not in thread.participants]
        if new and len(thread.participants) < PARTICIPANTS_MAX:
            kept = (self._addresses.setdefault(one, one) for one in dict.fromkeys(new))
            thread.participants = (*thread.participants, *kept)[:PARTICIPANTS_MAX]

    def records(self) -> Iterator[Json]:
        for id, thread in self._threads.items():
            data: Json = {"id": id, "subject": thread.subject, "message_count": thread.count}
            if thread.first is not None and thread.last is not None:
                data |= {"first_at": iso_micros(thread.first), "last_at": iso_micros(thread.last)}
            if thread.participants:
                data["participants"] = ", ".join(thread.participants)
            yield data


def bare_subject(subject: str) -> str:
    """Without what replies and forwards put before it."""
    while found := _REPLY.match(subject):
        subject = subject[found.end() :]
    return subject
