"""A mailbox that is opened by tokens: Debian's dovecot asks a token service of ours what each token is worth."""

from base64 import b64encode
from collections.abc import Generator
from datetime import UTC

import pytest

from pdpp_server.errors import Conflict
from pdpp_server.importers import registry
from pdpp_server.importers.live.adding import mailbox_settings, tried
from pdpp_server.importers.live.oauth import MailClient, agreed, secret_of
from pdpp_server.importers.live.sync import Syncing, sync_one
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.wire.connect import decode_token_service, encode_mail_service, encode_renewing
from tests.importers.live.scripted import scripted, usual
from tests.requirements import requirement
from tests.worlds.mailserver import USER, MailServer, letter, mail_server
from tests.worlds.tokenserver import CLIENT, Form, TokenServer, Told, token_service
from tests.worlds.world import World


@pytest.fixture
def tokens() -> Generator[TokenServer, None, None]:
    with token_service(USER) as service:
        yield service


@pytest.fixture
def server(tokens: TokenServer) -> Generator[MailServer, None, None]:
    with mail_server(introspection=f"{tokens.url}/introspect") as server:
        server.put([letter(1), letter(2)])
        yield server


class Followed:
    """The mailbox, agreed to and followed."""

    def __init__(self, world: World, tokens: TokenServer, port: int) -> None:
        self.world, self.tokens = world, tokens
        service = decode_token_service(tokens.document)
        self.settings = mailbox_settings("127.0.0.1", USER, port=port, security="none")
        self.settings["oauth"] = encode_mail_service(service, CLIENT)
        self.access, renewing = agreed(service, MailClient(CLIENT), lambda *_: None, sleep=lambda _: None)
        world.owner.live.add(USER, "imap", self.settings, encode_renewing(renewing))

    def sync(self) -> str:
        syncing = Syncing(self.world.owner, UTC, registry.IMPORTERS, self.world.clock)
        return sync_one(syncing, self.world.owner.live.named(USER))

    def messages(self) -> int:
        (source,) = [one for one in self.world.owner.sources() if one.name == USER]
        return next(stream.records for stream in source.streams if stream.name == "messages")


@requirement("imp.live.imap-oauth")
def test_a_token_opens_the_mailbox_and_is_renewed_when_it_has_expired(
    world: World, tokens: TokenServer, server: MailServer
) -> None:
    followed = Followed(world, tokens, server.port)
    assert tried("imap", followed.settings, followed.access) == ["INBOX: 2 messages"]
    assert followed.sync().startswith("4 accepted")

    tokens.expire()
    server.put([letter(3)])
    assert followed.sync().startswith("2 accepted")
    renewals = [form["refresh_token"] for _, form in tokens.asked if "refresh_token" in form]
    assert renewals == ["refresh-0", "refresh-1"]
    assert {form["client_id"] for path, form in tokens.asked if path == "/token"} == {CLIENT}


@requirement("imp.live.imap-oauth", "imp.live.imap-trouble")
def test_a_consent_that_was_taken_back_is_said_with_what_to_do_and_removes_nothing(
    world: World, tokens: TokenServer, server: MailServer
) -> None:
    followed = Followed(world, tokens, server.port)
    followed.sync()
    tokens.revoke()
    with pytest.raises(SourceTrouble, match=r"gives no token \(invalid_grant\)") as refused:
        followed.sync()

    assert "took the consent back" in refused.value.remedy
    assert "stop the source and add it again" in (world.owner.live.named(USER).trouble or "")
    assert followed.messages() == 2


@requirement("imp.live.imap-oauth", "imp.live.imap-trouble")
def test_a_token_that_the_mail_server_refuses_is_no_matter_of_passwords(
    world: World, tokens: TokenServer, server: MailServer
) -> None:
    followed = Followed(world, tokens, server.port)
    followed.sync()
    tokens.user = "another@example.org"
    with pytest.raises(SourceTrouble, match="refuses the user ann@example.org with this token") as refused:
        followed.sync()

    assert "--oauth" in refused.value.remedy
    assert "password" not in refused.value.remedy
    assert tokens.asked[-1][1]["token"] not in f"{refused.value}{refused.value.remedy}"
    assert followed.messages() == 2


@requirement("imp.live.imap-oauth")
def test_why_a_token_is_refused_is_heard_out_and_the_token_is_not_said_again() -> None:
    said: list[str] = []
    reason = b64encode(b'{"status":"401"}')

    def mail(tag: str, command: str) -> bytes:
        said.append(f"{tag} {command}".strip())
        begun = next((n for n, line in enumerate(said) if "AUTHENTICATE" in line), None)
        if begun is None:
            return usual(tag, command)
        refused = said[begun].split()[0].encode() + b" NO refused\r\n"
        return (b"+ \r\n", b"+ " + reason + b"\r\n", refused)[len(said) - 1 - begun]

    with scripted(mail) as port, pytest.raises(SourceTrouble, match="with this token"):
        tried("imap", {**mailbox_settings("127.0.0.1", USER, port=port, security="none"), "oauth": {"x": "y"}}, "t")
    assert said[-1] == ""


@requirement("imp.live.imap-oauth")
def test_a_refresh_token_is_used_by_one_at_a_time(world: World, tokens: TokenServer) -> None:
    """A sync and whoever listens for mail begin together; a token that is used twice may end the consent."""
    followed = Followed(world, tokens, port=1)
    answer, is_held = tokens.answer, list[bool]()

    def probing(path: str, form: Form) -> Told:
        try:
            with world.services.database.turns.held("secrets"):
                is_held.append(False)
        except Conflict:
            is_held.append(True)
        return answer(path, form)

    tokens.answer = probing
    renewed = secret_of(world.owner.live, world.owner.live.named(USER))
    assert [renewed(), renewed()] == ["access-1", "access-2"]
    assert is_held == [True, True]
    assert followed.tokens.refresh == "refresh-2"
