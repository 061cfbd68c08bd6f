"""The adapter as a process: both protocol eras, garbage, signals, and what it refuses to start with."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from pdpp_server.port.credentials import save
from tests.requirements import requirement

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "tests.scenarios.mcp.adapter"]
LIMIT = 4 * 1024 * 1024


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    save(str(tmp_path), "claude", {"credential": {"access_token": "scoped"}})
    return tmp_path


def environment(home: Path, **others: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PDPP_")}
    return {**kept, "PDPP_HOME": str(home), **others}


def ended(home: Path, *arguments: str, lines: bytes = b"", **others: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=lines,
        capture_output=True,
        cwd=ROOT,
        env=environment(home, **others),
        timeout=30,
        check=False,
    )


@contextmanager
def running(home: Path) -> Generator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    process = subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=environment(home),
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    with process:
        try:
            yield process, process.stdin, process.stdout
        finally:
            process.kill()


def request(method: str, id: int = 1, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def tell(stdin: IO[bytes], stdout: IO[bytes], line: bytes) -> Any:
    stdin.write(line)
    stdin.flush()
    return json.loads(stdout.readline())


@requirement("mcp.protocol.both-eras", "mcp.credentials.scoped", "mcp.stdio.stdout-protocol")
@pytest.mark.parametrize(
    ("mode", "protocol"), [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")]
)
async def test_the_official_client_lists_and_calls_in_both_eras(home: Path, mode: str, protocol: str) -> None:
    started = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment(home), cwd=ROOT)

    async with Client(stdio_client(started), mode=mode) as client:
        tools = (await client.list_tools()).tools
        schema = await client.call_tool("schema", {})
        refusal = await client.call_tool("search", {"query": "lease"})
        wrong = await client.call_tool("search", {"query": "lease", "profile": "full"})
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("list_streams", {})

        assert client.session.protocol_version == protocol
        assert mode == protocol or (client.server_info and client.server_info.name == "pdpp")

    assert "schema" in [tool.name for tool in tools]
    assert not schema.is_error
    assert refusal.is_error
    assert refusal.structured_content["error"]["code"] == "grant_revoked"
    assert wrong.is_error
    assert "'profile'" in wrong.structured_content["error"]["message"]
    assert unknown.value.code == -32602


@requirement("mcp.stdio.stdout-protocol")
def test_whatever_prints_prints_to_standard_error(home: Path) -> None:
    done = ended(home, lines=request("tools/call", name="schema"))

    assert len(done.stdout.splitlines()) == 1
    assert json.loads(done.stdout)["result"]
    assert b"a dependency prints" in done.stderr
    assert b"and a library writes" in done.stderr


@requirement("mcp.stdio.stdout-protocol")
def test_garbage_and_bugs_are_answered_and_the_process_goes_on(home: Path) -> None:
    lines = [
        b"garbage\n",
        b"\n",
        b"\xff\xfe\n",
        b'"\xed\xa0\xbd"\n',
        request("tools/call", 2, name="fetch", arguments={"id": "c1/notes:private"}),
        b"garbage\n",
        rb'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"\ud83d"}}}'
        + b"\n",
        request("ping", 4),
    ]

    done = ended(home, lines=b"".join(lines))

    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert [(reply["id"], reply.get("error", {}).get("code")) for reply in replies] == [
        (None, -32700),
        (None, -32700),
        (None, -32700),
        (2, -32603),
        (None, -32700),
        (3, None),
        (4, None),
    ]
    assert replies[5]["result"]["isError"] is True
    assert b"KeyError" in done.stderr
    assert b"private" not in done.stdout + done.stderr


@requirement("mcp.stdio.stdout-protocol")
def test_a_line_that_is_too_long_is_passed_over(home: Path) -> None:
    fits = request("ping", 1, _meta={"x": ""})
    fits = fits.replace(b'"x": ""', b'"x": "' + b"y" * (LIMIT - len(fits)) + b'"')

    fits = fits[:-1] + b" \n"
    assert len(fits) == LIMIT + 1

    done = ended(home, lines=fits + b"z" * (3 * LIMIT) + b"\n" + b" " + fits + request("ping", 2))

    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(reply["id"], reply.get("error", {}).get("code")) for reply in replies] == [
        (1, None),
        (None, -32600),
        (None, -32600),
        (2, None),
    ]


@requirement("mcp.stdio.stdout-protocol")
def test_the_end_of_the_input_is_the_end(home: Path) -> None:
    done = ended(home, lines=request("ping")[:-1])

    assert (done.returncode, json.loads(done.stdout)["result"], done.stderr) == (0, {}, b"")


@requirement("mcp.stdio.stdout-protocol")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_quietly(home: Path, number: int) -> None:
    with running(home) as (process, stdin, stdout):
        tell(stdin, stdout, request("tools/list"))
        tell(stdin, stdout, request("ping"))
        process.send_signal(number)

        assert process.wait(10) == 0
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()


@requirement("mcp.stdio.stdout-protocol")
def test_a_reader_that_went_away_ends_it_quietly(home: Path) -> None:
    with running(home) as (process, stdin, stdout):
        tell(stdin, stdout, request("ping"))
        stdout.close()
        stdin.write(request("ping"))
        stdin.flush()

        assert process.wait(10) == 0
        assert process.stderr
        assert process.stderr.read() == b""


@requirement("mcp.credentials.owner-environment")
@pytest.mark.parametrize("name", ["PDPP_OWNER_TOKEN", "PDPP_OWNER_SESSION_COOKIE"])
def test_an_owner_credential_in_the_environment_ends_it(home: Path, name: str) -> None:
    done = ended(home, lines=request("tools/list"), PDPP_ACCESS_TOKEN="scoped", **{name: "x"})

    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (77, b"", 1)
    assert name.encode() in done.stderr


@requirement("mcp.credentials.kind-asked")
def test_an_owner_token_is_refused_wherever_it_lies(home: Path) -> None:
    save(str(home), "claude", {"kind": "client", "credential": {"access_token": "owners", "token_kind": "client"}})

    saved = ended(home, lines=request("tools/list"))
    given = ended(home, lines=request("tools/list"), PDPP_ACCESS_TOKEN="owners")

    assert [(done.returncode, done.stdout) for done in (saved, given)] == [(77, b""), (77, b"")]


@requirement("port.network.exit-codes", "mcp.credentials.kind-asked")
def test_an_owner_token_of_another_server_ends_it_before_a_call_is_served(home: Path) -> None:
    lines = request("tools/list") + request("tools/call", 2, name="schema")

    done = ended(home, lines=lines, PDPP_ACCESS_TOKEN="owners", PDPP_PROVIDER_URL="https://me.example")

    assert (done.returncode, [json.loads(line)["id"] for line in done.stdout.splitlines()]) == (77, [1])
    assert len(done.stderr.splitlines()) == 1


@requirement("port.network.exit-codes")
@pytest.mark.parametrize(
    "url", ["me.example", "http://me.example", "https://me:secret@me.example", "https://me.example?a"]
)
def test_what_is_no_address_of_a_server_is_a_usage_error(home: Path, url: str) -> None:
    for done in (ended(home, "--provider-url", url), ended(home, PDPP_PROVIDER_URL=url)):
        assert (done.returncode, done.stdout) == (64, b"")
        assert b"https://" in done.stderr
        assert b"secret" not in done.stderr


@requirement("port.network.exit-codes", "port.network.saved-for")
def test_a_token_of_this_home_is_not_shown_to_another_server(home: Path) -> None:
    done = ended(home, "--client", "claude", "--provider-url=https://me.example", lines=request("tools/list"))

    assert (done.returncode, done.stdout) == (78, b"")
    assert b"PDPP_ACCESS_TOKEN" in done.stderr


@requirement("mcp.credentials.none", "mcp.credentials.connect-named")
def test_without_a_usable_token_it_says_how_to_get_one(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    nobody = ended(tmp_path_factory.mktemp("empty"), lines=request("tools/list"))
    stranger = ended(home, lines=request("tools/list"), PDPP_ACCESS_TOKEN="unknown")

    for done in (nobody, stranger):
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (78, b"", 1)
        first, second = done.stderr.index(b"`pdpp connect CLIENT`"), done.stderr.index(b"`pdpp grants create")
        assert first < second
        assert b"pdpp grants create --selection FILE --client NAME --save" in done.stderr


@requirement("mcp.credentials.client-named")
def test_several_clients_must_be_told_apart(home: Path) -> None:
    save(str(home), "codex", {"credential": {"access_token": "scoped"}})

    unnamed = ended(home)

    assert (unnamed.returncode, unnamed.stdout) == (78, b"")
    assert b"claude, codex" in unnamed.stderr
    assert ended(home, "--client", "codex").returncode == 0
    assert ended(home, "--client=codex").returncode == 0
    assert ended(home, "--client", "cursor").returncode == 78


@requirement("mcp.stdio.no-profiles")
@pytest.mark.parametrize("flag", ["--profile=full", "--full", "core", "--client", "--client=", "--provider-url"])
def test_a_flag_it_does_not_know_is_a_usage_error(home: Path, flag: str) -> None:
    done = ended(home, flag)

    assert (done.returncode, done.stdout) == (64, b"")
    assert b"usage: pdpp mcp" in done.stderr
    assert b"profile" not in done.stderr


@requirement("mcp.stdio.stdout-protocol")
def test_help_is_for_a_person_and_serves_nobody(home: Path) -> None:
    done = ended(home, "--help", lines=request("tools/list"))

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"usage: pdpp mcp")
    assert b"jsonrpc" not in done.stdout
