"""The packages of tests/node, run as processes of their own: clients of other makers, told what to do line by line."""

import json
import os
import pty
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Timer
from typing import IO, Any

FOLDER = Path(__file__).parents[2] / "node"
PACKAGES = FOLDER / "node_modules"
NEWEST_NEED = (22, 19)
SECONDS = 60
AUTHORIZATION = re.compile(r"http://[^\s\x07\x1b]+/oauth/authorize\?[^\s\x07\x1b]+")
# What is not on this machine cannot be reached: whoever tries ends at a port where nobody listens.
OFFLINE = {f"{name}_PROXY": "http://127.0.0.1:9" for name in ("HTTP", "HTTPS")} | {"NO_PROXY": "127.0.0.1,localhost"}


class Fault(Exception):
    """What a client raised, as its maker names it."""

    def __init__(self, *, name: str, code: int | str | None = None, message: str) -> None:
        super().__init__(message)
        self.name, self.code = name, code


class Client:
    """A connected client. `do` calls one of its methods."""

    def __init__(self, process: subprocess.Popen[str], complaints: IO[str]) -> None:
        self._process, self._complaints = process, complaints

    def do(self, method: str, *params: object) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        stdin.write(json.dumps({"method": method, "params": params}) + "\n")
        stdin.flush()
        line = stdout.readline()
        assert line, f"The client is gone: {self.complaints()}"
        outcome = json.loads(line)
        if "error" in outcome:
            raise Fault(**outcome["error"])
        return outcome.get("result")

    def complaints(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read()


@contextmanager
def client(script: Sequence[str], server: dict[str, Any], complaining: str = "") -> Generator[Client]:
    """The client of that script, and that server; in the end it goes in peace, and complained of nothing else."""
    name, *options = script
    with (
        tempfile.TemporaryFile("w+") as complaints,
        subprocess.Popen(
            [node(), str(FOLDER / name), json.dumps(server), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            env=environment(),
        ) as process,
    ):
        connected, hung = Client(process, complaints), Timer(SECONDS, process.kill)
        hung.start()
        try:
            yield connected
            assert process.communicate() == ("", None)
            said = connected.complaints()
            assert process.returncode == 0, said
            assert re.fullmatch(complaining, said), said
        finally:
            hung.cancel()
            process.kill()


def ended(package: str, *arguments: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What became of a command that a package brings; `home` is where it may keep things."""
    return subprocess.run(
        [node(), str(PACKAGES / ".bin" / package), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**environment(), "HOME": str(home), **variables},
        check=False,
    )


def guided(package: str, *arguments: str, home: Path, go: Callable[[str], object], **variables: str) -> list[str]:
    """What a command of a package said that sends somebody to an authorization endpoint; `go` is that somebody."""
    return attended([node(), str(PACKAGES / ".bin" / package), *arguments], home=home, go=go, **variables)


def attended(command: Sequence[str], *, home: Path, go: Callable[[str], object], **variables: str) -> list[str]:
    """The same for any program.

    Its standard input is a terminal, for such commands ask only where a person might sit.
    """
    keyboard, terminal = pty.openpty()
    lines: list[str] = []
    opened: set[str] = set()
    with subprocess.Popen(
        command,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=home,
        env={**environment(), **OFFLINE, "HOME": str(home), **variables},
    ) as process:
        hung = Timer(SECONDS, process.kill)
        hung.start()
        try:
            for line in process.stdout or ():
                lines.append(line)
                if (address := AUTHORIZATION.search(line)) and address[0] not in opened:
                    opened.add(address[0])
                    go(address[0])
        finally:
            hung.cancel()
            process.kill()
            os.close(keyboard)
            os.close(terminal)
    return lines


def version_of(package: str) -> str:
    return json.loads((PACKAGES / package / "package.json").read_bytes())["version"]


def environment() -> dict[str, str]:
    """Nothing of ours, and the same Node for whatever they start."""
    return {"PATH": os.pathsep.join([str(Path(node()).parent), os.environ["PATH"]])}


@cache
def node() -> str:
    """A Node that is new enough for all of them: the pinned one, or on machines without one whatever is there."""
    assert PACKAGES.is_dir(), "The clients are not installed: run make clients."
    pinned = next(PACKAGES.glob("node-*/bin/node"), None)
    if pinned:
        return str(pinned)
    found = shutil.which("node")
    assert found, "There is no Node: install Node 22.19 or newer."
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(int(part) for part in said.strip().lstrip("v").split("."))
    assert version >= NEWEST_NEED, f"Node {said.strip()} is too old for these clients: install Node 22.19 or newer."
    return found
