"""Codex: the session logs ("rollouts") that it keeps on the owner's machine."""

import re
from collections.abc import Iterable, Iterator

import orjson

from pdpp_server.importers.formats.agent_sessions import (
    AgentSession,
    SessionPiece,
    Sessions,
    is_log,
    one_account,
    outcomes,
    stem,
)
from pdpp_server.importers.formats.content_blocks import ContentPiece
from pdpp_server.importers.formats.json_items import Item, members
from pdpp_server.importers.formats.json_values import (
    clipped,
    joined,
    list_of,
    object_in,
    object_of,
    text_in,
    text_of,
    time_in,
    written_out,
)
from pdpp_server.importers.identity import digest, record_key
from pdpp_server.importers.source import Account, File, Files, Head, Importer, Known, Outcome
from pdpp_server.wire.envelope import Json

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What Codex tells the model of the machine and the project, in the name of the user.
_NOT_ASKED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted)\b|# AGENTS\.md instructions)"
)
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def knows(head: Head) -> bool:
    """Rollouts of today, and those of the first versions, whose lines have no envelope."""
    return is_log(head, _is_rollout)


def accounts(files: Files, known: Known) -> Iterable[Account]:
    return one_account(files, known, "Codex")


def _is_rollout(start: bytes) -> bool:
    first = next(members(start), frozenset[str]())
    if first >= {"timestamp", "type", "payload"}:
        return b'"session_meta"' in start or b'"response_item"' in start
    return first >= {"id", "timestamp", "instructions"}


def read(account: Account) -> Iterator[Outcome]:
    """The messages in the order of the files, then the sessions that they make."""
    log = _Log()
    yield from outcomes(account, lambda file: _Rollout(file, log).messages)
    yield from log.sessions.records()


class _Log:
    """What came in earlier files."""

    def __init__(self) -> None:
        self.sessions = Sessions()
        self._contents: dict[str, str] = {}

    def key(self, session: str, number: int, content: str) -> str | None:
        """A log only grows, so the number of a line is its name; None for a line that another copy of it has too."""
        key, content = f"{session}~{number}", digest(content)[:12]
        if self._contents.get(key, content) != content:
            key = f"{key}~{content}"
        if key in self._contents:
            return None
        self._contents[key] = content
        return key


class _Rollout:
    """One file, which is one session, or a part of one."""

    def __init__(self, file: File, log: _Log) -> None:
        self._log = log
        self._ids = _UUID.findall(file.name) or [stem(file)]
        self._session: AgentSession | None = None

    def messages(self, item: Item) -> Iterator[Json]:
        line = item.data
        payload = object_in(line, "payload") if "payload" in line else line
        match line.get("type") if "payload" in line else "response_item":
            case "response_item" if payload.get("type"):
                yield from self._said(payload, item)
            case "session_meta" | "response_item":
                self._begin(payload)
            case "turn_context":
                self._of().note(cwd=text_in(payload, "cwd"), model=text_in(payload, "model"))
            case "compacted":
                yield from self._said({"type": "compacted", **payload}, item)
            case _:
                return

    def _begin(self, meta: Json) -> None:
        """A session that goes on from another repeats that one's beginning; its own comes first."""
        if self._session is None:
            session = self._of(text_in(meta, "id"))
            branch = text_in(object_in(meta, "git"), "branch")
            session.note(cwd=text_in(meta, "cwd"), git_branch=branch, version=text_in(meta, "cli_version"))
            session.first = session.first or time_in(meta, "timestamp")

    def _of(self, named: str = "") -> AgentSession:
        if self._session is None:
            self._session = self._log.sessions.of(record_key(named or self._ids[-1]))
        return self._session

    def _said(self, payload: Json, item: Item) -> Iterator[Json]:
        session = self._of()
        at = time_in(item.data, "timestamp")
        number = int(item.place.rpartition(":")[2])
        for role, piece in _pieces(payload):
            if not piece.text:
                continue
            key = self._log.key(session.id, number, f"{at} {piece.kind} {piece.text}")
            if key:
                yield session.message(SessionPiece(key, role, piece, at, session.model))


def _pieces(payload: Json) -> Iterator[tuple[str, ContentPiece]]:
    """At most one of a line, with who said it."""
    kind, call_id = text_in(payload, "type"), text_in(payload, "call_id")
    if kind == "message":
        role, text = text_in(payload, "role"), clipped(_text(payload.get("content")))
        is_asked = role == "user" and not _NOT_ASKED.match(text)
        if is_asked or role == "assistant":
            yield role, ContentPiece("", "text", text)
    elif kind == "reasoning":
        thought = _text(payload.get("summary")) or _text(payload.get("content"))
        yield "assistant", ContentPiece("", "reasoning", clipped(thought))
    elif kind in _CALLS:
        name = text_in(payload, "name") or kind.removesuffix("_call")
        called = clipped(f"{name}\n{_arguments(payload)}")
        yield "assistant", ContentPiece("", "tool_call", called, name, call_id)
    elif kind in _OUTPUTS:
        result = clipped(_output(payload.get("output")))
        yield "tool", ContentPiece("", "tool_result", result, "", call_id)
    elif kind == "compacted":
        yield "system", ContentPiece("", "summary", clipped(text_in(payload, "message")))


def _text(content: object) -> str:
    if isinstance(content, str):
        return text_of(content)
    blocks = map(object_of, list_of(content))
    return joined("\n\n", (text_in(block, "text") or _image(block) for block in blocks))


def _image(block: Json) -> str:
    return "[image]" if block.get("type") == "input_image" else ""


def _arguments(payload: Json) -> str:
    """A line for each argument, so that a script reads as it was written."""
    given = payload.get("arguments") or payload.get("input") or payload.get("action")
    if isinstance(given, str):
        parsed = _parsed(given)
        if not parsed:
            return text_of(given)
        given = parsed
    return "\n".join(f"{text_of(name)}: {_words(value)}" for name, value in object_of(given).items())


def _words(value: object) -> str:
    """A command is a list of words."""
    words = list_of(value)
    is_command = words and all(isinstance(word, str) for word in words)
    return text_of(" ".join(words)) if is_command else written_out(value)


def _output(output: object) -> str:
    """A text, or JSON that holds it, written out or not."""
    if isinstance(output, str):
        return text_in(_parsed(output), "output") or text_of(output)
    held = object_of(output)
    return _text(held.get("content")) or text_in(held, "output") or _text(output)


def _parsed(text: str) -> Json:
    if not text.startswith("{"):
        return {}
    try:
        return object_of(orjson.loads(text))
    except orjson.JSONDecodeError:
        return {}


CODEX = Importer(
    key="codex",
    knows=knows,
    accounts=accounts,
    read=read,
    usual_folders=("~/.codex/sessions", "~/.codex/archived_sessions"),
    takes="Codex sessions (~/.codex/sessions)",
    obtain="in the folder ~/.codex/sessions of the machine on which it ran",
)
