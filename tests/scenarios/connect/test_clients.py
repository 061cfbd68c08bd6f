"""`pdpp connect CLIENT`: each client's own way in, and its own file."""

import json
import tomllib
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from pdpp_server.port.credentials import read_document
from tests.requirements import requirement
from tests.scenarios.connect.browser import Browser, with_password
from tests.scenarios.connect.conftest import Run
from tests.scenarios.mcp.agents import adapter
from tests.worlds.world import World

HTTP = "http://127.0.0.1:9/mcp"
# Client, its file below the person's folder, where the entry stands in it, and what it is.
FILES = [
    ("claude-code", ".mcp.json", "mcpServers", {"type": "http", "url": HTTP}),
    ("codex", ".codex/config.toml", "mcp_servers", {"url": HTTP}),
    ("cursor", ".cursor/mcp.json", "mcpServers", {"url": HTTP}),
    ("vscode", ".vscode/mcp.json", "servers", {"type": "http", "url": HTTP}),
]
KEPT = {
    ".json": '{"theme": "dark", "SECTION": {"other": {"command": "x"}}, "n": 1.50}',
    ".toml": '# mine\nmodel = "m"  # this one\n\n[SECTION.other]\ncommand = "x"\n# the end\n',
}


def parsed(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text()) if path.suffix == ".toml" else json.loads(path.read_text())


@requirement("as.connect.client-files")
@pytest.mark.parametrize(("client", "file", "section", "entry"), FILES)
def test_a_client_that_has_no_file_yet_gets_one(
    run: Run, machine: Path, client: str, file: str, section: str, entry: dict[str, Any]
) -> None:
    assert run("connect", client, "--write").code == 0

    assert parsed(machine / file) == {section: {"my-data": entry}}


@requirement("as.connect.client-files")
@pytest.mark.parametrize(("client", "file", "section", "entry"), FILES)
def test_all_else_is_kept_a_second_time_changes_nothing_and_removing_undoes_it(
    run: Run, machine: Path, client: str, file: str, section: str, entry: dict[str, Any]
) -> None:
    path = machine / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(before := KEPT[path.suffix].replace("SECTION", section))
    path.chmod(0o600)

    changed = [run("connect", client, "--write", "--json").json["changed"] for _ in range(2)]
    written = path.read_text()
    assert changed == [True, False]
    assert parsed(path)[section] == {"other": {"command": "x"}, "my-data": entry}
    assert all(line in written for line in before.splitlines() if path.suffix == ".toml")
    assert path.with_name(path.name + ".before-pdpp").read_text() == before
    assert path.stat().st_mode & 0o777 == 0o600

    moved = run("connect", client, "--write", PDPP_PUBLIC_URL="https://me.example")
    assert (moved.code, parsed(path)[section]["my-data"]["url"]) == (0, "https://me.example/mcp")

    assert run("connect", client, "--remove", "--json").json["changed"]
    assert (path.read_text().rstrip() == before.rstrip()) or parsed(path) == json.loads(before)
    assert not run("connect", client, "--remove", "--json").json["changed"]
    assert run("connect", client, "--write", "--json").json["changed"]
    assert path.with_name(path.name + ".before-pdpp").read_text() == before, "always the original"


@requirement("as.connect.client-files")
@pytest.mark.parametrize(("client", "file", "section", "entry"), FILES)
def test_a_file_that_only_we_made_is_no_original_and_is_gone_with_its_last_entry(
    run: Run, machine: Path, client: str, file: str, section: str, entry: dict[str, Any]
) -> None:
    path = machine / file
    for address in ("https://me.example", "https://moved.example"):
        assert run("connect", client, "--write", PDPP_PUBLIC_URL=address).code == 0
    assert path.with_name(path.name + ".before-pdpp").read_text() == "", "nothing was there before"

    assert run("connect", client, "--remove", "--json").json["changed"]

    assert [each.name for each in path.parent.iterdir()] == []
    assert not run("connect", client, "--remove", "--json").json["changed"]


@requirement("as.connect.client-files")
@pytest.mark.parametrize(("client", "file", "section", "entry"), FILES)
def test_what_somebody_added_to_our_file_stays_when_our_entry_goes(
    run: Run, machine: Path, client: str, file: str, section: str, entry: dict[str, Any]
) -> None:
    path = machine / file
    assert run("connect", client, "--write").code == 0
    added = KEPT[".toml"].replace("SECTION", section)
    if path.suffix == ".toml":
        path.write_text(added + path.read_text())
    else:
        path.write_text(json.dumps({**parsed(path), "mine": True}))

    assert run("connect", client, "--remove", "--json").json["changed"]

    assert "my-data" not in path.read_text()
    assert "mine" in path.read_text()


@requirement("as.connect.client-files")
@pytest.mark.parametrize(
    ("client", "file", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {'),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": []}'),
        ("cursor", ".cursor/mcp.json", "[]"),
        ("vscode", ".vscode/mcp.json", '{"servers": {} // mine\n}'),
        ("codex", ".codex/config.toml", "mcp_servers = {"),
        ("codex", ".codex/config.toml", 'mcp_servers = { my-data = { url = "x" } }\n'),
    ],
)
def test_a_file_that_is_not_understood_is_left_as_it_was(
    run: Run, machine: Path, client: str, file: str, text: str
) -> None:
    path = machine / file
    path.parent.mkdir()
    path.write_text(text)

    refused = run("connect", client, "--write")

    assert (refused.code, "left as it was" in refused.err) == (1, True), refused
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_text() == text


@requirement("as.connect.client-files")
def test_a_file_that_cannot_be_written_is_said(run: Run, machine: Path) -> None:
    (machine / ".cursor").write_text("a file where the folder should be")

    refused = run("connect", "cursor", "--write")

    assert refused.code == 1
    assert "is left as it was" in refused.err


@requirement("as.connect.client-files", "as.setup.one-path", "as.setup.no-owner-bearer")
@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor", "vscode"])
def test_without_being_told_to_nothing_is_written_and_the_address_comes_first(
    run: Run, machine: Path, client: str
) -> None:
    shown = run("connect", client)

    assert shown.code == 0, shown.err
    assert shown.out.splitlines()[1].strip() == HTTP
    assert "pdpp serve" in shown.out, "nobody answers there"
    assert not any(word in shown.out.lower() for word in ("profile", "token", "bearer", "event"))
    assert [*machine.iterdir()] == []


@requirement("as.connect.client-files")
def test_links_and_lines_say_the_same_as_the_files(run: Run) -> None:
    cursor, vscode, codex, claude = (
        run("connect", client, "--json").json for client in ("cursor", "vscode", "codex", "claude-code")
    )

    asked = parse_qs(urlsplit(cursor["link"]).query)
    assert (asked["name"], json.loads(b64decode(asked["config"][0]))) == (["my-data"], cursor["entry"])
    assert json.loads(unquote(vscode["link"].partition("?")[2])) == {"name": "my-data", **vscode["entry"]}
    assert codex["lines"] == [f"codex mcp add my-data --url {HTTP}", "codex mcp login my-data"]
    assert claude["lines"] == [f"claude mcp add --transport http my-data {HTTP}"]
    assert not claude["server_running"]


@requirement("as.connect.client-files")
def test_a_server_that_runs_is_noticed(run: Run, address: str) -> None:
    assert run("connect", "codex", "--json", PDPP_PORT=address.rpartition(":")[2]).json["server_running"]


@requirement("as.connect.hosted")
@pytest.mark.parametrize("public", [None, "http://me.example", "https://127.0.0.1", "https://localhost:8443"])
def test_chatgpt_is_given_no_address_that_it_cannot_reach(run: Run, public: str | None) -> None:
    refused = run("connect", "chatgpt", **({"PDPP_PUBLIC_URL": public} if public else {}))

    assert (refused.code, refused.out) == (1, "")
    assert "PDPP_PUBLIC_URL" in refused.err
    assert "docs/outside.md" in refused.err


@requirement("as.connect.hosted")
def test_chatgpt_is_given_the_public_address(run: Run) -> None:
    shown = run("connect", "chatgpt", PDPP_PUBLIC_URL="https://me.example")

    assert shown.out.splitlines()[1].strip() == "https://me.example/mcp"


@requirement("as.connect.flow", "as.connect.client-files")
def test_claude_desktop_gets_a_command_that_reads_what_was_agreed_without_a_server(
    run: Run, machine: Path, world: World, browser: Browser
) -> None:
    with_password(world.services)
    ran = run("connect", "claude-desktop", "--write", "--json", browser=browser, PDPP_HOME=str(world.home))

    (path,) = machine.rglob("claude_desktop_config.json")
    (entry,) = parsed(path)["mcpServers"].values()
    assert (ran.code, entry) == (0, ran.json["entry"]), ran.err
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).exists()
    assert entry["args"][-3:] == ["mcp", "--client", "claude-desktop"]
    assert entry["env"] == {"PDPP_HOME": str(world.home)}
    with adapter(world.home) as agent:
        (source,) = {hit["connection_id"] for hit in agent.call("search", query="lease").structured["results"]}
    assert source == world.work


@requirement("as.connect.renewed")
def test_the_adapter_renews_this_homes_credential_without_a_server(run: Run, world: World, browser: Browser) -> None:
    with_password(world.services)
    run("connect", "codex", "--stdio", browser=browser, PDPP_HOME=str(world.home))
    file = world.home / "clients" / "codex.json"
    document = read_document(str(world.home), "codex")
    document["credential"]["expires_at"] = "2020-01-01T00:00:00.000Z"
    file.write_text(json.dumps(document))

    with adapter(world.home) as agent:
        assert not agent.call("schema").is_error

    renewed = read_document(str(world.home), "codex")["credential"]
    assert renewed["access_token"] != document["credential"]["access_token"]
    assert renewed["refresh_token"] != document["credential"]["refresh_token"]


@requirement("as.connect.flow")
def test_connecting_again_asks_nobody_and_removing_ends_what_was_agreed(
    run: Run, world: World, browser: Browser
) -> None:
    with_password(world.services)
    first = run("connect", "claude-desktop", "--json", browser=browser, PDPP_HOME=str(world.home)).json
    again = run("connect", "claude-desktop", "--json", PDPP_HOME=str(world.home)).json
    assert again == first

    removed = run("connect", "claude-desktop", "--remove", "--json", PDPP_HOME=str(world.home)).json

    assert removed["revoked"] == first["grant_id"]
    assert world.owner.grant(first["grant_id"])[0].state.revoked_at
    assert not (world.home / "clients" / "claude-desktop.json").exists()


@requirement("as.connect.flow")
def test_the_first_time_the_page_takes_the_setup_code_that_is_printed(
    run: Run, world: World, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    class Newcomer(Browser):
        def open(self, address: str) -> bool:
            self.setup_code = capsys.readouterr().err.partition("setup code: ")[2].split()[0]
            return super().open(address)

    ran = run("connect", "vscode", "--stdio", browser=Newcomer(*browser.picks), PDPP_HOME=str(world.home))

    assert ran.code == 0, ran.err
    assert "VS Code may read by grt_" in ran.out


@requirement("as.connect.flow")
def test_an_empty_home_has_nothing_to_connect_to(run: Run) -> None:
    refused = run("connect", "claude-desktop")

    assert (refused.code, "pdpp import" in refused.err) == (1, True)


@requirement("as.connect.told")
@pytest.mark.parametrize(("client", "told"), [("claude-code", "whether to use the server my-data"), ("cursor", None)])
def test_what_the_client_asks_next_is_said(run: Run, client: str, told: str | None) -> None:
    said = run("connect", client, "--write").out

    assert (told or "Written.") in said
    assert told or said.splitlines()[-3].startswith("Written.")


@requirement("as.connect.told")
def test_the_path_of_the_command_has_no_detours(
    run: Run, machine: Path, world: World, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_password(world.services)
    program = machine / "bin" / "pdpp"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr("sys.argv", [str(machine / "x" / ".." / "bin" / "pdpp")])

    ran = run("connect", "codex", "--stdio", "--json", browser=browser, PDPP_HOME=str(world.home))

    assert ran.json["entry"]["command"] == str(program)


@requirement("as.connect.told")
@pytest.mark.parametrize(("named", "opened"), [("", 0), ("true", 1)])
def test_a_browser_that_is_named_is_opened_without_a_display(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch, named: str, opened: int
) -> None:
    with_password(world.services)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)

    addresses: list[str] = []
    nobody = SimpleNamespace(open=addresses.append)
    settings = {"PDPP_HOME": str(world.home), "BROWSER": named}
    run("connect", "codex", "--stdio", "--wait", "0.2", browser=nobody, **settings)

    assert len(addresses) == opened


@requirement("as.connect.told")
def test_a_device_is_told_how_it_reaches_an_address_that_only_this_machine_has(run: Run, world: World) -> None:
    with_password(world.services)
    said = run("connect", "codex", "--stdio", "--device", "--wait", "0.2", PDPP_HOME=str(world.home)).err

    (port,) = {line.rpartition(":")[2].split("/")[0] for line in said.splitlines() if "http://" in line}
    assert f"ssh -N -L {port}:127.0.0.1:{port} " in said
    assert "PDPP_PUBLIC_URL" in said
