"""Claude Code and Codex: logs that grow."""

from pdpp_server.importers.source import Importer
from pdpp_server.importers.sources.claude_code import CLAUDE_CODE
from pdpp_server.importers.sources.codex import CODEX
from tests.requirements import requirement
from tests.unit.importers.agent_logs import item, lines, meta, said
from tests.unit.importers.exports import files_of, records_of, rejections_of


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


@requirement("imp.files.recognised")
def test_other_logs_are_nobodys() -> None:
    log = lines({"timestamp": "2026-01-01", "type": "click", "payload": {}}, {"sessionId": "s", "type": "page"})
    assert list(CODEX.recognise(files_of({"events.jsonl": log}))) == []
    assert list(CLAUDE_CODE.recognise(files_of({"events.jsonl": log}))) == []
