"""A copy of one moment says how far it has come."""

from pathlib import Path

import pytest

from pdpp_server.store.engines.sqlite import snapshot
from pdpp_server.store.engines.sqlite.db import SqliteDatabase


def test_every_byte_of_a_copy_is_heard_of_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteDatabase(home / "pdpp.sqlite").close()
    monkeypatch.setattr(snapshot, "STEP_PAGES", 10)
    heard: list[int] = []

    snapshot.take(home / "pdpp.sqlite", home / "copy.sqlite", heard.append)

    assert len(heard) > 1
    assert sum(heard) == (home / "copy.sqlite").stat().st_size
