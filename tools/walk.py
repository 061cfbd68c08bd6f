"""`python -m tools.walk search|import`: the files that one hosted search or one import visits, from a trace."""

import logging
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from types import FrameType
from typing import Any

from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.importers.registry import IMPORTERS, look_into
from pdpp_server.importers.run import fingerprint_of, import_account
from pdpp_server.settings import Settings
from tests.worlds.world import Clock, World, build, close
from tools.tree import PACKAGE, ROOT, modules

ASKED = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "lease"}},
}
VALUES = "model"  # imported by all, importing nothing: a question put to a value leads nowhere else
SAMPLE = ROOT / "tests" / "importers" / "whatsapp" / "iphone"


class Trace:
    """The files of the package that are entered while it is on, in the order of the first visit."""

    def __init__(self) -> None:
        self.is_on = False
        self.files: dict[str, None] = {}
        self.functions: set[tuple[str, str]] = set()
        self.hops = self.to_values = 0
        self._package = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if not self.is_on or event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return
        name = Path(code.co_filename).relative_to(PACKAGE).as_posix()
        package = name.partition("/")[0]
        is_hop = package != self._package
        self.hops += is_hop
        self.to_values += is_hop and package == VALUES
        self._package = package
        self.files.setdefault(name)
        self.functions.add((name, code.co_qualname))

    @contextmanager
    def on(self) -> Generator[None]:
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False


def search(world: World, trace: Trace) -> None:
    """The second of two alike: what is only done once in a process is no part of the walk."""
    app = create_app(Settings(home=world.home), world.services)
    headers = {"Authorization": f"Bearer {world.token}", "Accept": "application/json"}
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as http:
        http.post("/mcp", json=ASKED, headers=headers).raise_for_status()
        with trace.on():
            http.post("/mcp", json=ASKED, headers=headers).raise_for_status()


def bring(world: World, trace: Trace) -> None:
    with trace.on():
        for found in look_into(SAMPLE, UTC, None, IMPORTERS).found:
            writer = world.owner.writer(found.declaration, found.account.name)
            import_account(found, writer, fingerprint=fingerprint_of(found))


WALKS: dict[str, Callable[[World, Trace], None]] = {"search": search, "import": bring}


def walked(name: str) -> Trace:
    trace = Trace()
    threading.setprofile(trace)  # of threads that begin from now on
    sys.setprofile(trace)
    try:
        with tempfile.TemporaryDirectory() as folder:
            world = build(Path(folder), Clock())
            try:
                WALKS[name](world, trace)
            finally:
                close(world.services)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return trace


def walk_lines(name: str) -> list[str]:
    """Each file with its sentence, in the order of the first visit, then the sum."""
    trace, sentences = walked(name), {module.name: module.sentence for module in modules()}
    lines = [f"{file:<40} {sentences.get(file, '')}".rstrip() for file in trace.files]
    hops = f"{trace.hops} hops between packages, {trace.to_values} of them to ask a value of `{VALUES}/` something"
    return [*lines, f"{len(trace.files)} files, {len(trace.functions)} functions, {hops}"]


def main(arguments: list[str]) -> int:
    match arguments:
        case [name] if name in WALKS:
            logging.disable(logging.WARNING)  # the server's own line for each request is no part of the walk
            print("\n".join(walk_lines(name)))
            return 0
        case _:
            print("make walk of=NAME, where NAME is one of: " + ", ".join(WALKS), file=sys.stderr)
            return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
