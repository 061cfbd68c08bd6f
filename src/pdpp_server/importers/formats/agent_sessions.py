"""Sessions of coding agents, as they grow out of the lines of their logs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pdpp_server.importers.formats.content_blocks import ContentPiece
from pdpp_server.importers.formats.json_items import Item, json_start, lines
from pdpp_server.importers.formats.json_values import line_of, without_gaps
from pdpp_server.importers.source import Account, DamagedFile, File, Files, Head, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json


class SessionPiece(NamedTuple):
    """One piece of a session, and all that is told of it."""

    key: str
    role: str  # user, assistant, tool or system
    piece: ContentPiece
    sent_at: str | None
    model: str = ""
    is_subagent: bool = False


@dataclass(slots=True)
class AgentSession:
    """What is known of one session so far."""

    id: str
    title: str = ""  # as it was named; else its first request stands for it
    request: str = ""
    cwd: str = ""
    git_branch: str = ""
    version: str = ""
    model: str = ""
    first: str | None = None
    last: str | None = None
    count: int = 0
    calls: dict[str, str] = field(default_factory=dict[str, str])  # tools that have not answered yet, by call

    @property
    def project(self) -> str:
        return self.cwd.replace("\\", "/").rstrip("/").rpartition("/")[2]

    def note(self, *, cwd: str = "", git_branch: str = "", version: str = "", model: str = "") -> None:
        """The first folder and branch, the latest version and model."""
        self.cwd, self.git_branch = self.cwd or cwd, self.git_branch or git_branch
        self.version, self.model = version or self.version, model or self.model

    def message(self, said: SessionPiece) -> Json:
        """A record, from which the session learns. What an agent asked of another is no request of the owner."""
        piece, sent_at = said.piece, said.sent_at
        if said.role == "user" and not said.is_subagent and not self.request:
            self.request = line_of(piece.text)
        if sent_at:
            self.first, self.last = min(self.first or sent_at, sent_at), max(self.last or sent_at, sent_at)
        self.count += 1
        return without_gaps(
            {
                "id": said.key,
                "session_id": self.id,
                "session_title": self.request,
                "project": self.project,
                "role": said.role,
                "kind": piece.kind,
                "text": piece.text,
                "sent_at": sent_at,
                "tool": self._tool(piece),
                "call_id": piece.call_id,
                "model": said.model if said.role == "assistant" else "",
                "is_subagent": said.is_subagent,
            }
        )

    def _tool(self, piece: ContentPiece) -> str:
        """An answer names only the call that it belongs to."""
        if piece.kind == "tool_call" and piece.call_id:
            self.calls[piece.call_id] = piece.tool
        return self.calls.pop(piece.call_id, "") if piece.kind == "tool_result" else piece.tool

    def record(self) -> Json:
        return without_gaps(
            {
                "id": self.id,
                "title": self.title or self.request or "Untitled session",
                "project": self.project,
                "folder": self.cwd,
                "git_branch": self.git_branch,
                "model": self.model,
                "agent_version": self.version,
                "started_at": self.first,
                "ended_at": self.last,
                "message_count": self.count,
            }
        )


@dataclass(slots=True)
class Sessions:
    """All of one account."""

    by_id: dict[str, AgentSession] = field(default_factory=dict[str, AgentSession])

    def of(self, id: str) -> AgentSession:
        return self.by_id.setdefault(id, AgentSession(id))

    def records(self) -> Iterator[Incoming]:
        """Those in which something was said."""
        for session in self.by_id.values():
            if session.count:
                yield Incoming("sessions", "sessions", session.id, session.record(), None)


def is_log(head: Head, is_known: Callable[[bytes], bool]) -> bool:
    """A log is known by its beginning."""
    return head.file.name.endswith(".jsonl") and is_known(json_start(head))


def one_account(files: Files, known: Known, name: str) -> Iterator[Account]:
    """All logs of a machine are one account."""
    if known:
        yield Account(name, tuple(known), files.zone)


def stem(file: File) -> str:
    """What a session is called that does not name itself."""
    return file.name.rpartition("/")[2].removesuffix(".jsonl")


def outcomes(account: Account, reader: Callable[[File], Callable[[Item], Iterator[Json]]]) -> Iterator[Outcome]:
    """The messages of every line, file by file."""
    for file in account.files:
        messages_of = reader(file)
        try:
            for item in lines(file):
                if isinstance(item, Rejection):
                    yield item
                    continue
                for data in messages_of(item):
                    yield Incoming(item.place, "messages", data["id"], data, None)
        except DamagedFile as damaged:
            yield Rejection(file.name, "invalid_record", damaged.message)
