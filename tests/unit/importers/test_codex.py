"""Codex: what the owner asked, and rollouts that lie there twice."""

from pdpp_server.importers.sources.codex import CODEX
from tests.requirements import requirement
from tests.unit.importers.agent_logs import item, lines, meta
from tests.unit.importers.exports import files_of, records_of


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
