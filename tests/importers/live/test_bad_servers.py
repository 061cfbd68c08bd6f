"""Servers that hang, lie, send garbage or go away: each is a sentence with what to do, and nothing is lost or removed."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC
from threading import Event

import pytest

from pdpp_server.importers.live import imap, imap_wire
from pdpp_server.importers.live.imap import Mailbox, sync_imap
from pdpp_server.importers.live.imap_wire import ImapServer, connected
from pdpp_server.importers.live.pace import Pace
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.importers.missing import ASK_NOBODY
from tests.importers.live.scripted import Answer, InPieces, scripted, usual
from tests.requirements import requirement
from tests.worlds.mailserver import free_port
from tests.worlds.world import World


def sync(world: World, port: int) -> str:
    mailbox = Mailbox(ImapServer("127.0.0.1", port, "none"), "ann", "ann@x")
    return sync_imap(mailbox, lambda: "secret", world.owner, UTC, lambda: False, ASK_NOBODY)


def messages_in(world: World) -> int:
    (source,) = [one for one in world.owner.sources() if one.name == "ann@x"]
    (count,) = [stream.records for stream in source.streams if stream.name == "messages"]
    return count


_ANOTHER = (  # what an honest server says when a second message came
    (b"UIDNEXT 2", b"UIDNEXT 5"),
    (b"* 1 EXISTS", b"* 2 EXISTS"),
    (b"* SEARCH 1", b"* SEARCH 3"),
    (b"UID 1 ", b"UID 3 "),
)


def instead(of: str, told: Callable[[str], bytes | None]) -> Answer:
    return lambda tag, command: told(tag) if of in command.upper() else usual(tag, command)


def ok(text: bytes) -> Callable[[str], bytes]:
    return lambda tag: text + f"{tag} OK done\r\n".encode()


@requirement("imp.live.imap-trouble")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (instead("EXAMINE", lambda _: None), "closed the connection in the middle"),
        (instead("EXAMINE", lambda _: b"* BYE too many of you\r\n"), "closed the connection in the middle"),
        (instead("BODY.PEEK", lambda _: b"* 1 FETCH (UID 1 BODY[] {100}\r\nhalf"), "did not answer"),
        (instead("BODY.PEEK", lambda _: b"* 1 FETCH (UID 1 BODY[] {99999999999}\r\n"), "more than was asked for"),
        (instead("BODY.PEEK", ok(b"")), "does not give a message that it shows"),
        (instead("EXAMINE", lambda _: b"\x00\xff nonsense\r\n"), "what is no IMAP"),
        (instead("EXAMINE", ok(b"* 1 EXISTS\r\n* OK [UIDVALIDITY x] y\r\n")), "what is no IMAP"),
        (instead("EXAMINE", ok(b"* 1 EXISTS\r\n")), "what is no IMAP"),
        (instead("SEARCH", ok(b"* SEARCH one two\r\n")), "what is no IMAP"),
        (instead("SEARCH", lambda tag: f"{tag} NO busy\r\n".encode()), "refused a command"),
        (instead("LIST", ok(b"")), "shows no folder"),
        (instead("SEARCH", lambda _: b""), "did not answer"),
        (instead("EXAMINE", ok(b"* 1 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 99999999999999999999] x\r\n")), "what is no IMAP"),
        (instead("EXAMINE", lambda tag: f"{tag} NO busy\r\n".encode()), "opens none of its folders"),
        (instead("EXAMINE", lambda _: b"* 1 EXISTS\r\n" * 100_000), "more than was asked for"),
        (instead("SEARCH", lambda _: b"* SEARCH " + b"3 " * 100_000), "more than was asked for"),
        (instead("BODY.PEEK", ok(b"* 1 FETCH (UID 77 BODY[] {5}\r\nhello)\r\n")), "does not give a message that it shows"),
        (instead("BODY.PEEK", ok(b"* 1 FETCH (UID 3 BODY[] {2}\r\nhello\r\nyou)\r\n")), "what is no IMAP"),
        (instead("BODY.PEEK", ok(b"* 1 FETCH (UID 3 BODY[] {-5}\r\nhello)\r\n")), "what is no IMAP"),
        (instead("BODY.PEEK", ok(b"* BYE enough\r\n")), "closed the connection in the middle"),
        (instead("LOGIN", lambda tag: f"{tag} NO no\r\n".encode()), "refuses the user"),
    ],
)  # fmt: skip
def test_a_server_that_misbehaves_is_told_of_and_nothing_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch, answer: Answer, says: str
) -> None:
    with scripted(usual) as port:
        sync(world, port)
        assert sync(world, port) == "nothing changed"
    assert messages_in(world) == 1
    monkeypatch.setattr(imap_wire, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(imap_wire, "LINE_BYTES_MAX", 100_000)
    monkeypatch.setattr(imap_wire, "COMMAND_BYTES_MAX", 1_000_000)

    def newer(tag: str, command: str) -> bytes | None:
        told = answer(tag, command)
        for before, after in _ANOTHER if told else ():
            told = (told or b"").replace(before, after)
        return told

    with scripted(newer) as port, pytest.raises(SourceTrouble, match=says) as refused:
        sync(world, port)
    assert "secret" not in f"{refused.value}{refused.value.remedy}"
    assert messages_in(world) == 1


class Clock:
    """It stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def trickling(at: str, clock: Clock, seconds: float) -> InPieces:
    """An honest server with a second message, which at that command takes so long for each byte."""

    def answer(tag: str, command: str) -> Iterator[bytes]:
        told = usual(tag, command)
        for before, after in (*_ANOTHER, (b"<1@x>", b"<2@x>")):
            told = told.replace(before, after)
        if at not in command.upper():
            yield told
            return
        for byte in told:
            clock.now += seconds
            yield bytes([byte])

    return answer


@requirement("imp.live.imap-trouble")
@pytest.mark.parametrize("at", ["CAPABILITY", "LIST", "EXAMINE", "SEARCH", "BODY.PEEK"])
def test_a_server_that_trickles_is_left_and_nothing_is_lost(
    world: World, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    clock = Clock()
    monkeypatch.setattr(imap_wire, "monotonic", clock)
    with scripted(usual) as port:
        sync(world, port)
    with scripted(trickling(at, clock, 20.0)) as port, pytest.raises(SourceTrouble, match="trickles") as refused:
        sync(world, port)
    assert refused.value.remedy
    assert messages_in(world) == 1
    with scripted(trickling(at, clock, 0.5)) as port:  # as slow as can be, but there is an end to it
        sync(world, port)
    assert messages_in(world) == 2


@requirement("imp.live.imap-trouble")
def test_a_large_message_over_a_slow_line_may_take_hours() -> None:
    """25 MB at 2 kB a second, with a pause of 59 seconds now and then."""
    clock = Clock()
    pace = Pace(clock)
    for second in range(12_500):
        clock.now += 60.0 if second % 60 == 0 else 1.0
        assert pace.is_kept(2000)
    assert clock.now > 3 * 3600


@requirement("imp.live.imap-trouble")
def test_what_came_fast_at_first_does_not_excuse_a_trickle() -> None:
    clock = Clock()
    pace = Pace(clock)
    assert pace.is_kept(1_000_000)
    kept: list[bool] = []
    for _ in range(620):
        clock.now += 1.0
        kept.append(pace.is_kept(1))
    assert kept.index(False) == 599  # with the second five minutes


@requirement("imp.live.imap-trouble")
def test_a_server_that_is_not_there(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceTrouble, match="Nothing listens"):
        sync(world, free_port())
    with pytest.raises(SourceTrouble, match="No server is called"), connected(ImapServer("no.such.host.invalid", 993)):
        pass
    with pytest.raises(SourceTrouble, match="password can be read"), connected(ImapServer("mail.example.org", 143, "none")):
        pass
    monkeypatch.setattr(imap_wire, "ANSWER_SECONDS", 0.3)
    with scripted(usual, greeting=b"") as port, pytest.raises(SourceTrouble, match="did not answer"):
        sync(world, port)
    with scripted(usual, greeting=b"HTTP/1.1 400 Bad Request\r\n") as port, pytest.raises(SourceTrouble, match="no IMAP"):
        sync(world, port)


@requirement("imp.live.imap-trouble")
def test_a_password_that_a_plain_login_cannot_say_is_said_in_another_way() -> None:
    said: list[str] = []

    def noting(tag: str, command: str) -> bytes:
        said.append(command.partition(" ")[0].upper())
        return f"{tag} NO no\r\n".encode() if said[-1] == "AUTHENTICATE" else usual(tag, command)

    with scripted(noting) as port:
        for password in ("plain", "pässword"):
            with connected(ImapServer("127.0.0.1", port, "none")) as conversation:
                with suppress(SourceTrouble):
                    conversation.sign_in("ann", password)
    assert [word for word in said if word in {"LOGIN", "AUTHENTICATE"}] == ["LOGIN", "AUTHENTICATE"]


@requirement("imp.live.imap-trouble")
def test_sizes_that_are_no_sizes_and_messages_that_are_none_do_no_harm(world: World) -> None:
    small = instead("RFC822.SIZE", ok(b"* 1 FETCH (UID 1 RFC822.SIZE 3)\r\n"))
    with scripted(small) as port:
        assert sync(world, port).startswith("2 accepted")
    huge = instead("RFC822.SIZE", ok(b"* 1 FETCH (UID 1 RFC822.SIZE 99999999999999999999)\r\n"))

    def renewed(tag: str, command: str) -> bytes:
        return (huge(tag, command) or b"").replace(b"UIDVALIDITY 7", b"UIDVALIDITY 8")

    with scripted(renewed) as port:
        assert sync(world, port).startswith("0 accepted, 1 rejected")
    assert messages_in(world) == 1


@requirement("imp.live.imap-trouble")
@pytest.mark.parametrize("told", [b"", b"* 1 FETCH (UID 1)\r\n", b"* 1 FETCH (UID 1 RFC822.SIZE many)\r\n"])
def test_a_message_whose_size_is_not_said_is_read_all_the_same(world: World, told: bytes) -> None:
    with scripted(instead("RFC822.SIZE", ok(told))) as port:
        assert sync(world, port).startswith("2 accepted")
        assert sync(world, port) == "nothing changed"


class Mails:
    """An honest server with some messages, which says of itself what it is told to say."""

    def __init__(self, *uids: int) -> None:
        self.uids, self.says, self.shut = list(uids), b"", ""

    def __call__(self, tag: str, command: str) -> bytes:
        verb, _, rest = command.upper().partition(" ")
        told, word = b"", "OK"
        if verb == "LIST":
            told = b'* LIST () "/" INBOX\r\n* LIST () "/" Other\r\n'
        elif verb == "EXAMINE" and "OTHER" in rest:
            told = b"* 0 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 1] x\r\n"
        elif verb == "EXAMINE" and self.shut:
            word = self.shut
        elif verb == "EXAMINE":
            says = self.says or b"* OK [UIDNEXT %d] x\r\n" % (max(self.uids) + 1)
            told = b"* %d EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n" % len(self.uids) + says.replace(b"none", b"")
        elif verb == "UID":
            told = self._asked(rest)
        else:
            return usual(tag, command)
        return told + f"{tag} {word} done\r\n".encode()

    def _asked(self, rest: str) -> bytes:
        what, _, rest = rest.partition(" ")
        if what == "SEARCH":
            low, _, high = rest.removeprefix("UID ").partition(":")
            found = self.uids[-1:] if low == "*" else [uid for uid in self.uids if int(low) <= uid <= int(high)]
            return b"* SEARCH " + b" ".join(b"%d" % uid for uid in found) + b"\r\n"
        spans = [part.partition(":") for part in rest.partition(" ")[0].split(",")]
        wanted = [uid for low, _, high in spans for uid in range(int(low), int(high or low) + 1) if uid in self.uids]
        return b"".join(b"* 1 FETCH (UID %d BODY[] {%d}\r\n%b)\r\n" % (uid, len(mail(uid)), mail(uid)) for uid in wanted)


def mail(uid: int) -> bytes:
    return b"From: bob@example.org\r\nMessage-ID: <%d@x>\r\n\r\nhello %d\r\n" % (uid, uid)


@requirement("imp.live.imap-trouble")
@pytest.mark.parametrize("number", [b"4294967295", b"900"])
def test_a_number_that_is_taken_back_hides_no_later_mail(world: World, number: bytes) -> None:
    mails = Mails(1, 2)
    with scripted(mails) as port:
        mails.says = b"* OK [UIDNEXT %b] x\r\n" % number
        sync(world, port)
        mails.says = b""
        mails.uids.append(3)
        sync(world, port)
    assert messages_in(world) == 3


@requirement("imp.live.imap-trouble")
def test_a_number_that_is_too_small_removes_nothing(world: World) -> None:
    mails = Mails(1, 2, 3, 4, 5)
    with scripted(mails) as port:
        sync(world, port)
        mails.uids.append(6)
        mails.says = b"* OK [UIDNEXT 4] x\r\n"
        assert "removed" not in sync(world, port)
        assert messages_in(world) == 5
        mails.says = b""
        sync(world, port)
    assert messages_in(world) == 6


@requirement("imp.live.imap-trouble")
def test_a_server_that_does_not_say_which_number_comes_next_is_read(world: World) -> None:
    mails = Mails(1, 2)
    mails.says = b"none"
    with scripted(mails) as port:
        sync(world, port)
        mails.uids.append(9)
        sync(world, port)
    assert messages_in(world) == 3


@requirement("imp.live.imap-trouble")
def test_a_folder_that_cannot_be_opened_now_is_told_of_and_loses_nothing(world: World) -> None:
    mails = Mails(1, 2)
    with scripted(mails) as port:
        sync(world, port)
        mails.shut = "NO"
        assert sync(world, port) == "nothing changed, cannot be opened: INBOX"
        mails.shut = ""
        assert sync(world, port) == "nothing changed"
    assert messages_in(world) == 2


@requirement("imp.live.imap-trouble")
def test_of_a_million_messages_the_first_are_kept_before_the_last_are_asked_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap, "GROUP_MESSAGES", 1)
    asked: list[str] = []

    def million(tag: str, command: str) -> bytes | None:
        asked.append(command)
        verb = command.upper()
        if "SEARCH" in verb:
            first = command.rpartition(" ")[2].partition(":")[0]
            return ok(f"* SEARCH {first}\r\n".encode())(tag) if first == "1" else None
        return usual(tag, command).replace(b"* 1 EXISTS", b"* 1000000 EXISTS").replace(b"UIDNEXT 2", b"UIDNEXT 1000001")

    with scripted(million) as port, pytest.raises(SourceTrouble, match="closed the connection in the middle"):
        sync(world, port)

    searches = [command for command in asked if "SEARCH" in command.upper()]
    assert len(searches) == 2  # the second one, behind what is there, ended it
    assert messages_in(world) == 1


@requirement("imp.live.imap-idle")
@pytest.mark.parametrize("told", [b"* 2 EXISTS\r\n+ idling\r\n", b"+ idling\r\n* 2 EXISTS\r\n"])
def test_mail_is_heard_of_that_came_while_listening_began(told: bytes) -> None:
    def answer(tag: str, command: str) -> bytes:
        if command == "IDLE":
            return told
        return b"PDPPIDLE OK done\r\n" if tag == "DONE" else usual(tag, command)

    asked: list[bool] = []

    def is_over() -> bool:
        asked.append(True)
        return False

    with scripted(answer) as port, connected(ImapServer("127.0.0.1", port, "none")) as conversation:
        assert conversation.idle(is_over, seconds=3)
    assert len(asked) <= 1  # at once, and not when the time was over


@requirement("imp.live.imap-idle")
def test_listening_for_mail_is_no_trickle(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, hours_passed = Clock(), Event()
    monkeypatch.setattr(imap_wire, "monotonic", clock)

    def answer(tag: str, command: str) -> Iterator[bytes]:
        if command == "IDLE":
            yield b"+ idling\r\n"
            hours_passed.wait(10)
            yield b"* 2 EXISTS\r\n"
        else:
            yield b"PDPPIDLE OK done\r\n" if tag == "DONE" else usual(tag, command)

    def is_over() -> bool:
        clock.now += 10_000.0
        hours_passed.set()
        return False

    with scripted(answer) as port, connected(ImapServer("127.0.0.1", port, "none")) as conversation:
        assert conversation.idle(is_over, seconds=5)


@requirement("imp.live.imap-idle")
def test_a_server_that_will_not_tell_of_mail_is_not_waited_for() -> None:
    def answer(tag: str, command: str) -> bytes:
        return b"PDPPIDLE BAD no\r\n" if command == "IDLE" else usual(tag, command)

    with scripted(answer) as port, connected(ImapServer("127.0.0.1", port, "none")) as conversation:
        with pytest.raises(SourceTrouble, match="does not tell of new mail"):
            conversation.idle(lambda: False, seconds=0.5)
