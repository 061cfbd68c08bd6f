"""Lines for a shell that run this same program on this same home."""

import sys
from pathlib import Path

import pytest

from pdpp_server.cli import home
from pdpp_server.cli.home import named_home, own_address, program, shell_line, this_program
from pdpp_server.settings import Settings


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "my apps" / "pdpp"
    path.parent.mkdir()
    path.touch()
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.setattr(home.shutil, "which", lambda _: None)
    return path


def test_a_line_names_the_home_and_quotes_what_a_shell_would_split(installed: Path) -> None:
    line = shell_line(Path("/home/m/my data"), "import", "a b.zip", PDPP_X="1")
    assert line == f"PDPP_HOME='/home/m/my data' PDPP_X=1 '{installed}' import 'a b.zip'"


def test_the_program_has_its_short_name_where_a_shell_finds_this_one(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert program() == str(installed)
    monkeypatch.setattr(home.shutil, "which", lambda _: str(installed.parent / "." / "pdpp"))
    assert program() == "pdpp"
    monkeypatch.setattr(home.shutil, "which", lambda _: "/usr/bin/pdpp")
    assert program() == str(installed)
    monkeypatch.setattr(sys, "argv", ["/x/python -m"])
    assert program() == "pdpp"


def test_a_client_from_a_menu_gets_the_whole_path(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert this_program() == (str(installed), ())
    monkeypatch.setattr(sys, "argv", ["/nowhere/pytest"])
    monkeypatch.setattr(sys, "executable", str(installed.with_name("python")))
    assert this_program() == (str(installed), ())
    installed.unlink()
    assert this_program() == (str(installed.with_name("python")), ("-m", "pdpp_server.cli.main"))


def test_only_a_home_that_the_environment_names_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDPP_HOME", "")
    assert named_home() is None
    monkeypatch.setenv("PDPP_HOME", "somewhere")
    assert named_home() == Path.cwd() / "somewhere"


def test_a_server_is_known_by_its_public_address_else_by_its_local_one() -> None:
    settings = Settings(home=Path("/x"), host="127.0.0.1", port=7000)
    assert own_address(settings) == "http://127.0.0.1:7000"
    assert own_address(Settings(home=Path("/x"), public_url="https://x.example")) == "https://x.example"
