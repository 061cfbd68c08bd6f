"""A mailbox that is followed: against Debian's dovecot, with and without what newer servers can say."""

import mailbox
from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import orjson
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pdpp_server.importers import registry
from pdpp_server.importers.live import imap
from pdpp_server.importers.live.imap import Mailbox, followed_folders, sign_in, sync_imap, wait_for_mail
from pdpp_server.importers.live.imap_wire import ImapConversation, ImapServer, connected
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.importers.missing import ASK_NOBODY, MissingChoice
from pdpp_server.importers.registry import look_into
from pdpp_server.importers.run import import_account
from pdpp_server.importers.watch import Stopped
from pdpp_server.owner.writer import Writer
from tests.importers.live.relayed import relayed
from tests.requirements import requirement
from tests.worlds.mailserver import PASSWORD, USER, MailServer, letter, mail_server
from tests.worlds.world import World

PLAIN_SERVER = "IMAP4rev1 IDLE SPECIAL-USE UNSELECT"  # one that knows neither CONDSTORE nor QRESYNC
ROUND_TRIPS_MAX = 3  # for a folder in which nothing is new
SIGNING_IN_MAX = 6  # authenticate and its answer, capabilities, enable, list


@pytest.fixture(scope="module", params=["", PLAIN_SERVER], ids=["qresync", "plain"])
def running(request: pytest.FixtureRequest) -> Generator[MailServer, None, None]:
    with mail_server(capability=request.param) as server:
        yield server


@pytest.fixture
def server(running: MailServer) -> MailServer:
    """The same server, and a mailbox of one's own."""
    return replace(running, user=f"{token_hex(6)}@example.org")


class Followed:
    """A mailbox, followed into a home."""

    def __init__(self, world: World, server: MailServer) -> None:
        self.world, self.server = world, server
        self.mailbox = Mailbox(ImapServer("127.0.0.1", server.port, "none"), server.user, USER)

    def sync(self, missing: MissingChoice = ASK_NOBODY) -> str:
        return sync_imap(self.mailbox, lambda: PASSWORD, self.world.owner, UTC, lambda: False, missing)

    def records(self, stream: str = "messages") -> dict[str, dict[str, Any]]:
        with self.world.services.database.reading() as reading:
            statement = """
            select key, data from records join streams using(sid) join connections using(connection)
            where name = ? and display_name = ? and data is not null order by key
            """
            return {key: orjson.loads(data) for key, data in reading.rows(statement, (stream, USER))}

    def undo(self) -> int:
        (run, *_) = self.world.owner.removing_runs()
        return self.world.owner.undo_import(run.run).restored.restored


@pytest.fixture
def followed(world: World, server: MailServer) -> Followed:
    return Followed(world, server)


def expunge(server: MailServer, *numbers: int, folder: str = "INBOX") -> None:
    with server.mail() as mail:
        mail.select(f'"{folder}"')
        for number in numbers:
            mail.store(str(number), "+FLAGS", "\\Deleted")
        mail.expunge()


@requirement("imp.live.imap-same")
def test_mail_is_the_same_as_in_an_export_of_the_same_account(followed: Followed, tmp_path: Path) -> None:
    letters = [letter(1), letter(2, In_Reply_To="<1@example.org>", subject="Re: Letter 1"), letter(3)]
    letters += [letter(4, References="<1@example.org> <2@example.org>", subject="Re: Letter 1")]
    followed.server.put(letters)
    assert followed.sync().startswith("6 accepted, 0 rejected")  # four messages in two threads

    box = mailbox.mbox(str(tmp_path / "all.mbox"))
    for raw in letters:
        box.add(raw)
    box.close()
    (found,) = look_into(tmp_path / "all.mbox", UTC, None, registry.IMPORTERS).found
    before = followed.records()
    tally = import_account(found, followed.world.owner.writer(found.declaration, USER))
    after = followed.records()

    assert before.keys() == after.keys() == {f"{n}@example.org" for n in (1, 2, 3, 4)}
    own_way = {"folder", "size_bytes"}
    assert [{k: v for k, v in one.items() if k not in own_way} for one in before.values()] == [
        {k: v for k, v in one.items() if k not in own_way} for one in after.values()
    ]
    assert len(followed.records("threads")) == 2
    assert tally.rejected == 0
    assert followed.sync() == "nothing changed"


@requirement("imp.live.imap-once", "imp.live.imap-untouched")
def test_nothing_new_costs_three_commands_for_a_folder_and_nothing_is_marked(followed: Followed) -> None:
    followed.server.put([letter(n) for n in range(10)])
    followed.server.put([letter(n) for n in range(10, 15)], "Work")
    followed.sync()

    with relayed(followed.server.port) as (port, said):
        followed.mailbox = followed.mailbox._replace(server=ImapServer("127.0.0.1", port, "none"))
        assert followed.sync() == "nothing changed"

    commands = [line.partition(" ")[2] for line in said]
    opened = [number for number, command in enumerate(commands) if command.startswith("EXAMINE")]
    assert len(opened) == len(set(commands[number] for number in opened)) == 2  # each folder once
    for begun, end in pairwise([*opened, len(commands)]):
        assert end - begun <= ROUND_TRIPS_MAX, commands[begun:end]
    assert opened[0] <= SIGNING_IN_MAX, commands[: opened[0]]
    with followed.server.mail() as mail:
        mail.select("INBOX", readonly=True)
        assert mail.search(None, "SEEN") == ("OK", [b""])


@requirement("imp.attached.hostile")
def test_a_file_without_a_text_is_counted_and_kept(followed: Followed) -> None:
    mail = message_from_bytes(letter(1), policy=policy.default)
    mail.add_attachment(b"%PDF-1.7 and nothing", maintype="application", subtype="pdf", filename="lens.pdf")
    followed.server.put([mail.as_bytes()])

    assert followed.sync() == "3 accepted, 0 rejected, 1 attached file without its whole text."
    assert [one["filename"] for one in followed.records("attachments").values()] == ["lens.pdf"]


@requirement("imp.live.imap-once")
def test_only_what_is_new_is_fetched(followed: Followed, monkeypatch: pytest.MonkeyPatch) -> None:
    followed.server.put([letter(n) for n in range(5)])
    followed.sync()
    followed.server.put([letter(7)])
    fetched: list[int] = []
    bodies = ImapConversation.bodies
    monkeypatch.setattr(ImapConversation, "bodies", lambda self, uids: (fetched.extend(uids), bodies(self, uids))[1])

    assert followed.sync().startswith("2 accepted")
    assert fetched == [6]


@requirement("imp.live.imap-gone")
def test_what_is_deleted_goes_and_what_is_moved_stays(followed: Followed) -> None:
    followed.server.put([letter(n) for n in range(6)])
    followed.server.put([letter(9)], "Archive")
    followed.sync()

    with followed.server.mail() as mail:
        mail.select("INBOX")
        mail.copy("1", "Archive")
    expunge(followed.server, 1, 2)
    said = followed.sync()

    assert "2 removed" in said  # the second message and its thread
    assert "1@example.org" not in followed.records()
    assert followed.records()["0@example.org"]["folder"] == "Archive"
    assert "t-" in next(iter(followed.records("threads")))
    assert followed.undo() == 2
    assert "1@example.org" in followed.records()
    assert followed.sync() == "nothing changed"


@requirement("imp.live.imap-gone", "imp.newer.half")
def test_most_of_a_mailbox_goes_only_when_the_owner_says_so(followed: Followed) -> None:
    followed.server.put([letter(n) for n in range(4)])
    followed.sync()
    expunge(followed.server, 1, 2, 3)

    for _ in range(2):
        assert followed.sync() == "nothing changed, 3 kept that it has no longer: it is more than half of what was there"
    kept = followed.sync(MissingChoice(keep=True))
    assert kept == "nothing changed, 3 kept that it has no longer: you asked to keep them"
    assert len(followed.records()) == 4
    assert "6 removed" in followed.sync(MissingChoice(settled=lambda _: True))
    assert len(followed.records()) == 1


@requirement("imp.live.imap-folders")
def test_a_folder_that_is_renamed_keeps_its_mail_and_one_that_is_deleted_loses_it(followed: Followed) -> None:
    followed.server.put([letter(n) for n in range(5)])
    followed.server.put([letter(n) for n in range(5, 8)], "Rei&AN8-en &- mehr")
    followed.sync()
    assert followed.records()["6@example.org"]["folder"] == "Reißen & mehr"

    with followed.server.mail() as mail:
        mail.rename('"Rei&AN8-en &- mehr"', '"Trips"')
    assert followed.sync() == "3 accepted, 0 rejected."  # another folder stands in each
    assert (len(followed.records()), followed.records()["6@example.org"]["folder"]) == (8, "Trips")
    with followed.server.mail() as mail:
        mail.delete('"Trips"')
    assert "6 removed" in followed.sync()
    assert len(followed.records()) == 5


@requirement("imp.live.imap-folders")
def test_a_folder_that_was_made_anew_is_read_anew_without_loss_or_doubles(followed: Followed) -> None:
    followed.server.put([letter(n) for n in range(4)])
    followed.sync()
    before = followed.records()
    with followed.server.mail() as mail:
        mail.create('"Other"')
        mail.select("INBOX")
        mail.copy("1:3", '"Other"')
        mail.select('"Other"')
    followed.sync()
    with followed.server.mail() as mail:
        mail.delete('"Other"')
        mail.create('"Other"')
        mail.select("INBOX")
        mail.copy("4", '"Other"')

    followed.sync()
    assert followed.records().keys() == before.keys()
    assert followed.sync() == "nothing changed"


@requirement("imp.live.imap-folders", "imp.newer.half")
def test_a_mailbox_that_is_numbered_anew_has_lost_nothing(followed: Followed) -> None:
    answer = letter(2, In_Reply_To="<1@example.org>", subject="Re: Letter 1")
    followed.server.put([letter(n) for n in (1, 5, 6)], "Work")
    followed.server.put([answer])
    followed.sync()
    before = followed.records() | followed.records("threads")
    with followed.server.mail() as mail:
        mail.delete('"Work"')
    followed.server.put([letter(n) for n in (1, 5, 6)], "Work")

    assert [followed.sync(), followed.sync()] == ["nothing changed"] * 2
    assert followed.records() | followed.records("threads") == before


@requirement("imp.live.imap-gone")
def test_of_a_message_that_a_folder_has_twice_one_may_go(followed: Followed) -> None:
    answer = letter(2, In_Reply_To="<1@example.org>", subject="Re: Letter 1")
    followed.server.put([letter(1), letter(1), answer])
    followed.sync()
    expunge(followed.server, 1)

    assert followed.sync() == "nothing changed"
    assert [thread["message_count"] for thread in followed.records("threads").values()] == [2]


@requirement("imp.live.imap-kill")
@pytest.mark.parametrize("stop_after", [1, 2, 3, 5])
def test_a_try_that_ends_anywhere_loses_and_doubles_nothing(
    followed: Followed, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    monkeypatch.setattr(imap, "GROUP_MESSAGES", 3)
    followed.server.put([letter(n % 20) for n in range(21)])
    deliver, steps = Writer.deliver_items, iter(range(1, 100))

    def dies(self: Writer, *given: Any) -> Any:
        step = next(steps)
        if step == stop_after:
            raise Stopped("before it was kept")
        kept = deliver(self, *given)
        if step == stop_after + 1:
            raise Stopped("after it was kept")
        return kept

    monkeypatch.setattr(Writer, "deliver_items", dies)
    for _ in range(2):
        with pytest.raises(Stopped):
            followed.sync()
    followed.sync()

    assert len(followed.records()) == 20
    assert sum(thread["message_count"] for thread in followed.records("threads").values()) == 20
    assert followed.sync() == "nothing changed"


@requirement("imp.live.imap-idle")
def test_new_mail_is_told_of(followed: Followed) -> None:
    followed.server.put([letter(1)])
    heard: list[bool] = []

    def is_over() -> bool:
        if len(heard) == 1:  # as soon as it listens: something may have come before
            followed.server.put([letter(2)])
        return len(heard) > 1

    wait_for_mail(followed.mailbox, lambda: PASSWORD, is_over, lambda: heard.append(True))
    assert heard == [True, True]


@requirement("imp.live.imap-trouble")
def test_a_wrong_password_is_said_with_what_to_do(followed: Followed) -> None:
    with pytest.raises(SourceTrouble, match="refuses the user") as refused:
        sync_imap(followed.mailbox, lambda: "wrong", followed.world.owner, UTC, lambda: False, ASK_NOBODY)
    assert "app password" in refused.value.remedy
    assert "wrong" not in f"{refused.value}{refused.value.remedy}"


@requirement("imp.live.imap-same")
def test_two_messages_of_one_id_are_two(followed: Followed) -> None:
    followed.server.put([letter(1)])
    followed.sync()
    followed.server.put([letter(1, subject="Another")], "Lists")
    followed.server.put([letter(1)], "Again")
    followed.sync()

    assert len(followed.records()) == 2
    assert sorted(one["subject"] for one in followed.records().values()) == ["Another", "Letter 1"]


@requirement("imp.live.imap-certificate")
def test_a_certificate_that_does_not_fit_is_refused_and_can_be_accepted(world: World, tmp_path: Path) -> None:
    pair = certificate(tmp_path)
    with mail_server(certificate=pair) as server:
        for security, port in (("tls", server.tls_port), ("starttls", server.port)):
            server = ImapServer("127.0.0.1", port, security)
            with pytest.raises(SourceTrouble, match="certificate of .* does not fit") as refused, connected(server):
                pass
            digest = refused.value.remedy.rpartition(" ")[2]
            with connected(ImapServer("127.0.0.1", port, security, digest)) as connection:
                sign_in(connection, Mailbox(ImapServer("127.0.0.1", port), USER, USER), lambda: PASSWORD)
                assert [folder.name for folder in followed_folders(connection)] == ["INBOX"]
            other = server._replace(certificate="00" * 32)
            with pytest.raises(SourceTrouble, match="another certificate"), connected(other):
                pass
        with pytest.raises(SourceTrouble, match="does not speak TLS"), connected(ImapServer("127.0.0.1", server.port)):
            pass


def certificate(folder: Path) -> tuple[Path, Path]:
    """Signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail.example.org")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    shown, kept = folder / "cert.pem", folder / "key.pem"
    shown.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    kept.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return shown, kept
