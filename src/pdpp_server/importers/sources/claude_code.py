"""Claude Code: the session logs that it keeps on the owner's machine."""

from collections.abc import Iterable, Iterator
from functools import partial

from pdpp_server.importers.formats.agent_sessions import SessionPiece, Sessions, is_log, one_account, outcomes, stem
from pdpp_server.importers.formats.content_blocks import pieces
from pdpp_server.importers.formats.json_items import Item, members
from pdpp_server.importers.formats.json_values import line_of, object_in, text_in, time_in, written_out
from pdpp_server.importers.identity import digest, record_key
from pdpp_server.importers.source import Account, File, Files, Head, Importer, Known, Outcome
from pdpp_server.wire.envelope import Json

_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}  # the best first
_MADE_UP = "<synthetic>"  # the model that Claude Code names for its own messages


def knows(head: Head) -> bool:
    return is_log(head, _is_log)


def accounts(files: Files, known: Known) -> Iterable[Account]:
    return one_account(files, known, "Claude Code")


def _is_log(start: bytes) -> bool:
    return any(one >= {"sessionId", "parentUuid"} or one >= {"type", "summary", "leafUuid"} for one in members(start))


def read(account: Account) -> Iterator[Outcome]:
    """The messages in the order of the files, then the sessions that they make."""
    log = _Log()
    yield from outcomes(account, lambda file: partial(log.messages, file))
    log.entitle_sessions()
    yield from log.sessions.records()


class _Log:
    def __init__(self) -> None:
        self.sessions = Sessions()
        self._session_of: dict[str, str] = {}  # by message: a summary names the message that it ends with
        self._titles: dict[str, dict[str, str]] = {kind: {} for kind in _TITLES}  # by session, or by such a message

    def messages(self, file: File, item: Item) -> Iterator[Json]:
        """Of one line. Lines of bookkeeping have none, and neither has what a continued session repeats."""
        line = item.data
        kind = text_in(line, "type")
        if kind in _TITLES:
            about = text_in(line, "leafUuid" if kind == "summary" else "sessionId")
            self._titles[kind][record_key(about)] = line_of(text_in(line, _TITLES[kind]))
        elif kind in ("user", "assistant", "system") and line.get("isMeta") is not True:
            yield from self._said(line, kind, text_in(line, "sessionId") or stem(file))

    def _said(self, line: Json, role: str, session_name: str) -> Iterator[Json]:
        session = self.sessions.of(record_key(session_name))
        message = object_in(line, "message")
        content = message.get("content") if message else line.get("content")
        named = text_in(line, "uuid")
        if not named:
            named = digest(session.id, written_out(line.get("timestamp")), written_out(content))
        key = record_key(named)
        if key in self._session_of:
            return
        self._session_of[key] = session.id
        model = text_in(message, "model").replace(_MADE_UP, "")
        is_subagent, at = line.get("isSidechain") is True, time_in(line, "timestamp")
        session.note(version=text_in(line, "version"))
        if not is_subagent:
            session.note(cwd=text_in(line, "cwd"), git_branch=text_in(line, "gitBranch"), model=model)
        for piece in pieces(content):
            speaker = "tool" if piece.kind == "tool_result" else role
            if line.get("isCompactSummary") is True:  # the program's words, in the name of the user
                piece, speaker = piece._replace(kind="summary"), "system"
            yield session.message(SessionPiece(key + piece.suffix, speaker, piece, at, model, is_subagent))

    def entitle_sessions(self) -> None:
        """A title that somebody or something gave is better than the first words."""
        for kind in reversed(_TITLES):
            for about, title in self._titles[kind].items():
                session = self.sessions.by_id.get(self._session_of.get(about, about))
                if session and title:
                    session.title = title


CLAUDE_CODE = Importer(
    key="claude-code",
    knows=knows,
    accounts=accounts,
    read=read,
    usual_folders=("~/.claude/projects", "~/.config/claude/projects"),
    takes="Claude Code sessions (~/.claude/projects)",
    obtain="in the folder ~/.claude/projects of the machine on which it ran",
)
