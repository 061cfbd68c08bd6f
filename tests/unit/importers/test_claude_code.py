"""Claude Code: how sessions are called, and what a continued one repeats."""

from pdpp_server.importers.sources.claude_code import CLAUDE_CODE
from tests.requirements import requirement
from tests.unit.importers.agent_logs import lines, said
from tests.unit.importers.exports import files_of, records_of


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
