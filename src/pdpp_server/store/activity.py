"""The disclosure log, as it is written before an answer leaves and as its owner asks it."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypedDict, Unpack

from pdpp_server.model.activity import ClientQuarter, Day, Disclosure, Segment, Verdict
from pdpp_server.store.log import Ends, LogLine, ReadLines


class Log(Protocol):
    def append(self, disclosure: Disclosure) -> None:
        """When this returns, the line outlives the process.

        Raises:
            DisclosureLogUnavailable: nothing may leave.
        """
        ...

    def can_append(self) -> bool:
        """Whether a line could be kept now, for whoever watches over the server."""
        ...

    def close(self) -> None: ...


class ActivityAsked(TypedDict, total=False):
    """How activity is narrowed; by everything that is given. `own` are the owner's own looks."""

    grant_id: str | None
    client_id: str | None
    request_id: str | None
    record: str | None
    connection_id: str | None
    since: str | None
    until: str | None
    own: bool | None


class Activity(Ends, Protocol):
    def recent(self, *, limit: int = 50, **asked: Unpack[ActivityAsked]) -> list[Disclosure]:
        """The newest disclosures first."""
        ...

    def per_day(self, grant_id: str | None = None) -> list[Day]:
        """How many reads and records each day, newest day first; a read under several grants counts for each."""
        ...

    def per_client_quarter(self, since: str) -> list[ClientQuarter]:
        """How many reads and records each client each quarter of an hour, newest first."""
        ...

    def first_reads(self) -> dict[str, str]:
        """When each client read for the first time."""
        ...

    def segments(self) -> AbstractContextManager[Mapping[str, ReadLines]]:
        """The log as it was written: the lines of each segment, by its id."""
        ...

    def take(self, id: str, lines: Sequence[LogLine]) -> None:
        """A segment of another home, as it was written there; one that is here already stays."""
        ...

    def remove(self, ids: Iterable[str]) -> None:
        """Those segments, for good: whoever asks has noted it, or they would be missed."""
        ...

    def verify(self, seen: Iterable[Segment] = ()) -> list[Verdict]:
        """Whether any line was changed or taken away since it was written, or since somebody has `seen` it."""
        ...
