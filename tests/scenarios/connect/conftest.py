"""A machine with a person at it: a home, a browser that is opened for them, and the command in this process."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.app import create_app
from pdpp_server.cli import connect, main
from pdpp_server.owner import sign_in
from pdpp_server.settings import Settings
from tests.scenarios.cli.command import Ran
from tests.scenarios.connect.browser import Browser, with_password
from tests.worlds.served import served
from tests.worlds.world import World

Run = Callable[..., Ran]
WAIT = ("--wait", "20")


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "MEMORY_KIB", 64)
    monkeypatch.setattr(sign_in, "ITERATIONS", 1)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's own folder, in which clients keep their files; the home of the command is elsewhere in it."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME", "PDPP_PUBLIC_URL", "PDPP_ACCESS_TOKEN", "PDPP_PROVIDER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("PDPP_HOME", str(folder / "pdpp"))
    monkeypatch.setenv("PDPP_PORT", "9")  # where nobody answers
    return folder


@pytest.fixture
def run(machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command, with the browser that it would open and the variables that it would find."""

    def run(*words: str, browser: Any = None, **variables: str) -> Ran:
        def nobody(address: str) -> bool:
            return True

        capsys.readouterr()
        with monkeypatch.context() as patched:
            patched.setattr(connect.webbrowser, "open", browser.open if browser else nobody)
            for name, value in variables.items():
                patched.setenv(name, value)
            code = main._run([*words, *(WAIT if words[0] == "connect" and "--wait" not in words else ())])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


@pytest.fixture
def address(world: World) -> Iterator[str]:
    """Somebody's server."""
    with_password(world.services)
    with served(create_app(Settings(home=world.home), world.services)) as address:
        yield address


@pytest.fixture
def browser(world: World) -> Browser:
    """Its owner agrees to one account."""
    return Browser(f"0:{world.work}")
