"""`python -m bench.live [mailbox|kills|idle|chats|zip ...]`: mail that is followed, and large exports.

Everything is done by the command `pdpp`, in processes of its own, against Debian's dovecot on this machine. Times are
processor time of `pdpp` itself, so that a busy machine changes little; memory is the largest that the process had.
BENCH_MESSAGES (50,000), BENCH_KILLS (100), BENCH_CHAT (50,000 messages), BENCH_MEMBERS (100,000) make it smaller.
BENCH_BEFORE names a folder with another version (`git archive ce3adab | tar x -C FOLDER`) to import chats beside.
"""

import json
import os
import pty
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, contextmanager, suppress
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP_STORED, ZipFile

import orjson

from bench.cases import bare_database, bare_insert
from pdpp_server.importers.ndjson import BATCH_RECORDS
from pdpp_server.importers.registry import IMPORTERS, look_into
from pdpp_server.model.ingest import Incoming
from pdpp_server.store.opened import open_database
from tests.importers.live.relayed import relayed
from tests.worlds.mailserver import PASSWORD, USER, MailServer, letter, mail_server

MESSAGES = int(os.environ.get("BENCH_MESSAGES", "50000"))
KILLS = int(os.environ.get("BENCH_KILLS", "100"))
CHAT = int(os.environ.get("BENCH_CHAT", "50000"))
BEFORE = os.environ.get("BENCH_BEFORE", "")
ROUNDS = 3  # in turns, of which the least counts
MEMBERS = int(os.environ.get("BENCH_MEMBERS", "100000"))
NEW_EACH_TIME = 40
WAIT_SECONDS = 600.0
KILO = 1024

_MESSAGES = """
select key, data ->> '$.subject' from records join streams using(sid) where name = 'messages' and data is not null
"""

_CALENDAR = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20260101T100000Z\nSUMMARY:One\nEND:VEVENT\nEND:VCALENDAR\n"


class Ran(NamedTuple):
    out: str
    cpu: float
    seconds: float
    megabytes: float


def pdpp(home: Path, *words: str, given: str = "", version: str = "") -> Ran:
    """To its end; by the sources in another folder where that is named."""
    begun = time.monotonic()
    process = _started(home, *words, version=version)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(given.encode())
    process.stdin.close()
    out = process.stdout.read().decode()
    process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise AssertionError(f"{words[0]} ended with {process.returncode}: {out[-2000:]}")
    seconds = time.monotonic() - begun
    return Ran(out, used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / KILO)


def _started(home: Path, *words: str, version: str = "") -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        _line(words), stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, env=_environ(home, version)
    )


def _line(words: Iterable[str]) -> list[str]:
    return [sys.executable, "-m", "pdpp_server.cli.main", *words]


def _environ(home: Path, version: str = "") -> dict[str, str]:
    environ = {**os.environ, "PDPP_HOME": str(home), **({"PYTHONPATH": str(Path(version) / "src")} if version else {})}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    return environ


def at_terminal(home: Path, *words: str, awaited: bytes) -> tuple[Ran, float]:
    """To its end, and after how much processor time the terminal showed what is awaited."""
    begun = time.monotonic()
    ours, theirs = pty.openpty()
    environ = {**_environ(home), "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(_line(words), stdin=theirs, stdout=theirs, stderr=theirs, env=environ)
    os.close(theirs)
    shown, spent = b"", 0.0
    with suppress(OSError):  # a terminal ends so when nobody is left to write to it
        while piece := os.read(ours, KILO):
            shown += piece
            spent = spent or (_spent(process.pid) if awaited in shown else 0.0)
    os.close(ours)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0 and spent, shown[-2000:]
    ran = Ran(shown.decode(), used.ru_utime + used.ru_stime, time.monotonic() - begun, used.ru_maxrss / KILO)
    return ran, spent


def _spent(pid: int) -> float:
    """Processor time of a process that still runs."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _add_words(port: int) -> tuple[str, ...]:
    way = ("--security", "none", "--port", str(port), "--password-stdin")
    return ("sources", "add", "imap", "127.0.0.1", USER, *way)


def filled(server: MailServer, letters: Iterable[tuple[int, bytes]]) -> None:
    """Straight into its Maildir: a hundred times as fast as to hand each over."""
    box = server.folder / "mail" / USER
    whose = (server.folder / "mail").stat()
    for folder in (box, box / "cur", box / "new", box / "tmp"):
        folder.mkdir(exist_ok=True)
        os.chown(folder, whose.st_uid, whose.st_gid)
    for number, raw in letters:
        path = box / "new" / f"{number}.M{number}.bench"
        path.write_bytes(raw)
        os.chown(path, whose.st_uid, whose.st_gid)


def letters(low: int, high: int) -> Iterable[tuple[int, bytes]]:
    """About as long as people write."""
    for number in range(low, high):
        chance = random.Random(number)
        words = " ".join(chance.choices(("lamp", "harbour", "tide", "lens", "oil", "keeper"), k=300))
        yield number, letter(number) + words.encode() + b"\n"


def mailbox() -> dict[str, Any]:
    """The first sync beside the import of the same messages, the second one, and what each needs."""
    with mail_server() as server, _folder() as base:
        with (base / "all.mbox").open("wb") as archive:
            filled(server, _archived(letters(0, MESSAGES), archive))
        imported = pdpp(base / "by-file", "import", str(base / "all.mbox"), "--name", USER)
        with relayed(server.port) as (port, said):
            first = pdpp(base / "by-imap", *_add_words(port), given=PASSWORD)
            before = len(said)
            second = pdpp(base / "by-imap", "sync")
            asked = [line.partition(" ")[2] for line in said[before:]]
        by_file, by_imap = (_messages(base / home) for home in ("by-file", "by-imap"))
    return {
        "messages": MESSAGES,
        "counts": [by_file.total(), by_imap.total()],
        "in_one_only": len(by_file.keys() ^ by_imap.keys()),
        "sync_speed_of_import": round(imported.cpu / first.cpu, 3),
        "sync_megabytes": round(first.megabytes),
        "second_sync_cpu_share": round(second.cpu / first.cpu, 4),
        "second_said": second.out.strip(),
        "second_round_trips": _round_trips(asked),
    }


def _archived(letters: Iterable[tuple[int, bytes]], archive: BinaryIO) -> Iterable[tuple[int, bytes]]:
    for number, raw in letters:
        archive.write(b"From bob@example.org Mon Jun  1 10:00:00 2026\n" + raw + b"\n")
        yield number, raw


def _round_trips(asked: list[str]) -> dict[str, int]:
    """From the opening of each folder to that of the next, or to the goodbye; and before the first one."""
    told, place = {"before": 0}, "before"
    for command in asked:
        if command.startswith("EXAMINE"):
            place = command.split()[1]
        told[place] = told.get(place, 0) + 1
    return told


def kills() -> dict[str, Any]:
    """A sync that is killed again and again while mail keeps coming: which messages are lost, which are doubled.

    The moment is anywhere between its first word to the server and its end, more often early: there messages are kept.
    """
    with mail_server() as server, _folder() as base, relayed(server.port) as (port, said):
        home, chance = base / "home", random.Random(18)
        filled(server, letters(0, NEW_EACH_TIME))
        pdpp(home, *_add_words(port), given=PASSWORD)
        there, killed, unfinished = NEW_EACH_TIME, 0, 0
        lasting = 0.0
        while killed < KILLS:
            filled(server, letters(there, there + NEW_EACH_TIME))
            there += NEW_EACH_TIME
            process = _speaking(home, said)
            begun = time.monotonic()
            try:
                process.wait(lasting * chance.random() ** 3 if lasting else WAIT_SECONDS)
                lasting = time.monotonic() - begun
            except subprocess.TimeoutExpired:
                killed += 1
            process.kill()
            process.communicate()
            unfinished += _messages(home).total() < there
        pdpp(home, "sync", USER)
        kept = _messages(home)
    sent = Counter({(f"{number}@example.org", f"Letter {number}"): 1 for number in range(there)})
    told = {"kills": killed, "before_all_was_kept": unfinished, "there": there, "kept": kept.total()}
    return {**told, "lost": (sent - kept).total(), "doubled": (kept - sent).total()}


def _speaking(home: Path, said: list[str]) -> subprocess.Popen[bytes]:
    """A sync, as soon as the server has heard of it."""
    before = len(said)
    process = _started(home, "sync", USER)
    _until(lambda: len(said) > before)
    return process


def idle() -> dict[str, Any]:
    """From the moment that the server has a new message until it is stored and indexed."""
    with mail_server() as server, _folder() as base:
        home = base / "home"
        server.put([letter(1)])
        pdpp(home, *_add_words(server.port), given=PASSWORD)
        serving = _started(home, "serve", "--port", "0")
        try:
            there = _heard(server, home)
            waited: list[float] = []
            for number in range(there + 1, there + 11):
                server.put([letter(number)])
                begun = time.monotonic()
                _until(lambda number=number: len(_messages(home)) == number)
                waited.append(time.monotonic() - begun)
        finally:
            serving.terminate()
            serving.communicate()
        found = f"{there + 10}@example.org" in pdpp(home, "search", f"letter {there + 10}").out
    return {"seconds": [round(one, 2) for one in sorted(waited)], "found_by_search": found}


def _heard(server: MailServer, home: Path) -> int:
    """How many messages there are when it listens, which nothing says: one after the other until one is heard of."""
    for number in range(2, 60):
        server.put([letter(number)])
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if len(_messages(home)) == number:
                return number
            time.sleep(0.2)
    raise AssertionError("nothing is heard of")


def chats() -> dict[str, Any]:
    """A long WhatsApp chat; beside another version, where one is named, in turns."""
    with _folder() as base:
        path = base / "WhatsApp Chat with Rosa.txt"
        with path.open(
            "w", encoding="utf-8"
        ) as file:  # whole, it would be counted as memory of whoever is started here
            file.writelines(_chat_lines(CHAT))
        tried: dict[str, list[Ran]] = {"": [], **({BEFORE: []} if BEFORE else {})}
        for number in range(ROUNDS):
            for version, runs in tried.items():
                home = base / f"{number}-{'before' if version else 'now'}"
                runs.append(pdpp(home, "import", str(path), version=version))
        cpu = {version: min(run.cpu for run in runs) for version, runs in tried.items()}
        told = {"messages": CHAT, "a_second_of_cpu": round(CHAT / cpu[""]), "megabytes": round(tried[""][0].megabytes)}
        floor = _floor(path, base / "bare.sqlite")
        told["floor_a_second_of_cpu"] = round(CHAT / floor)
        if not BEFORE:
            return told
        speeds = {"speed_of_before": cpu[BEFORE] / cpu[""], "floor_speed_of_before": cpu[BEFORE] / floor}
        return {**told, **{name: round(speed, 2) for name, speed in speeds.items()}}


def _floor(path: Path, database: Path) -> float:
    """What no import can be faster than: the chat parsed, and each message in one bare table and one bare index."""
    begun = time.process_time()
    (found,) = look_into(path, UTC, None, IMPORTERS).found
    with closing(bare_database(database)) as db:
        read = (each for each in found.importer.read(found.account) if isinstance(each, Incoming))
        numbered = enumerate((each for each in read if each.stream == "messages"), start=1)
        while batch := [*islice(numbered, BATCH_RECORDS)]:
            bare_insert(db, [(rid, orjson.dumps(each.data).decode(), _texts(each)) for rid, each in batch])
    return time.process_time() - begun


def _texts(record: Incoming) -> dict[str, str]:
    data = record.data or {}
    return {"id": str(data["id"]), "subject": str(data.get("sender") or ""), "text": str(data.get("text") or "")}


def _chat_lines(messages: int) -> Iterable[str]:
    """As people write: some lines of one message, some pictures, letters of many alphabets."""
    chance, minute = random.Random(18), 0
    words = ("lamp", "harbour", "tide", "Schlüssel", "naïve", "😀", "¿qué?", "завтра", "at", "eight", "the", "keeper")
    for _ in range(messages):
        minute += chance.choice((0, 0, 1, 2, 7))
        day, clock = divmod(minute, 1440)
        date = f"{1 + day % 28:02}/{1 + day // 28 % 12:02}/{2020 + day // 336}"
        said = " ".join(chance.choices(words, k=chance.randint(2, 22)))
        said = chance.choices((said, f"{said}\n{said}", "<Media omitted>"), (85, 10, 5))[0]
        yield f"{date}, {clock // 60:02}:{clock % 60:02} - {chance.choice(('Rosa', 'Ann'))}: {said}\n"


def zipped() -> dict[str, Any]:
    """What is in a large zip of nobody's: how long until something is seen, and until all of it is said."""
    with _folder() as base:
        path, chance = base / "large.zip", random.Random(18)
        pieces = [chance.randbytes(20_000) for _ in range(50)]
        with ZipFile(path, "w", ZIP_STORED) as packed:
            for number in range(MEMBERS):
                packed.writestr(f"folder/{number % 100}/{number}.dat", pieces[number % 50])
            packed.writestr("calendar/one.ics", _CALENDAR)
        size = path.stat().st_size
        ran, before = at_terminal(base / "home", "import", "--dry-run", str(path), awaited=b"Looking")
        spent = {"cpu_seconds": round(ran.cpu, 1), "seconds": round(ran.seconds, 1)}
        told = {"members": MEMBERS, "bytes": size, "progress_after_cpu_seconds": before}
        return {**told, **spent, "megabytes": round(ran.megabytes)}


@contextmanager
def _folder() -> Generator[Path, None, None]:
    with tempfile.TemporaryDirectory(prefix="bench-live") as folder:
        yield Path(folder)


def _messages(home: Path) -> Counter[tuple[str, str]]:
    """Each by its id and its subject: one that is there twice has another id the second time."""
    database = open_database(home)
    try:
        with database.reading() as reading:
            return Counter((str(key), str(subject)) for key, subject in reading.rows(_MESSAGES))
    finally:
        database.close()


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.01)


CASES = {"mailbox": mailbox, "kills": kills, "idle": idle, "chats": chats, "zip": zipped}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        print(json.dumps({name: CASES[name]()}), flush=True)
