"""Keys of a home."""

from pathlib import Path

import pytest

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.store.keys import KeyFiles
from pdpp_server.wire.cursors import KEY_BYTES


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "cursors.key"

    keys = KeyFiles(path.parent)
    key = keys.kept(path.name)

    assert len(key) == KEY_BYTES
    assert keys.kept(path.name) == key
    assert keys.kept("other.key") != key
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in path.parent.iterdir()) == ["cursors.key", "other.key"]


def test_where_none_can_be_kept_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file, and no folder")

    with pytest.raises(DisclosureLogUnavailable):
        KeyFiles(tmp_path / "keys").kept("cursors.key")
