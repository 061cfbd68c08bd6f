"""How files that do not explain themselves are read: asked once, and kept."""

from pathlib import Path

from pdpp_server.cli.mappings import how_to_say, keep, kept_mapping
from pdpp_server.importers.source import Choice, Proposal

ONE = Proposal("k1", (Choice("", b"a = 1"),))
TWO = Proposal("k1", (Choice("day first", b"a = 1"), Choice("month first", b"a = 2")))


def test_what_was_agreed_is_kept_for_files_of_the_same_form(tmp_path: Path) -> None:
    assert kept_mapping(tmp_path, TWO) is None
    keep(tmp_path, TWO, b"a = 2")
    assert kept_mapping(tmp_path, TWO) == b"a = 2"
    assert kept_mapping(tmp_path, TWO._replace(key="k2")) is None
    assert kept_mapping(tmp_path, None) is None
    assert (tmp_path / "mappings").stat().st_mode & 0o777 == 0o700


def test_what_this_file_cannot_mean_is_asked_again(tmp_path: Path) -> None:
    keep(tmp_path, TWO, b"a = 2")
    assert kept_mapping(tmp_path, ONE) is None


def test_where_nobody_can_be_asked_it_is_said_how_to_say_it() -> None:
    assert "--yes" in how_to_say(ONE)
    assert "--yes" not in how_to_say(TWO)
    assert "--mapping FILE" in how_to_say(TWO)
