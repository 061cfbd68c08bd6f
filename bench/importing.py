"""How fast an export comes in, beside the standard library reading the same file; and how fast when it is unchanged."""

import mailbox
import random
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from time import perf_counter

from bench.world import START, VOCABULARY, now
from pdpp_server.cli.life.exports import write_life
from pdpp_server.importers.registry import IMPORTERS, look_into
from pdpp_server.importers.run import fingerprint_of, import_account
from pdpp_server.importers.source import Importer
from pdpp_server.importers.sources.mail import MAIL
from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services

ROUNDS = 3


def write_mbox(path: Path, count: int, seed: int = 7) -> None:
    """Messages with text, HTML and now and then an attachment; about 4 kB each."""
    rng = random.Random(seed)
    with path.open("wb") as file:
        for number in range(count):
            text = " ".join(rng.choices(VOCABULARY, k=rng.randint(50, 300)))
            message = EmailMessage()
            message["From"], message["To"] = f"Friend {number % 50} <f{number % 50}@example.org>", "me@example.org"
            message["Subject"] = " ".join(rng.choices(VOCABULARY, k=4))
            message["Date"] = format_datetime(START + timedelta(minutes=number))
            message["Message-ID"] = f"<{number}@example.org>"
            message.set_content(text)
            message.add_alternative(f"<p>{text}</p>", subtype="html")
            if number % 20 == 0:
                message.add_attachment(rng.randbytes(8000), "image", "png", filename="photo.png")
            file.write(b"From f@example.org Mon Jan  1 00:00:00 2024\n" + message.as_bytes() + b"\n\n")


def importing(count: int = 4000) -> dict[str, float]:
    """Recognised, parsed, validated, indexed, durable messages beside bare `mailbox` and `email`; a life once more."""
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as folder:
        path = Path(folder) / "inbox.mbox"
        write_mbox(path, count)
        firsts: list[float] = []
        bares: list[float] = []
        for number in range(ROUNDS):  # in turns, so that a slow moment falls on all
            bares.append(_seconds(lambda: _bare(path)))
            home = Path(folder) / f"home{number}"
            firsts.append(_seconds(lambda home=home: _import(path, home, (MAIL,))))
        first, bare = (sorted(taken)[ROUNDS // 2] for taken in (firsts, bares))
        speedup = _reimport_speedup(Path(folder))
    return {
        "mbox_share": bare / first,
        "mbox_messages_per_second": count / first,
        "mbox_floor_per_second": count / bare,
        "reimport_speedup": speedup,
    }


def _reimport_speedup(folder: Path) -> float:
    """The sample life, about 20,000 records of nine accounts, and then the same files once more."""
    life, home = folder / "life", folder / "home of the life"
    write_life(life)
    first = _seconds(lambda: _import(life, home, IMPORTERS))
    agains = sorted(_seconds(lambda: _import(life, home, IMPORTERS)) for _ in range(ROUNDS))
    return first / agains[ROUNDS // 2]


def _seconds(work: Callable[[], None]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _bare(path: Path) -> None:
    box = mailbox.mbox(path)
    for message in box:
        for part in message.walk():
            part.get_payload(decode=True)
    box.close()


def _import(path: Path, home: Path, importers: Sequence[Importer]) -> None:
    """As `pdpp import` does it, without the words."""
    services = open_services(home, now=now)
    owner = Owner(services, home)
    for found in look_into(path, UTC, None, importers).found:
        fingerprint = fingerprint_of(found) or ""
        if owner.finished_import(found.declaration, found.account.name, fingerprint) is None:
            import_account(found, owner.writer(found.declaration, found.account.name), fingerprint=fingerprint)
    services.close()
