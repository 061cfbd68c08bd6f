"""Agents of the world: in this process, at /mcp, or with a `pdpp mcp` of their own; all see exactly what is sent."""

import json
import os
import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.mcp.server import McpServer, decode
from pdpp_server.mcp.session import McpSession
from pdpp_server.mcp.stdio import _front
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.port.reader import Reader
from pdpp_server.settings import Settings
from tests.harness.sights import split_window
from tests.warm import running
from tests.worlds.world import World

ROOT = Path(__file__).parents[3]
PDPP_MCP = [sys.executable, "-m", "pdpp_server.cli.main", "mcp"]
SECONDS = 30

Connect = Callable[[str], "Agent"]


@dataclass(frozen=True, slots=True)
class Result:
    """Both channels of one answer."""

    text: str
    structured: dict[str, Any]
    is_error: bool

    @property
    def code(self) -> str | None:
        """Of a refusal; none for an answer. Both channels say the same one."""
        if not self.is_error:
            return None
        code: str = self.structured["error"]["code"]
        assert self.text.startswith(f"{code}: ")
        return code

    @property
    def next_call(self) -> tuple[str, dict[str, Any]]:
        """Tool and arguments of the call that the text prints, as a reader of nothing else would copy it."""
        call = self.call_after("next")
        assert call
        return call

    def call_after(self, word: str) -> tuple[str, dict[str, Any]] | None:
        """The same of the last line that begins with that word; none where there is no such line."""
        header = split_window(self.text)[0]
        lines = [line for line in header.split("\n") if line.startswith(f"{word}: ")]
        if not lines:
            return None
        tool, _, rest = lines[-1].removeprefix(f"{word}: ").partition(" ")
        return tool, json.JSONDecoder().raw_decode(rest)[0]

    def mark(self, name: str) -> str | None:
        """The cursor or bookmark of that name on the first line."""
        found = re.search(rf" {name}=(\S+)", self.text.split("\n")[0])
        return found[1] if found else None


class Agent:
    """Sends lines of JSON, as a client of the older era does."""

    def __init__(self, send: Callable[[bytes], bytes]) -> None:
        self._send = send

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self._reply(method, params)["result"]

    def fault(self, method: str, **params: Any) -> dict[str, Any]:
        return self._reply(method, params)["error"]

    def read(self, uri: str) -> str:
        """The text of a resource."""
        (content,) = self.ask("resources/read", uri=uri)["contents"]
        assert content["uri"] == uri
        return content["text"]

    def _reply(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.loads(self._send(json.dumps(request).encode() + b"\n"))

    def call(self, tool: str, /, **arguments: Any) -> Result:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        (block,) = result["content"]
        assert block["type"] == "text"
        return Result(block["text"], result["structuredContent"], result.get("isError", False))


def agent_on(reader: Reader) -> Agent:
    """An agent in this process: the dispatch and the tools, on that reader."""
    server = McpServer(TOOLS)
    session = McpSession(
        _front(), decode=decode, serve=lambda method, params: server.serve(lambda: reader, method, params).result
    )

    def send(line: bytes) -> bytes:
        reply = session.handle(line)
        assert reply is not None
        return reply

    return Agent(send)


@contextmanager
def hosting(world: World, **settings: Any) -> Generator[TestClient]:
    """The whole server of that world, asked without a socket."""
    app = create_app(Settings(home=world.home, **settings), world.services)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def hosted_agent(client: TestClient, token: str) -> Agent:
    """An agent that posts to /mcp of that server; a refusal at the door it is shown by its client, as one of a tool."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def send(line: bytes) -> bytes:
        response = client.post("/mcp", content=line, headers=headers)
        if response.status_code != 403:
            assert response.status_code == 200, response.text
            return response.content
        refusal = response.json()
        shown = "{code}: {message}".format(**refusal["error"])
        result = {"content": [{"type": "text", "text": shown}], "structuredContent": refusal, "isError": True}
        return json.dumps({"result": result}).encode()

    return Agent(send)


@contextmanager
def adapter(home: Path, **variables: str) -> Generator[Agent]:
    """An agent that started `pdpp mcp` on that home; the process ends when its input does."""
    with running(["mcp"], env=environment(home, **variables), cwd=ROOT) as process:

        def send(line: bytes) -> bytes:
            process.given.write(line)
            process.given.flush()
            return process.out.readline()

        yield Agent(send)
        assert process.ended(SECONDS) == (0, "", "")


def environment(home: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PDPP_")}
    return {**kept, "PDPP_HOME": str(home), **variables}


def handle_of(world: World, key: str, *, stream: str = "messages", family: bool = False) -> str:
    return f"{world.family if family else world.work}/{stream}:{key}"


def reads_of(world: World) -> dict[str, dict[str, Any]]:
    """One call of each tool that discloses something of the long message."""
    id = handle_of(world, "m2")
    return {
        "schema": {"stream": "messages"},
        "query_records": {"stream": "messages", "filter": {"likes": 0}},
        "search": {"query": "walrus"},
        "fetch": {"id": id},
        "read_record_field": {"id": id, "field_path": "text", "limit_chars": 100},
    }
