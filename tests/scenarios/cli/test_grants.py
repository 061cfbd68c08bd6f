"""`pdpp grants`: what is agreed to, shown, explained and taken back."""

import json
import subprocess
from typing import Any

import pytest

from tests.requirements import requirement
from tests.scenarios.cli.command import NOTES, PDPP, ROOT, SECONDS, Command, selection_of

LISTING = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","arguments":{}}}\n'


def handle(notes: Command, key: str = "n1") -> str:
    return f"{notes('sources', '--json').json['connections'][0]['connection_id']}/notes:{key}"


@requirement("mcp.credentials.scoped", "mcp.stdio.no-server-needed")
def test_a_saved_grant_serves_the_agent_that_names_its_client(notes: Command) -> None:
    made = notes.grant("--save")

    assert set(made) == {"grant_id", "token", "expires_at"}
    assert notes.home.joinpath("clients", "my-agent.json").stat().st_mode & 0o777 == 0o600
    served = notes("mcp", "--client", "my-agent", stdin=LISTING)
    text = json.loads(served.out)["result"]["content"][0]["text"]
    assert "notes" in text
    assert notes("activity", "--json").json["activity"][0]["grant_ids"] == [made["grant_id"]]


@requirement("cli.grants.created")
def test_the_words_for_a_person_hold_the_token_once_and_the_line_for_an_agent(notes: Command) -> None:
    selection = notes.file("selection.json", json.dumps([selection_of({"name": "notes"})]))

    said = notes("grants", "create", "--selection", selection, "--client", "my-agent", "--save").out

    token = next(line for line in said.splitlines() if len(line) == 64)
    assert said.count(token) == 1
    assert f"PDPP_HOME={notes.home} pdpp mcp --client my-agent" in said.splitlines()
    unsaved = notes("grants", "create", "--selection", selection, "--client", "other").out
    assert f"PDPP_HOME={notes.home} PDPP_ACCESS_TOKEN=" in unsaved


@requirement("cli.grants.created")
def test_a_saved_credential_that_is_replaced_leaves_a_grant_of_which_is_told(notes: Command) -> None:
    first = notes.grant("--save")["grant_id"]
    words = ("grants", "create", "--selection", notes.folder / "selection.json", "--client", "my-agent", "--save")

    again = notes(*words)
    assert f"The credential of {first} is replaced; that grant lives until you end it:" in again.err
    assert again.err.rstrip().endswith(f"grants revoke {first}")
    for row in notes("grants", "list", "--json").json["grants"]:
        notes("grants", "revoke", row["grant_id"])
    assert notes(*words).err == ""


@requirement("cli.grants.client-name")
@pytest.mark.parametrize("name", ["a b", "../x", ".hidden", "claude/code", "é", "x" * 65])
def test_a_name_that_no_file_can_have_is_refused_before_a_grant_is_made(notes: Command, name: str) -> None:
    selection = notes.file("selection.json", json.dumps(selection_of({"name": "notes"})))

    refused = notes("grants", "create", "--selection", selection, "--client", name, "--save")

    assert (refused.code, refused.out) == (64, "")
    assert "such as my-agent" in refused.err
    assert notes("grants", "list", "--json").json == {"grants": []}
    named = notes("mcp", "--client", name)
    assert (named.code, len(named.err.splitlines())) == (78, 1)


@requirement("cli.grants.client-name")
def test_two_names_never_share_a_file(notes: Command) -> None:
    names = ["a_b", "a-b", "a.b", "A_B"]
    tokens = {name: notes.grant("--save", client=name)["token"] for name in names}

    for name, token in tokens.items():
        assert token in notes.home.joinpath("clients", f"{name}.json").read_text()


@requirement("grants.tokens.hashed")
def test_no_token_is_kept_unless_it_is_saved(notes: Command) -> None:
    token = notes.grant()["token"]

    assert not notes.home.joinpath("clients").exists()
    assert all(token.encode() not in path.read_bytes() for path in notes.home.rglob("*") if path.is_file())


@requirement("grants.issue.package")
def test_several_sources_make_one_package_with_one_token(notes: Command) -> None:
    other = json.loads((notes.folder / "notes.json").read_text())
    other["source"]["id"] = NOTES + "-two"
    imported = notes(
        "import",
        notes.folder / "notes.ndjson",
        "--declaration",
        notes.file("two.json", json.dumps(other)),
        "--name",
        "Two",
    )
    assert imported.code == 0, imported.err
    both = [selection_of({"name": "notes"}), selection_of({"name": "notes"}, source=NOTES + "-two")]

    made = notes(
        "grants", "create", "--selection", "-", "--client", "a", "--save", "--json", stdin=json.dumps(both)
    ).json

    assert made["grant_id"].startswith("gpkg_")
    assert len(made["grants"]) == 2
    assert notes("mcp", stdin=LISTING).out.count('"result"') == 1
    rows = notes("grants", "show", made["grant_id"], "--json").json["grants"]
    assert {row["grant_id"] for row in rows} == {*made["grants"]}
    assert {row["package_id"] for row in rows} == {made["grant_id"]}
    assert notes("search", "walrus").code == 0, "a package counts as one grant"
    assert len(notes("activity", "--grant", made["grant_id"], "--json").json["activity"]) == 2
    assert {row["state"] for row in notes("grants", "revoke", made["grant_id"], "--json").json["grants"]} == {"revoked"}


@requirement("grants.lifecycle.revoked")
def test_after_a_revocation_the_next_read_is_refused(notes: Command) -> None:
    grant = notes.grant("--save")["grant_id"]
    assert notes("fetch", handle(notes), "--grant", grant).code == 0

    revoked = notes("grants", "revoke", grant)

    assert (revoked.code, grant in revoked.out) == (0, True)
    refused = notes("fetch", handle(notes), "--grant", grant, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "grant_revoked")
    assert "grant_revoked" in notes("mcp", stdin=LISTING).out
    assert notes("grants", "revoke", grant).out == revoked.out, "revoking again changes nothing"


@requirement("mcp.credentials.revoked-live")
def test_an_adapter_that_runs_already_is_refused_too(notes: Command) -> None:
    grant = notes.grant("--save")["grant_id"]
    with subprocess.Popen(
        [*PDPP, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=notes.environment()
    ) as adapter:
        before = answer(adapter)
        notes("grants", "revoke", grant)
        after = answer(adapter)
        adapter.communicate(timeout=SECONDS)

    assert "isError" not in before["result"]
    assert after["result"]["structuredContent"]["error"]["code"] == "grant_revoked"
    assert adapter.returncode == 0


def answer(adapter: subprocess.Popen[str]) -> dict[str, Any]:
    assert adapter.stdin
    assert adapter.stdout
    adapter.stdin.write(LISTING)
    adapter.stdin.flush()
    return json.loads(adapter.stdout.readline())


@requirement("cli.grants.listed")
def test_the_list_shows_every_grant_with_its_state(notes: Command) -> None:
    first, second = notes.grant(client="one")["grant_id"], notes.grant("--expires", "never", client="two")["grant_id"]
    notes("grants", "revoke", first)

    rows = {row["grant_id"]: row for row in notes("grants", "list", "--json").json["grants"]}

    assert (rows[first]["state"], rows[second]["state"]) == ("revoked", "active")
    assert rows[second]["expires_at"] is None
    assert rows[second]["client"]["client_display"] == {"name": "two"}
    (line,) = [line for line in notes("grants", "list").out.splitlines() if first in line]
    assert "revoked" in line
    assert "title" in notes("grants", "show", second).out


@requirement("cli.grants.ends")
@pytest.mark.parametrize("end", ["yesterday", "2020-01-01", "0d", "99999999999999d", "-3d"])
def test_an_end_that_cannot_be_meant_is_refused(notes: Command, end: str) -> None:
    selection = notes.file("selection.json", json.dumps(selection_of({"name": "notes"})))

    refused = notes("grants", "create", "--selection", selection, "--client", "x", f"--expires={end}")

    assert refused.code == 64
    assert notes("grants", "list", "--json").json == {"grants": []}


@requirement("cli.grants.ends")
@pytest.mark.parametrize(("end", "day"), [("2099-12-31", "2099-12-31T00:00:00.000Z"), ("never", None)])
def test_a_grant_ends_when_it_was_told_to(notes: Command, end: str, day: str | None) -> None:
    assert notes.grant("--expires", end)["expires_at"] == day


@requirement("cli.grants.explained")
def test_a_decision_is_explained_in_sentences(notes: Command) -> None:
    grant = notes.grant()["grant_id"]

    assert notes("grants", "explain", grant, "--stream", "notes", "--field", "title").out.startswith("Permitted.")
    assert "field_not_granted" in notes("grants", "explain", grant, "--stream", "notes", "--field", "secret").out
    sentences = notes("grants", "explain", grant, "--search", "--json").json["sentences"]
    assert any("hidden: secret" in sentence for sentence in sentences)
    assert "grant_stream_not_allowed" in notes("grants", "explain", grant, "--stream", "letters").out
    assert notes("grants", "explain", grant).code == 64


@requirement("cli.grants.listed", "cli.exit.one-line")
@pytest.mark.parametrize("verb", ["show", "revoke", "explain"])
def test_an_unknown_grant_is_named_with_the_way_to_the_known_ones(notes: Command, verb: str) -> None:
    refused = notes("grants", verb, "grt_nowhere", *(["--search"] if verb == "explain" else []))

    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "pdpp: There is no grant 'grt_nowhere'. `pdpp grants list` shows them. [not_found]\n"


@requirement("cli.grants.bad-selection")
@pytest.mark.parametrize(
    ("selection", "words"),
    [
        ("no json", "is not JSON"),
        ("[]", "invalid_authorization_details"),
        ('{"type": "other"}', "invalid_authorization_details"),
        ("{}", "pdpp: /0/type: 'type' is missing. [invalid_authorization_details]"),
        (json.dumps(selection_of({"name": "letters"})), "(at /streams/0/name)"),
        (json.dumps(selection_of({"name": "notes", "fields": ["nonsense"]})), "(at /streams/0/fields/0)"),
        (json.dumps(selection_of({"name": "notes"}, source="https://example.org/none")), "`pdpp sources`"),
    ],
)
def test_a_selection_that_cannot_be_given_is_refused_with_its_place(notes: Command, selection: str, words: str) -> None:
    file = notes.file("selection.json", selection)

    refused = notes("grants", "create", "--selection", file, "--client", "x", "--json")

    assert (refused.code, refused.out) == (1, "")
    assert words in refused.err
    assert len(refused.err.splitlines()) == 1
    assert notes("grants", "list", "--json").json == {"grants": []}


@requirement("cli.grants.previewed")
def test_a_preview_is_what_the_client_sees_and_the_owners_own_look(notes: Command) -> None:
    made = notes.grant()
    asked = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":%s}}\n'
    served = notes("mcp", stdin=asked % '{"stream":"notes","limit":3}', PDPP_ACCESS_TOKEN=made["token"])
    seen = json.loads(served.out)["result"]

    said = notes("grants", "preview", made["grant_id"])
    document = notes("grants", "preview", made["grant_id"], "--stream", "notes", "--limit", "1", "--json").json

    assert said.code == 0
    assert seen["content"][0]["text"] in said.out, "byte for byte what its agent reads"
    assert "my-agent" in said.out.splitlines()[0]
    assert document["grant_id"] == made["grant_id"]
    (listed,) = document["records"]
    assert [record["id"] for record in listed["data"]["data"]] == ["n2"]
    assert document["schema"]["data"]["connectors"][0]["streams"][0]["name"] == "notes"
    lines = notes("activity", "--json").json["activity"]
    assert {line["client_id"] for line in lines[:4]} == {"owner-preview"}


@requirement("cli.grants.previewed")
def test_a_preview_of_what_is_over_or_unknown_says_so(notes: Command) -> None:
    made = notes.grant()
    notes("grants", "revoke", made["grant_id"])

    over, unknown = notes("grants", "preview", made["grant_id"]), notes("grants", "preview", "grt_nobody")

    assert over.code == unknown.code == 1
    assert "grant_revoked" in over.err
    assert "grt_nobody" in unknown.err


@requirement("grants.change.successor", "grants.change.end", "con.clients.named")
def test_a_grant_is_changed_and_named_by_the_command_and_its_saved_token_goes_on(notes: Command) -> None:
    made = notes.grant("--save", "--expires", "1d")
    less = notes.file("less.json", json.dumps(selection_of({"name": "notes", "fields": ["title"]})))

    said = notes("grants", "change", made["grant_id"], "--selection", less, "--expires", "never").out
    assert f"takes the place of {made['grant_id']}; no end." in said
    notes("grants", "name", made["grant_id"], "The laptop", "--note", "for taxes")

    first, second = notes("grants", "list", "--json").json["grants"]
    assert (first["state"], first["successor"]) == ("changed", second["grant_id"])
    assert (second["name"], second["note"]) == ("The laptop", "for taxes")
    kept = json.loads(notes.home.joinpath("clients", "my-agent.json").read_text())["credential"]
    assert (kept["access_token"], kept["expires_at"]) == (made["token"], None)
    assert "not granted: body," in notes("mcp", "--client", "my-agent", stdin=LISTING).out
    wider = notes.file("wider.json", json.dumps(selection_of({"name": "notes"})))
    assert notes("grants", "change", made["grant_id"], "--selection", wider).code == 0  # says nothing of fields
    again = notes.file("again.json", json.dumps(selection_of({"name": "notes", "fields": ["body"]})))
    refused = notes("grants", "change", made["grant_id"], "--selection", again)
    assert "more than the grant gives: field 'body'" in refused.err
    assert notes("grants", "change", made["grant_id"]).code == 64
