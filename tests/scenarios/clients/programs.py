"""Programs that people use, each driven by its own command, as an actor of one journey: sign in, list, call."""

import json
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from threading import Thread, Timer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from tests.scenarios.clients.models import Messages, Model, Responses, speaking
from tests.scenarios.clients.node import (
    AUTHORIZATION,
    OFFLINE,
    PACKAGES,
    SECONDS,
    Fault,
    attended,
    client,
    ended,
    environment,
    guided,
    node,
    version_of,
)
from tools.tree import ROOT

Go = Callable[[str], str]  # to the owner, who says yes; the address at which the client waits for the answer

SERVER = "my-data"
ASKED = {"query": "lease"}
OLD_SDK = ROOT / ".venv" / "sdk1"


class NotSignedIn(Exception):
    """It says itself that its owner has to be asked."""


class Program(ABC):
    """`shows` is what its model reads of an answer, where it has one."""

    name: ClassVar[str]
    known_as: ClassVar[str]  # on the owner's pages
    shows: ClassVar[str] = ""

    def __init__(self, home: Path, url: str) -> None:
        self.home, self.url = home, url

    @property
    @abstractmethod
    def version(self) -> str: ...

    @abstractmethod
    def sign_in(self, go: Go) -> None: ...

    @abstractmethod
    def tools(self) -> set[str]: ...

    @abstractmethod
    def hits(self) -> int: ...

    def age(self) -> None:  # noqa: B027 - most learn it from the server
        """Its token has reached its end."""

    def close(self) -> None:  # noqa: B027 - most leave nothing running
        """It is not needed any more."""


def carry(go: Go) -> Callable[[str], None]:
    """As a browser: with the owner's answer to the client that listens on this machine."""

    def opened(address: str) -> None:
        with httpx2.Client(transport=httpx2.HTTPTransport(retries=3), follow_redirects=True) as http:
            assert http.get(go(address)).status_code < 400

    return opened


class Agent(Program):
    """A program with a model, which is written beforehand here."""

    model: ClassVar[type[Model]]
    tool: ClassVar[str]

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        self._offered: set[str] = set()

    def tools(self) -> set[str]:
        self.hits()
        space = self.tool.removesuffix("search")
        return {name.removeprefix(space) for name in self._offered if name.startswith(space)}

    def hits(self) -> int:
        with speaking(self.model, self.tool, ASKED) as (address, model):
            self.ask(address)
        self._offered = model.offered
        if self.tool not in model.offered:
            raise NotSignedIn
        shown = model.saw[0]
        return len(json.loads(shown[shown.index("{") :])["results"])  # the structured form, and nothing else

    @abstractmethod
    def ask(self, model: str) -> None: ...

    def run(self, *command: str, **variables: str) -> str:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=self.home,
            env={**environment(), **OFFLINE, "HOME": str(self.home), **variables},
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout


class ClaudeCode(Agent):
    name, known_as, shows = "Claude Code", "Claude Code", "structured"
    model, tool = Messages, f"mcp__{SERVER}__search"
    quiet: ClassVar[dict[str, str]] = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        self.program = _native("@anthropic-ai/claude-code-*/claude")
        self.run(self.program, "mcp", "add", "--transport", "http", SERVER, url, **self.quiet)

    @property
    def version(self) -> str:
        return version_of("@anthropic-ai/claude-code")

    def sign_in(self, go: Go) -> None:
        said = attended([self.program, "mcp", "login", SERVER], home=self.home, go=carry(go), **self.quiet)
        assert "Authenticated" in "".join(said), said

    def state(self) -> str:
        """What `claude mcp list` says of us."""
        listed = self.run(self.program, "mcp", "list", **self.quiet)
        return next(line for line in listed.splitlines() if line.startswith(SERVER)).rpartition(" - ")[2]

    def forget(self) -> None:
        self.run(self.program, "mcp", "logout", SERVER, **self.quiet)

    def ask(self, model: str) -> None:
        key = {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "sk-none", "ENABLE_TOOL_SEARCH": "false"}
        self.run(self.program, "-p", "Find it.", "--allowedTools", f"mcp__{SERVER}", **self.quiet, **key)


class Codex(Agent):
    name, known_as, shows = "Codex", "Codex", "structured"
    model, tool = Responses, "mcp__my_data__search"

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        self.program = _native("@openai/codex-*/vendor/*/bin/codex")

    @property
    def version(self) -> str:
        return version_of("@openai/codex")

    def sign_in(self, go: Go) -> None:
        config = self.home / ".codex" / "config.toml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(f'[mcp_servers.{SERVER}]\nurl = "{self.url}"\n', "utf-8")
        said = attended([self.program, "mcp", "login", SERVER], home=self.home, go=carry(go))
        assert "Successfully logged in" in "".join(said), said

    def ask(self, model: str) -> None:
        speaks = f'name="written",base_url="{model}/v1",env_key="KEY",wire_api="responses"'
        chosen = ["-c", 'model_provider="written"', "-c", f"model_providers.written={{{speaks}}}", "-c", 'model="none"']
        freely = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        self.run(self.program, *chosen, "exec", *freely, "Find it.", KEY="none")


def _native(pattern: str) -> str:
    found = next(PACKAGES.glob(pattern), None)
    assert found, f"There is no {pattern} for this platform: run make clients."
    return str(found)


class Inspector(Program):
    name, known_as = "MCP Inspector", "Inspector"
    keeps: ClassVar[dict[str, str]] = {"MCP_INSPECTOR_SECRET_STORE": "file"}

    @property
    def version(self) -> str:
        return version_of("@modelcontextprotocol/inspector")

    def sign_in(self, go: Go) -> None:
        asked = ["--cli", self.url, "--method", "tools/list", "--callback-url", f"http://127.0.0.1:{_free_port()}/back"]
        said = guided("mcp-inspector", *asked, home=self.home, go=carry(go), **self.keeps)
        assert "search" in "".join(said), said

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self._asked("tools/list")["tools"]}

    def hits(self) -> int:
        arguments = ["--tool-name", "search", "--tool-args-json", json.dumps(ASKED)]
        return len(self._asked("tools/call", *arguments)["structuredContent"]["results"])

    def _asked(self, method: str, *options: str) -> Any:
        asked = ["--cli", self.url, "--method", method, *options, "--format", "json", "--stored-auth-only"]
        done = ended("mcp-inspector", *asked, home=self.home, **self.keeps)
        if done.returncode:
            raise NotSignedIn(done.stderr)
        return json.loads(done.stdout)["result"]


class Talking(Program):
    """A process that stays, and answers lines; `go` is who opens an address that it names."""

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        self.process: subprocess.Popen[str] | None = None
        self.go: Go | None = None

    @contextmanager
    def in_time(self) -> Generator[subprocess.Popen[str]]:
        assert self.process
        hung = Timer(SECONDS, self.process.kill)
        hung.start()
        try:
            yield self.process
        finally:
            hung.cancel()

    def line(self, text: str) -> str:
        with self.in_time() as process:
            assert process.stdin
            assert process.stdout
            process.stdin.write(text + "\n")
            process.stdin.flush()
            return process.stdout.readline()

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


class PythonSdk(Talking):
    known_as = "Python agent"

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        path = {"PYTHONPATH": str(OLD_SDK)} if self.is_old else {}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("python_sdk.py")), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**environment(), **OFFLINE, **path, "HOME": str(home)},
        )

    is_old: ClassVar[bool]

    def sign_in(self, go: Go) -> None:
        self.go = go
        assert self._told("tools")

    def tools(self) -> set[str]:
        return set(self._told("tools"))

    def hits(self) -> int:
        return self._told("hits")

    def hits_twice(self) -> list[int | str]:
        """Of two calls in one session; of one that failed, what it was told."""
        return self._told("twice")

    def age(self) -> None:
        self._told("age")

    def _told(self, word: str) -> Any:
        said = json.loads(self.line(word))
        while "go" in said:
            assert self.go
            said = json.loads(self.line(self.go(said["go"])))
        if "failed" in said:
            raise NotSignedIn(said["failed"])
        return said["done"]


class OldPythonSdk(PythonSdk):
    name, is_old = "Python SDK 1.x", True

    @property
    def version(self) -> str:
        (known,) = OLD_SDK.glob("mcp-*.dist-info")
        return known.name.removeprefix("mcp-").removesuffix(".dist-info")


class NewPythonSdk(PythonSdk):
    name, is_old = "Python SDK 2.x", False

    @property
    def version(self) -> str:
        return version("mcp")


class McpRemote(Talking):
    """A bridge: over stdio for those who know nothing of OAuth. It opens the way when it is started."""

    name, known_as = "mcp-remote", "MCP CLI Proxy"

    @property
    def version(self) -> str:
        return version_of("mcp-remote")

    def sign_in(self, go: Go) -> None:
        self.close()
        self.process = subprocess.Popen(
            [node(), str(PACKAGES / ".bin" / "mcp-remote"), self.url, "--transport", "http-only"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
            env={**environment(), **OFFLINE, "HOME": str(self.home)},
        )
        came: SimpleQueue[str] = SimpleQueue()
        Thread(target=self._listen, args=(carry(go), came), daemon=True).start()
        greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        assert "result" in self._asked("initialize", greeting), came.get_nowait()
        assert self.process.stdin
        self.process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')

    def _listen(self, opened: Callable[[str], None], came: "SimpleQueue[str]") -> None:
        assert self.process
        for line in self.process.stderr or ():
            came.put(line)
            if address := AUTHORIZATION.search(line):
                opened(address[0])

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self._asked("tools/list", {})["result"]["tools"]}

    def hits(self) -> int:
        answer = self._asked("tools/call", {"name": "search", "arguments": ASKED})
        if "result" not in answer:
            raise NotSignedIn(answer)
        return len(answer["result"]["structuredContent"]["results"])

    def _asked(self, method: str, params: dict[str, Any]) -> Any:
        said = self.line(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        if not said:
            raise NotSignedIn
        return json.loads(said)


class TypeScriptSdk(Program):
    """The client of a script in tests/node, which keeps what it knows for as long as it runs."""

    known_as = "Agent X"
    script: ClassVar[list[str]]
    package: ClassVar[str]
    complaints = r"(\[mcp-sdk\] OAuth .*\n)?"  # 2.x tells of the end of a grant

    def __init__(self, home: Path, url: str) -> None:
        super().__init__(home, url)
        self._open = ExitStack()
        server = {"url": url, "oauth": {"redirect": "http://localhost:33418/callback"}}
        self._client = self._open.enter_context(client(self.script, server, self.complaints))

    @property
    def version(self) -> str:
        return version_of(self.package)

    def sign_in(self, go: Go) -> None:
        if "asked" not in self._client.do("kept"):
            with pytest.raises(Fault, match="Unauthorized"):
                self._client.do("connect")
        self._client.do("finish", dict(parse_qsl(urlsplit(go(self._client.do("kept")["asked"])).query)))
        self._client.do("connect")

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self._client.do("listTools")["tools"]}

    def hits(self) -> int:
        try:
            answer = self._client.do("callTool", {"name": "search", "arguments": ASKED})
        except Fault as fault:
            raise NotSignedIn from fault
        return len(answer["structuredContent"]["results"])

    def close(self) -> None:
        self._open.close()


class OldTypeScriptSdk(TypeScriptSdk):
    name, script, package = "TypeScript SDK 1.x", ["sdk.mjs"], "@modelcontextprotocol/sdk"


class NewTypeScriptSdk(TypeScriptSdk):
    name, script, package = "TypeScript SDK 2.x", ["client.mjs", "auto"], "@modelcontextprotocol/client"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


PROGRAMS: tuple[type[Program], ...] = (
    ClaudeCode,
    Codex,
    McpRemote,
    Inspector,
    OldPythonSdk,
    NewPythonSdk,
    OldTypeScriptSdk,
    NewTypeScriptSdk,
)
