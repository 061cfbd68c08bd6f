"""What is one owner's is nothing at another's."""

import re
import socket
from urllib.parse import urlsplit

import psycopg
import pytest

from pdpp_server import many_owners
from pdpp_server.importers.uploads import Uploads
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.one_owner import OwnApp
from pdpp_server.reads import schema
from pdpp_server.reads.services import Call, Services
from tests.requirements import requirement
from tests.scenarios.owners.town import Door, Town
from tests.worlds.postgres import Cluster


@requirement("store.owners.sign-in")
def test_each_signs_in_by_name_and_password_and_sees_their_own(town: Town, door: Door) -> None:
    pages = {name: door.signed_in(f" {name.title()} ", town[name].password) for name in town.residents}

    for name, cookie in pages.items():
        (other,) = set(pages) - {name}
        shown = door.get("/search?q=lease", cookie=cookie)
        assert shown.status_code == 200
        assert f"of {name}." in shown.text
        assert f"of {other}." not in shown.text
        assert town[other].grant_id not in door.get("/clients", cookie=cookie).text
        assert door.get("/activity", cookie=cookie).status_code == 200


@requirement("store.owners.sign-in")
def test_a_wrong_name_and_a_wrong_password_are_told_alike(town: Town, door: Door) -> None:
    assert door.get("/").headers["location"].startswith("/sign-in")
    assert 'name="name"' in door.get("/sign-in").text
    tried = [("ada", town["bob"].password), ("nobody", town["bob"].password), ("ada", "x" * 20)]
    told = [door.sign_in(name, password) for name, password in tried]
    assert {answer.status_code for answer in told} == {401}
    assert len({answer.text.count("That is not the password.") for answer in told}) == 1
    assert "That is not the password." in told[0].text


@requirement("store.owners.apart")
def test_a_token_reads_its_own_owner(town: Town, door: Door) -> None:
    for name in town.residents:
        found = door.get("/v1/search?q=lease", town[name].token)
        assert (found.status_code, found.json()["data"][0]["record_key"]) == (200, "m1")
        assert f"lease</mark> of {name}" in found.text or f"of {name}." in found.text
    assert door.get("/v1/search?q=lease", "tok_nobodys").status_code == 401


@requirement("store.owners.apart")
def test_a_handle_a_cursor_and_a_grant_of_one_are_nothing_at_anothers(town: Town, door: Door) -> None:
    ada, bob = town["ada"], town["bob"]
    assert ada.connection_id == bob.connection_id  # the same account of the same export: even so
    first = door.get("/v1/streams/messages/records?limit=1", ada.token).json()
    cursor = first["next_cursor"]
    assert door.get(f"/v1/streams/messages/records?limit=1&cursor={cursor}", ada.token).status_code == 200
    refused = door.get(f"/v1/streams/messages/records?limit=1&cursor={cursor}", bob.token)
    assert refused.json()["error"]["code"] == "invalid_cursor"
    asked = {"Authorization": f"Bearer {bob.owner_token}"}
    assert door.client.post(f"/grants/{ada.grant_id}/revoke", headers=asked).status_code == 404
    assert door.get("/v1/streams/messages/records/m1", ada.token).json()["data"]["text"] == "The lease of ada."


@requirement("store.owners.apart")
def test_a_session_of_one_opens_no_page_of_another(town: Town, door: Door) -> None:
    cookie = door.signed_in("ada", town["ada"].password)
    assert town["bob"].grant_id not in door.get(f"/clients/{town['ada'].grant_id}", cookie=cookie).text
    assert door.get(f"/clients/{town['bob'].grant_id}", cookie=cookie).status_code == 404
    assert door.get("/clients", cookie="a cookie of nobody").status_code == 303


@requirement("store.owners.invitation")
def test_a_link_is_good_once_and_a_new_one_resets_the_password(town: Town, door: Door) -> None:
    ada = town["ada"]
    used = door.get(f"/invited?link={ada.invitation.secret}")
    assert (used.status_code, "used already" in used.text) == (403, True)

    again = town.desk.invite("ada")
    cookie = door.signed_in("ada", ada.password)  # the old one is good until the link is used
    assert door.take_invitation(again.secret, "another password").status_code == 303
    assert door.get("/clients", cookie=cookie).status_code == 303  # and who was signed in by it no longer is
    assert door.sign_in("ada", ada.password).status_code == 401
    assert door.signed_in("ada", "another password")
    assert door.signed_in("bob", town["bob"].password)


@requirement("store.owners.invitation")
@pytest.mark.parametrize("link", ["", "x", "a" * 43])
def test_a_link_that_nobody_was_given_opens_nothing(door: Door, link: str) -> None:
    assert door.get(f"/invited?link={link}").status_code == 403


@requirement("store.owners.apart")
def test_a_database_that_is_away_is_no_reason_to_refuse_a_token(town: Town, door: Door, postgres: Cluster) -> None:
    name = urlsplit(str(town.settings.database_url)).path.removeprefix("/")
    end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
    door.get("/v1/streams", town["ada"].token)
    with psycopg.connect(postgres.operator_url, autocommit=True) as operator:
        operator.execute(f"alter database {name} allow_connections false".encode())
        operator.execute(end, [name])
        asked = [door.get("/v1/streams", resident.token) for resident in town.residents.values()]
        alive = door.get("/livez", "none").status_code
        operator.execute(f"alter database {name} allow_connections true".encode())
    assert [(each.status_code, "Retry-After" in each.headers) for each in asked] == [(503, True), (503, True)]
    assert alive == 200
    assert door.get("/v1/streams", town["bob"].token).status_code == 200


@requirement("store.owners.metrics")
def test_the_numbers_of_a_server_tell_of_each_owner_without_a_name(town: Town, door: Door) -> None:
    ada, bob = town["ada"], town["bob"]

    def asked(number: int) -> int:
        found = re.search(rf'^pdpp_owner_requests_total\{{owner="{number}"\}} (\d+)$', door.get("/metrics").text, re.M)
        return int(found[1]) if found else 0

    before = asked(ada.number), asked(bob.number)
    assert door.get("/v1/search?q=lease", ada.token).status_code == 200

    assert (asked(ada.number), asked(bob.number)) == (before[0] + 1, before[1])
    assert "ada" not in door.get("/metrics").text


@requirement("store.owners.reach")
def test_no_owner_can_make_the_server_reach_for_an_address(town: Town, door: Door) -> None:
    cookie = door.signed_in("ada", town["ada"].password)
    sources = door.get("/sources", cookie=cookie)
    assert "/follow" not in sources.text
    assert "/follow" not in door.get("/import", cookie=cookie).text
    assert door.get("/follow", cookie=cookie).status_code == 409
    found = re.search(r'name="form_token" value="([^"]*)"', sources.text)
    assert found is not None
    inside = socket.create_server(("127.0.0.1", 0))
    form = {"form_token": found[1], "kind": "imap", "address": "127.0.0.1", "user": "ada", "password": "x" * 12}
    given = {**form, "port": str(inside.getsockname()[1]), "security": "none"}

    refused = door.post("/follow", data=given, headers={"Cookie": f"pdpp={cookie}", "Accept": "text/html"})

    inside.settimeout(0.2)
    with inside, pytest.raises(TimeoutError):
        inside.accept()
    assert refused.status_code == 409
    assert "several owners" in refused.text
    assert town["ada"].desk.live.all() == []


@pytest.fixture
def closed(town: Town, door: Door, monkeypatch: pytest.MonkeyPatch) -> list[OwnApp]:
    """Apps that were closed, on a server with room for the house and one owner, where bob came last."""
    found: list[OwnApp] = []
    close = OwnApp.close

    def noted(app: OwnApp) -> None:
        found.append(app)
        close(app)

    monkeypatch.setattr(many_owners, "APPS_MAX", 2)
    assert door.get("/v1/schema", town["bob"].token).status_code == 200
    monkeypatch.setattr(OwnApp, "close", noted)
    return found


@requirement("store.owners.many")
def test_the_app_of_who_came_earliest_is_closed_when_there_are_many(
    town: Town, door: Door, closed: list[OwnApp]
) -> None:
    for name in ("ada", "bob", "bob", "ada"):
        assert door.get("/v1/schema", town[name].token).status_code == 200

    assert len({*closed}) == 3  # of bob, of ada, and of bob again


@requirement("store.owners.many")
def test_an_app_that_somebody_is_in_or_that_imports_is_not_closed(
    town: Town, door: Door, closed: list[OwnApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile: list[tuple[int, int]] = []
    serve = schema.serve

    def served(services: Services, call: Call, query: SchemaQuery) -> Pending[Catalogue]:
        if call.bearer == town["ada"].token and not meanwhile:
            other = door.get("/v1/schema", town["bob"].token).status_code
            meanwhile.append((other, len(closed)))
        return serve(services, call, query)

    monkeypatch.setattr(schema, "serve", served)
    assert door.get("/v1/schema", town["ada"].token).status_code == 200
    assert meanwhile == [(200, 1)]  # bob's of before

    monkeypatch.setattr(Uploads, "is_idle", False)
    assert door.get("/v1/schema", town["ada"].token).status_code == 200
    assert door.get("/v1/schema", town["bob"].token).status_code == 200
    assert len(closed) == 1
