"""Claude Code and Codex: logs that grow."""

import orjson

from pdpp_server.importers.source import Importer
from pdpp_server.importers.sources.claude_code import CLAUDE_CODE
from pdpp_server.importers.sources.codex import CODEX
from pdpp_server.wire.envelope import Json
from tests.requirements import requirement
from tests.unit.importers.exports import files_of, records_of, rejections_of


def lines(*objects: Json) -> bytes:
    return b"".join(orjson.dumps(one) + b"\n" for one in objects)


def said(uuid: str, text: str, session: str = "s1", **more: object) -> Json:
    about = {"uuid": uuid, "parentUuid": None, "sessionId": session, "timestamp": f"2026-03-01T10:00:0{uuid}Z"}
    return {"type": "user", "message": {"role": "user", "content": text}, **about, **more}


def item(text: str, role: str = "user") -> Json:
    payload = {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}
    return {"timestamp": "2026-04-01T08:00:00Z", "type": "response_item", "payload": payload}


def meta(session: str) -> Json:
    return {
        "timestamp": "2026-04-01T08:00:00Z",
        "type": "session_meta",
        "payload": {"id": session, "cwd": "/home/m/lamp"},
    }


@requirement("imp.agents.growing")
def test_a_log_that_is_being_written_is_read_to_its_last_whole_line_and_its_keys_stay() -> None:
    logs: list[tuple[Importer, str, bytes]] = [
        (CLAUDE_CODE, "p/s1.jsonl", lines(said("1", "one"), said("2", "two"), said("3", "three"))),
        (CODEX, "2026/04/01/rollout-s1.jsonl", lines(meta("s1"), item("one"), item("two"), item("three"))),
    ]
    for importer, name, whole in logs:
        growing = files_of({name: whole[:-20]})
        earlier, later = (records_of(importer, files, "messages") for files in (growing, files_of({name: whole})))
        assert [one["text"] for one in earlier] == ["one", "two"]
        assert earlier == later[:2]
        assert rejections_of(importer, growing) == []


@requirement("imp.agents.sessions")
def test_a_session_is_called_by_its_title_else_by_its_summary_else_by_what_was_asked_first() -> None:
    log = lines(
        {"type": "summary", "summary": "Of the second", "leafUuid": "2"},
        said("1", "asked first"),
        said("2", "in the second", "s2"),
        said("3", "in the third", "s3"),
        {"type": "ai-title", "sessionId": "s3", "aiTitle": "By the program"},
        {"type": "custom-title", "sessionId": "s3", "customTitle": "By the owner"},
    )
    found = records_of(CLAUDE_CODE, files_of({"p/log.jsonl": log}), "sessions")
    assert [one["title"] for one in found] == ["asked first", "Of the second", "By the owner"]


@requirement("imp.agents.sessions")
def test_what_a_continued_session_repeats_is_there_once_and_a_helper_asks_nothing() -> None:
    first = lines(said("1", "question"), said("2", "asked by the agent", isSidechain=True))
    files = files_of({"p/s1.jsonl": first, "p/s2.jsonl": lines(said("1", "question", "s2"), said("3", "more", "s2"))})
    found = records_of(CLAUDE_CODE, files, "messages")
    assert [(one["text"], one["session_id"], one["is_subagent"]) for one in found] == [
        ("question", "s1", False),
        ("asked by the agent", "s1", True),
        ("more", "s2", False),
    ]
    assert [one["title"] for one in records_of(CLAUDE_CODE, files, "sessions")] == ["question", "more"]


@requirement("imp.agents.sessions")
def test_what_codex_tells_the_model_itself_is_not_what_the_owner_asked() -> None:
    log = lines(meta("s1"), item("<environment_context>x"), item("be careful", "developer"), item("Blink twice."))
    files = files_of({"rollout-1.jsonl": log})
    assert [one["text"] for one in records_of(CODEX, files, "messages")] == ["Blink twice."]
    (session,) = records_of(CODEX, files, "sessions")
    assert (session["id"], session["title"], session["project"]) == ("s1", "Blink twice.", "lamp")


@requirement("imp.agents.sessions")
def test_a_copy_of_a_rollout_adds_nothing_and_another_of_the_same_session_adds_its_own() -> None:
    log, other = lines(meta("s1"), item("one")), lines(meta("s1"), item("another"))
    files = files_of({"a/rollout-1.jsonl": log, "b/rollout-1.jsonl": log, "c/rollout-2.jsonl": other})
    assert [one["text"] for one in records_of(CODEX, files, "messages")] == ["one", "another"]
    assert [one["message_count"] for one in records_of(CODEX, files, "sessions")] == [2]


@requirement("imp.files.recognised")
def test_other_logs_are_nobodys() -> None:
    log = lines({"timestamp": "2026-01-01", "type": "click", "payload": {}}, {"sessionId": "s", "type": "page"})
    assert list(CODEX.recognise(files_of({"events.jsonl": log}))) == []
    assert list(CLAUDE_CODE.recognise(files_of({"events.jsonl": log}))) == []
