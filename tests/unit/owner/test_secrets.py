"""Passwords of live sources, sealed in a home that has no keyring."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pdpp_server.errors import NotFound
from pdpp_server.owner import secrets
from pdpp_server.owner.secrets import FoundKeyring, Secrets
from pdpp_server.store.keys import KeyFiles


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Secrets:
    monkeypatch.setattr(secrets, "_keyring", lambda: None)
    return Secrets(KeyFiles(tmp_path / "keys"), "/home/m")


def test_a_password_is_sealed_and_opened_by_its_name_alone(sealed: Secrets) -> None:
    kept = sealed.keep("mail", "pässword")
    assert kept is not None and "pässword".encode() not in kept
    assert sealed.open("mail", kept) == "pässword"
    for name, what in (("other", kept), ("mail", kept[:-1] + bytes([kept[-1] ^ 1]))):
        with pytest.raises(NotFound, match="is not there any more"):
            sealed.open(name, what)


def test_another_home_cannot_open_it(sealed: Secrets, tmp_path: Path) -> None:
    kept = sealed.keep("mail", "password")
    with pytest.raises(NotFound):
        Secrets(KeyFiles(tmp_path / "others"), "/home/m").open("mail", kept)


def test_a_keyring_keeps_it_under_the_name_of_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = dict[tuple[str, str], str]()
    keyring: Any = SimpleNamespace(
        set_password=lambda service, name, secret: ring.update({(service, name): secret}),
        get_password=lambda service, name: ring.get((service, name)),
        delete_password=lambda service, name: ring.pop((service, name)),
    )
    monkeypatch.setattr(secrets, "_keyring", lambda: FoundKeyring(keyring, ()))
    one = Secrets(KeyFiles(tmp_path / "keys"), "/home/m")
    assert one.keep("mail", "password") is None
    assert ring == {("pdpp-server", "/home/m: mail"): "password"}
    assert one.open("mail", None) == "password"
    one.forget("mail")
    one.forget("mail")
    assert ring == {}


def refused(*_: str) -> str:
    raise ConnectionRefusedError("no session bus")


def test_a_keyring_that_cannot_be_opened_costs_nothing_but_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: Any = SimpleNamespace(set_password=refused, get_password=refused, delete_password=refused)
    monkeypatch.setattr(secrets, "_keyring", lambda: FoundKeyring(locked, (OSError,)))
    one = Secrets(KeyFiles(tmp_path / "keys"), "/home/m")

    kept = one.keep("mail", "password")
    assert kept is not None and one.open("mail", kept) == "password"
    with pytest.raises(NotFound, match=r"which does not give it \(ConnectionRefusedError\)") as refusal:
        one.open("mail", None)
    assert refusal.value.remedy.startswith("Unlock the keyring")
    one.forget("mail")


def test_without_the_keyring_that_has_it_a_timer_is_told_where_it_lies(sealed: Secrets) -> None:
    with pytest.raises(NotFound, match="in the keyring of this system, which cannot be reached from here"):
        sealed.open("mail", None)
