"""Saved credentials: who may be used, who is refused, and who may look."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from pdpp_server.port.credentials import (
    CredentialError,
    client_names,
    find_credential,
    read_credential,
    refuse_kind,
    refuse_owner_environment,
    save,
)
from tests.requirements import requirement

NOW = "2026-11-15T12:00:00Z"


def document(token: Any = "secret", expires_at: Any = "2027-01-01T00:00:00.000Z") -> dict[str, Any]:
    return {
        "provider_url": "https://pdpp.example.com",
        "credential": {"access_token": token, "token_type": "Bearer", "expires_at": expires_at, "grant_id": "grt_1"},
    }


def refused(home: Path, environ: dict[str, str] | None = None, client: str | None = None) -> CredentialError:
    with pytest.raises(CredentialError) as caught:
        find_credential(str(home), environ or {}, client, now=NOW)
    return caught.value


def test_what_was_saved_is_found(tmp_path: Path) -> None:
    path = Path(save(str(tmp_path), "claude-code", document()))

    assert path == tmp_path / "clients" / "claude-code.json"
    assert json.loads(path.read_text()) == document()
    assert find_credential(str(tmp_path), {}, None, now=NOW).token == "secret"


def test_only_the_owner_can_look(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir(mode=0o755)

    path = Path(save(str(tmp_path), "claude", document()))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_saving_again_replaces_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    save(str(tmp_path), "claude", document("old"))
    save(str(tmp_path), "claude", document("new"))

    assert read_credential(str(tmp_path), "claude", now=NOW).token == "new"
    assert [path.name for path in (tmp_path / "clients").iterdir()] == ["claude.json"]


def test_a_save_that_fails_keeps_the_old_file(tmp_path: Path) -> None:
    save(str(tmp_path), "claude", document("old"))

    with pytest.raises(TypeError):
        save(str(tmp_path), "claude", {"credential": object()})

    assert read_credential(str(tmp_path), "claude", now=NOW).token == "old"
    assert [path.name for path in (tmp_path / "clients").iterdir()] == ["claude.json"]


@pytest.mark.parametrize(
    "client", ["../../etc/passwd", "localhost:7663", "..", ".hidden", "a/b\\c", "\x00", "a b", "é", "a\n", "", "x" * 65]
)
def test_no_name_leads_out_of_the_folder_hides_or_shares_a_file(tmp_path: Path, client: str) -> None:
    with pytest.raises(CredentialError, match="such as my-agent"):
        save(str(tmp_path), client, document())

    assert refused(tmp_path, client=client).exit_code == 78
    assert client_names(str(tmp_path)) == []


@requirement("mcp.credentials.none")
def test_nobody_connected_says_how_to_connect(tmp_path: Path) -> None:
    refusal = refused(tmp_path)

    assert (refusal.exit_code, refusal.code) == (78, "not_connected")
    assert "pdpp grants create --selection FILE --client NAME --save" in str(refusal)


@requirement("mcp.credentials.client-named")
def test_several_clients_must_be_told_apart(tmp_path: Path) -> None:
    save(str(tmp_path), "codex", document("two"))
    save(str(tmp_path), "claude", document("one"))

    refusal = refused(tmp_path)

    assert refusal.exit_code == 78
    assert "claude, codex" in str(refusal)
    assert find_credential(str(tmp_path), {}, "codex", now=NOW).token == "two"


def test_a_client_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    save(str(tmp_path), "claude", document())

    refusal = refused(tmp_path, client="codex")

    assert (refusal.exit_code, refusal.code) == (78, "not_connected")
    assert "claude" in str(refusal)


def test_a_token_of_the_environment_is_used_unless_a_client_is_named(tmp_path: Path) -> None:
    save(str(tmp_path), "claude", document("saved"))
    environ = {"PDPP_ACCESS_TOKEN": "given"}

    assert find_credential(str(tmp_path), environ, None, now=NOW).token == "given"
    assert find_credential(str(tmp_path), environ, "claude", now=NOW).token == "saved"
    assert find_credential(str(tmp_path), {"PDPP_ACCESS_TOKEN": ""}, None, now=NOW).token == "saved"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", "{}", '{"credential":7}', '{"credential":{}}', '{"credential":{"access_token":""}}', "\xff"],
)
def test_a_malformed_file_is_unusable(tmp_path: Path, text: str) -> None:
    save(str(tmp_path), "claude", document())
    (tmp_path / "clients" / "claude.json").write_text(text, "latin-1")

    refusal = refused(tmp_path)

    assert (refusal.exit_code, refusal.code) == (78, "credential_invalid")


@pytest.mark.parametrize("expires_at", [7, "", "soon", "2027-01-01", "2027-01-01T00:00:00+05:00"])
def test_an_end_that_cannot_be_read_is_unusable(tmp_path: Path, expires_at: Any) -> None:
    save(str(tmp_path), "claude", document(expires_at=expires_at))

    assert refused(tmp_path).code == "credential_invalid"


@pytest.mark.parametrize("expires_at", ["2026-11-15T12:00:00Z", "2026-11-15T11:59:59.999Z", "2020-01-01T00:00:00Z"])
def test_an_expired_credential_is_unusable(tmp_path: Path, expires_at: str) -> None:
    save(str(tmp_path), "claude", document(expires_at=expires_at))

    refusal = refused(tmp_path)

    assert (refusal.exit_code, refusal.code) == (78, "credential_expired")


@pytest.mark.parametrize("expires_at", ["2026-11-15T12:00:01Z", None])
def test_a_credential_lives_until_its_end(tmp_path: Path, expires_at: str | None) -> None:
    save(str(tmp_path), "claude", document(expires_at=expires_at))

    assert find_credential(str(tmp_path), {}, None, now=NOW).token == "secret"


def test_no_refusal_shows_a_token(tmp_path: Path) -> None:
    save(str(tmp_path), "claude", document("very-secret", "2020-01-01T00:00:00Z"))

    assert "very-secret" not in str(refused(tmp_path))


@requirement("mcp.credentials.owner-environment")
@pytest.mark.parametrize("name", ["PDPP_OWNER_TOKEN", "PDPP_OWNER_SESSION_COOKIE"])
@pytest.mark.parametrize("value", ["x", ""])
def test_an_owner_credential_in_the_environment_is_refused(name: str, value: str) -> None:
    with pytest.raises(CredentialError) as caught:
        refuse_owner_environment({name: value, "PDPP_ACCESS_TOKEN": "scoped"})

    assert caught.value.exit_code == 77
    assert name in str(caught.value)


def test_an_environment_without_owner_credentials_passes() -> None:
    refuse_owner_environment({"PDPP_ACCESS_TOKEN": "scoped", "HOME": "/"})


@requirement("mcp.credentials.kind-asked")
@pytest.mark.parametrize(("kind", "exit_code"), [("owner", 77), (None, 78), ("refresh", 78)])
def test_a_token_is_refused_by_its_kind(kind: str | None, exit_code: int) -> None:
    with pytest.raises(CredentialError) as caught:
        refuse_kind(kind)

    assert caught.value.exit_code == exit_code


@pytest.mark.parametrize("kind", ["client", "mcp_package"])
def test_scoped_kinds_pass(kind: str) -> None:
    refuse_kind(kind)


HERE = "https://pdpp.example.com"


@requirement("port.network.saved-for")
def test_a_saved_token_is_for_the_server_that_it_was_saved_for(tmp_path: Path) -> None:
    save(str(tmp_path), "here", {**document("ours"), "provider_url": f"{HERE}:443/"})
    save(str(tmp_path), "there", {**document("theirs"), "provider_url": "https://other.example"})
    save(str(tmp_path), "nowhere", {"credential": {"access_token": "unsaid"}})

    assert find_credential(str(tmp_path), {}, None, now=NOW, provider=HERE).token == "ours"
    assert find_credential(str(tmp_path), {}, "here", now=NOW, provider=HERE).token == "ours"
    for client in ("there", "nowhere"):
        with pytest.raises(CredentialError) as refused:
            find_credential(str(tmp_path), {}, client, now=NOW, provider=HERE)
        assert (refused.value.exit_code, refused.value.code) == (78, "not_connected")


@requirement("port.network.saved-for")
def test_without_a_token_for_that_server_it_says_where_to_put_one(tmp_path: Path) -> None:
    save(str(tmp_path), "there", {**document("theirs"), "provider_url": "https://other.example"})

    with pytest.raises(CredentialError, match="PDPP_ACCESS_TOKEN"):
        find_credential(str(tmp_path), {}, None, now=NOW, provider=HERE)
    assert find_credential(str(tmp_path), {"PDPP_ACCESS_TOKEN": "given"}, None, now=NOW, provider=HERE).token == "given"
    with pytest.raises(CredentialError, match="connected: there"):
        find_credential(str(tmp_path), {}, "nobody", now=NOW, provider=HERE)
