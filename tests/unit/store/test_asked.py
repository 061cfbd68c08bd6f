"""What was asked lies in a file of its own."""

from pathlib import Path

import apsw
import pytest

from pdpp_server.store.asked import SealedAsk
from pdpp_server.store.engines.sqlite.asked import SqliteAsked

ASK = SealedAsk("req_1", "search", "2026-11", b"sealed")


def test_the_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    connection = apsw.Connection

    def opening(path: str) -> apsw.Connection:
        opened.append(path)
        return connection(path)

    monkeypatch.setattr(apsw, "Connection", opening)
    asked = SqliteAsked(tmp_path / "asked.sqlite")

    asked.keep(ASK)

    assert asked.every() == [ASK]
    assert opened == [str(tmp_path / "asked.sqlite")]
    asked.close()
