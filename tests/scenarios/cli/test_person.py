"""The path of a person: what is typed wrongly, how wide the terminal is, where the server runs, who reads."""

import os
import plistlib
import pty
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from threading import Timer

import pytest

from pdpp_server.cli import accounts
from pdpp_server.cli.running import LOCK, MARK, as_served, marked
from pdpp_server.cli.service import launchd_agent, systemd_unit
from pdpp_server.cli.terminal import wrapped
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.cli.command import PDPP, ROOT, SECONDS, Command
from tests.scenarios.cli.test_serve import get, serving

NARROW = 60


def in_terminal(command: Command, *words: str, **variables: str) -> str:
    """What a terminal of 60 columns shows, of both streams."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PDPP, *words],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env=command.environment(COLUMNS=str(NARROW), TERM="xterm", **variables),
    ) as process:
        os.close(theirs)
        hung = Timer(SECONDS, process.kill)
        hung.start()
        shown = bytearray()
        try:
            while piece := os.read(ours, 65_536):
                shown += piece
        except OSError:  # the other end is gone
            pass
        process.wait(SECONDS)
        hung.cancel()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


# Words ------------------------------------------------------------------------------------------------------------


@requirement("cli.exit.suggestion")
@pytest.mark.parametrize(("typed", "meant"), [(["imprt"], "'import'"), (["grants", "lst"], "'list'")])
def test_a_misspelt_verb_is_answered_with_the_one_that_was_meant(pdpp: Command, typed: list[str], meant: str) -> None:
    refused = pdpp(*typed)

    assert (refused.code, f"Did you mean {meant}" in refused.err) == (64, True), refused.err


@requirement("cli.help.first")
def test_help_begins_with_an_export_and_says_nothing_of_records_of_ones_own(pdpp: Command) -> None:
    said = pdpp("--help").out

    first, *_ = re.findall(r"^ +(pdpp \S+ \S+)", said, re.MULTILINE)
    assert first == "pdpp import takeout.zip"
    assert "ndjson" not in said
    assert pdpp("mcp", "--help").out.startswith("usage: pdpp mcp")


@requirement("cli.terminal.wraps")
def test_no_word_is_cut_in_a_narrow_terminal_and_a_line_to_paste_stays_whole(notes: Command) -> None:
    said = in_terminal(notes, "connect", "codex", "--write", PDPP_PORT="9", CODEX_HOME=str(notes.folder))

    assert "Codex takes this address, and sends you to your own page to\n  say yes:\n" in said
    assert f"  {shlex.join(['codex', 'mcp', 'add', 'my-data', '--url', 'http://127.0.0.1:9/mcp'])}\n" in said
    served = next(line for line in said.splitlines() if line.endswith(" serve"))
    assert len(served) > NARROW, "a line to paste is not broken"


@requirement("cli.terminal.wraps")
@pytest.mark.parametrize("verb", [[], ["connect"], ["mcp"]])
def test_help_fits_a_narrow_terminal(pdpp: Command, verb: list[str]) -> None:
    said = in_terminal(pdpp, *verb, "--help")

    assert max(map(len, said.splitlines())) <= NARROW


@requirement("cli.terminal.wraps")
def test_a_wrapped_line_keeps_its_words_its_indent_and_what_is_too_long_for_any_line() -> None:
    assert wrapped("  one two three\n", 11) == "  one two\n    three\n"
    assert wrapped("short\n", 11) == "short\n"
    assert wrapped("a " + "x" * 20 + " b", 11) == "a\n  " + "x" * 20 + "\n  b"
    assert wrapped("湯湯湯 湯湯湯", 8) == "湯湯湯\n  湯湯湯"


@requirement("cli.owner.password")
def test_a_password_that_is_too_short_is_said_before_it_is_typed_again(pdpp: Command) -> None:
    done = pdpp("owner", "password", stdin="short\nlong enough, this one\nlong enough, this one\n")

    assert (done.code, "is set" in done.out) == (0, True), done.err
    assert done.err.index("has at least 10 characters.") < done.err.index("The same again")


@requirement("cli.owner.password")
def test_a_password_that_is_piped_is_taken_without_a_word_about_terminals(pdpp: Command) -> None:
    done = pdpp("owner", "password", stdin="long enough, this one\n" * 2)

    assert (done.code, done.err) == (0, "New password, at least 10 characters: The same again: ")


# The server that runs ---------------------------------------------------------------------------------------------


@requirement("cli.serve.known")
def test_connect_and_doctor_know_the_port_of_the_server_that_runs(notes: Command) -> None:
    with serving(notes) as (_, port):
        get(port, "/healthz")
        connected = notes("connect", "codex", "--json", PDPP_PORT="9").json
        examined = notes("doctor", "--json", PDPP_PORT="9").json["parts"]

    (part,) = (part for part in examined if part["part"] == "port")
    assert connected["address"] == f"http://127.0.0.1:{port}/mcp"
    assert connected["server_running"]
    assert part["facts"] == {"port": port, "served": 1}


@requirement("cli.serve.known")
def test_the_mark_of_a_server_that_was_killed_is_not_believed(notes: Command) -> None:
    with serving(notes) as (process, port):
        get(port, "/healthz")
        process.send_signal(signal.SIGKILL)
        process.wait(SECONDS)
        assert (notes.home / MARK).exists(), "nobody could take it away"
        connected = notes("connect", "codex", "--json", PDPP_PORT="9").json

    assert connected["address"] == "http://127.0.0.1:9/mcp"


@requirement("cli.serve.known")
def test_of_two_servers_the_first_is_known_and_with_its_end_nothing_is_left(tmp_path: Path) -> None:
    asked = Settings(home=tmp_path)
    first = Settings(home=tmp_path, port=21_400, public_url="https://me.example")

    with marked(first):
        with marked(Settings(home=tmp_path, port=21_500)):
            assert as_served(asked) == first
        assert as_served(asked) == first
        own = Settings(home=tmp_path, public_url="https://other.example")
        assert as_served(own).public_url == "https://other.example"

    assert as_served(asked) == asked
    assert [path.name for path in tmp_path.iterdir()] == [LOCK]


@requirement("cli.serve.known")
@pytest.mark.parametrize("mark", ["", "{", "[]", '{"host": 1, "port": "x", "public_url": null}'])
def test_a_mark_that_cannot_be_read_says_nothing(tmp_path: Path, mark: str) -> None:
    asked = Settings(home=tmp_path)
    with marked(Settings(home=tmp_path, port=21_400)):
        (tmp_path / MARK).write_text(mark)

        assert as_served(asked) == asked


@requirement("cli.serve.addresses")
def test_the_public_address_is_the_one_that_is_printed(pdpp: Command) -> None:
    with serving(pdpp, PDPP_PUBLIC_URL="https://me.example") as (process, _):
        assert process.stdout
        said = "".join(iter(process.stdout.readline, "Ctrl-C ends it.\n"))

    assert "https://me.example/mcp" in said
    assert "Open https://me.example/welcome" in said
    assert "http://127.0.0.1" not in said, "but in the line before, for the proxy"


@requirement("cli.serve.quiet")
@pytest.mark.parametrize(("words", "lines"), [([], 0), (["--log"], 1)])
@pytest.mark.parametrize("slow_ms", ["500", "0"])
def test_a_terminal_shows_no_line_for_each_request_unless_it_is_asked_for(
    pdpp: Command, words: list[str], lines: int, slow_ms: str
) -> None:
    ours, theirs = pty.openpty()
    with serving(pdpp, *words, stderr=theirs, PDPP_SLOW_MS=slow_ms) as (process, port):
        os.close(theirs)
        get(port, "/healthz")
        process.terminate()
        process.wait(SECONDS)
        os.set_blocking(ours, False)
        try:
            said = os.read(ours, 65_536).decode()
        except OSError:
            said = ""
    os.close(ours)

    assert said.count('"operation":"healthz"') == lines


# As a service -----------------------------------------------------------------------------------------------------


@pytest.fixture
def systemctl(pdpp: Command) -> Path:
    """A systemd that writes down what it is told."""
    tools = pdpp.folder / "tools"
    tools.mkdir()
    script = tools / "systemctl"
    script.write_text('#!/bin/sh\necho "$@" >> "$(dirname "$0")/told"\n')
    script.chmod(0o755)
    return tools


@requirement("cli.serve.installed")
def test_installed_it_is_a_unit_with_the_settings_of_the_shell_and_uninstalling_leaves_nothing(
    pdpp: Command, systemctl: Path
) -> None:
    path = {"PATH": f"{systemctl}{os.pathsep}{os.environ['PATH']}"}
    done = pdpp("serve", "--port", "21400", "--install", PDPP_PUBLIC_URL="https://me.example/100%", **path)
    unit = pdpp.folder / ".config" / "systemd" / "user" / "pdpp.service"

    assert done.code == 0, done.err
    said = unit.read_text()
    assert '"serve" "--port" "21400"' in said
    assert "Type=exec" in said, "what cannot be begun is then refused, and not said to run"
    assert 'Environment="PDPP_PUBLIC_URL=https://me.example/100%%"' in said
    assert f'Environment="PDPP_HOME={pdpp.home}"' in said
    assert pdpp.home.is_dir()

    assert pdpp("serve", "--uninstall", **path).code == 0
    assert not unit.exists()
    assert "nothing to remove" in pdpp("serve", "--uninstall", **path).out
    assert (systemctl / "told").read_text().splitlines() == [
        "--user daemon-reload", "--user enable pdpp.service", "--user restart pdpp.service",
        "--user disable --now pdpp.service",
    ]  # fmt: skip


@requirement("cli.serve.installed")
def test_a_keeper_that_refuses_is_quoted_and_a_secret_is_written_nowhere(pdpp: Command, systemctl: Path) -> None:
    (systemctl / "systemctl").write_text("#!/bin/sh\necho Failed to connect to bus >&2\nexit 1\n")
    path = {"PATH": f"{systemctl}{os.pathsep}{os.environ['PATH']}"}

    refused = pdpp("serve", "--install", **path)
    secret = pdpp("serve", "--install", PDPP_INTROSPECTION_SECRET="s3cret", **path)

    assert (refused.code, "systemctl --user daemon-reload" in refused.err) == (1, True)
    assert "Failed to connect to bus. It wants somebody who is signed in" in refused.err
    gone = pdpp("serve", "--uninstall", **path)
    assert (gone.code, "Removed: " in gone.out) == (1, True)
    assert "nothing to remove" in pdpp("serve", "--uninstall", **path).out
    assert (secret.code, "PDPP_INTROSPECTION_SECRET_FILE" in secret.err) == (64, True)
    assert pdpp("serve", "--install", PDPP_HOST="0.0.0.0", **path).code == 64


@requirement("cli.serve.installed")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    asked = shutil.which("systemd-analyze")
    odd = tmp_path / 'a "b" $c %d'
    odd.mkdir()
    service = systemd_unit(["/bin/true", "serve"], {"PDPP_HOME": str(odd)}, [odd], {"XDG_CONFIG_HOME": str(tmp_path)})
    unit = tmp_path / "pdpp.service"
    unit.write_text(service.text)

    assert service.path == tmp_path / "systemd" / "user" / "pdpp.service"
    assert service.text.count("%%d") == 2
    if asked:
        said = subprocess.run([asked, "verify", unit], capture_output=True, text=True, check=False)
        assert "pdpp.service" not in said.stderr, said.stderr


@requirement("cli.serve.installed")
def test_launchd_gets_the_same_as_a_property_list() -> None:
    service = launchd_agent(["/opt/pdpp", "serve"], {"PDPP_HOME": "/home & more"})
    agent = plistlib.loads(service.text.encode())

    assert agent["ProgramArguments"] == ["/opt/pdpp", "serve"]
    assert agent["EnvironmentVariables"] == {"PDPP_HOME": "/home & more"}
    assert agent["RunAtLoad"]
    assert service.begin[0][:2] == ("launchctl", "bootstrap")


# Reading as the owner ---------------------------------------------------------------------------------------------


@requirement("cli.read.owner")
def test_without_a_grant_the_owner_reads_all_of_it_and_the_log_says_who(notes: Command) -> None:
    found = notes("search", "walrus")
    id = notes("search", "walrus", "--owner", "--json").json["results"][0]["id"]
    whole = notes("fetch", id, "--owner")

    assert (found.code, "as you" in found.err) == (0, True), found.err
    assert "s1" in whole.out, "what no grant gave is the owner's too"
    logged = notes("activity").out.splitlines()
    assert len(logged) == 3
    assert all("you, by the command" in line for line in logged)


@requirement("cli.read.owner")
def test_a_home_that_holds_nothing_is_not_said_to_be_read(pdpp: Command) -> None:
    said = pdpp("search", "walrus").err

    assert "Nothing is here yet. Begin with: pdpp import PATH" in said
    assert "all that is here" not in said


@requirement("cli.read.owner", "cli.read.one-grant")
def test_with_a_grant_the_owner_is_asked_for_by_name_and_not_for_another_server(notes: Command) -> None:
    made = notes.grant()

    assert notes("query", "notes", "--fields", "secret").code == 1
    assert "s2" in notes("query", "notes", "--fields", "secret", "--owner").out
    assert notes("schema", "--owner", "--grant", made["grant_id"]).code == 64
    assert notes("schema", "--owner", "--provider-url", "https://other.example").code == 64


@requirement("cli.read.owner", "cli.exit.usage")
def test_a_client_of_another_server_is_not_taken_for_everything_here(notes: Command) -> None:
    refused = notes("search", "walrus", "--client", "my-agent")

    assert (refused.code, refused.out) == (64, "")
    assert "--grant reads this home as a client of it would" in " ".join(refused.err.split())


# What an import says ----------------------------------------------------------------------------------------------


@requirement("cli.import.preview")
def test_a_look_that_ends_early_says_at_least(
    pdpp: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pdpp_server.cli.main import _run

    pages = pdpp.folder / "vault"
    pages.mkdir()
    for number in range(20):
        (pages / f"{number}.md").write_text(f"# Page {number}\n")
    monkeypatch.setenv("PDPP_HOME", str(pdpp.home))

    assert _run(["import", "--dry-run", "--as", "markdown", str(pages)]) == 0
    exact = capsys.readouterr().out
    monkeypatch.setattr(accounts, "SURVEY_SECONDS", 0)
    assert _run(["import", "--dry-run", "--as", "markdown", str(pages)]) == 0
    early = capsys.readouterr().out

    assert re.search(r"notes +20 records", exact)
    assert re.search(r"notes +at least 1 record", early)
    assert "in at most the first" in early, "more is read than was counted"
    assert "at least" not in exact


@requirement("cli.import.bar")
def test_a_bar_names_what_is_read_and_moves_while_a_batch_is_read(pdpp: Command) -> None:
    cards = pdpp.folder / "people.vcf"
    card = "BEGIN:VCARD\nVERSION:3.0\nUID:{0}\nFN:Person {0}\nNOTE:" + "n" * 8000 + "\nEND:VCARD\n"
    cards.write_text("".join(card.format(number) for number in range(3900)))  # fewer than a batch

    shown = in_terminal(pdpp, "import", str(cards))

    moved = re.findall(r"people.*?(\d+)%", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown))
    assert {*map(int, moved)} > {0, 100}, shown
