"""`pdpp` itself: help, exit codes, and how `pdpp mcp` starts."""

import json
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pdpp_server.cli.group import VERBS
from tests.requirements import requirement
from tests.scenarios.cli.command import ROOT, Command
from tools.cli_reference import pages


@requirement("cli.help.examples", "mcp.stdio.no-profiles")
def test_help_teaches_each_verb_by_an_example_and_names_no_profile(pdpp: Command) -> None:
    alone, overview = pdpp(), pdpp("--help")
    sections = pages().split("## pdpp")[2:]

    assert (alone.code, alone.out) == (0, overview.out)
    assert [verb for verb in VERBS if f"\n  {verb} " not in overview.out] == []
    assert [text for text in sections if "Example" not in text] == []
    assert "profile" not in "".join(sections).lower()
    assert pdpp("grants", "create", "--help").code == pdpp("mcp", "--help").code == 0
    assert not pdpp.home.exists()
    assert pdpp("--version").out.startswith("pdpp, version 0.")


@requirement("cli.exit.usage")
@pytest.mark.parametrize(
    "words", [["nonsense"], ["import"], ["sources", "--nonsense"], ["grants", "create"], ["activity", "--limit", "0"]]
)
def test_what_is_not_understood_ends_with_64(pdpp: Command, words: list[str]) -> None:
    refused = pdpp(*words)

    assert (refused.code, refused.out) == (64, "")
    assert "--help" in refused.err


@requirement("cli.exit.settings")
def test_a_setting_that_cannot_be_meant_is_named(pdpp: Command) -> None:
    refused = pdpp("sources", PDPP_PORT="many")

    assert (refused.code, refused.err) == (64, "pdpp: PDPP_PORT must be 0 to 65535.\n")


@requirement("cli.exit.one-line")
def test_a_home_that_cannot_be_made_is_said_in_a_line(pdpp: Command) -> None:
    pdpp.file("home", "a file where the folder should be")

    refused = pdpp("sources")

    assert (refused.code, refused.err) == (
        1,
        f"pdpp: File exists: {pdpp.home}. Move that aside, or name another place.\n",
    )


@requirement("mcp.credentials.owner-environment", "mcp.credentials.none")
def test_an_adapter_without_a_right_to_read_does_not_start(notes: Command) -> None:
    notes.grant("--save")

    assert notes("mcp", PDPP_OWNER_TOKEN="x").code == 77
    assert notes("mcp", "--client", "nobody").code == 78
    assert notes("mcp", PDPP_ACCESS_TOKEN="unknown").code == 78
    assert notes("mcp", "--nonsense").code == 64


@requirement("cli.owner.token", "mcp.credentials.kind-asked")
def test_an_owner_token_opens_nothing_for_an_agent(notes: Command) -> None:
    made = notes("owner", "token", "--days", "7", "--json").json

    assert set(made) == {"token", "expires_at"}
    ends = datetime.fromisoformat(made["expires_at"])
    assert timedelta(days=6, hours=23) < ends - datetime.now(UTC) <= timedelta(days=7)
    assert notes("mcp", PDPP_ACCESS_TOKEN=made["token"]).code == 77
    assert made["token"] not in notes("owner", "token").out
    assert notes("owner", "token", "--days", "0").code == 64


@requirement("cli.exit.one-line")
@pytest.mark.parametrize(("verb", "read_first"), [("sources", "click"), ("mcp", "pdpp_server.mcp.stdio")])
def test_ctrl_c_while_the_program_is_still_being_read_is_one_line(verb: str, read_first: str, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {read_first!r}: raise KeyboardInterrupt\n"
        f"sys.argv = ['pdpp', {verb!r}]; sys.meta_path.insert(0, Interrupted())\n"
        "from pdpp_server.cli.main import main; main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60
    )

    assert (done.returncode, done.stdout, done.stderr) == (1, "", "pdpp: Stopped.\n")


@requirement("mcp.stdio.stdout-protocol")
def test_the_adapter_starts_without_what_only_a_terminal_needs(notes: Command) -> None:
    notes.grant("--save")
    program = (
        "import sys, atexit; sys.argv = ['pdpp', 'mcp']\n"
        "names = {'click', 'httpx2', 'rich', 'starlette', 'uvicorn'}\n"
        "atexit.register(lambda: sys.stderr.write(' '.join(sorted(names & sys.modules.keys()))))\n"
        "from pdpp_server.cli.main import main; main()"
    )
    listing = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'

    done = subprocess.run(
        [sys.executable, "-c", program],
        input=listing,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=notes.environment(),
        timeout=60,
        check=True,
    )

    assert len(json.loads(done.stdout)["result"]["tools"]) >= 4
    assert done.stderr == ""


@requirement("mcp.refusals.remedy")
def test_a_wrong_setting_reaches_the_agent_as_a_refusal(notes: Command) -> None:
    notes.grant("--save")
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","arguments":{}}}\n'

    refused = json.loads(notes("mcp", stdin=call, PDPP_LOG_SYNC="sometimes").out)["result"]

    assert refused["isError"]
    assert "PDPP_LOG_SYNC must be normal or full." in refused["content"][0]["text"]


@requirement("cli.serve.port-taken")
def test_a_taken_port_is_said_in_a_line(pdpp: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = pdpp("serve", "--port", str(port))

    assert refused.code == 1
    assert f"Port {port} of 127.0.0.1 is taken" in refused.err
    assert "Traceback" not in refused.err


@requirement("cli.serve.loopback")
def test_others_are_let_in_only_on_purpose(pdpp: Command) -> None:
    refused = pdpp("serve", "--port", "0", PDPP_HOST="0.0.0.0")

    assert refused.code == 64
    assert "PDPP_PUBLIC_URL" in refused.err
    assert "--host 0.0.0.0" in refused.err
    assert not pdpp.home.exists()
    assert pdpp("serve", "--host", "no.such.host.invalid").code == 64
