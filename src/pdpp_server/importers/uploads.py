"""Exports that came through a page: looked at, imported when the owner says so, and what became of each account."""

import re
import shutil
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import Literal

from pdpp_server.errors import InvalidRequest, PdppError, TooLarge
from pdpp_server.importers.guesses import UntakenPart
from pdpp_server.importers.missing import ASK_NOBODY, MissingChoice
from pdpp_server.importers.registry import IMPORTERS, FoundAccount, look_into, nothing_known, with_mapping
from pdpp_server.importers.run import Survey, Tally, fingerprint_of, import_account, survey
from pdpp_server.importers.source import Importer, Meter
from pdpp_server.importers.upload_board import (
    HEARD_EVERY_SECONDS,
    TOLD_EVERY_SECONDS,
    UploadBoard,
    UploadTold,
    UploadWish,
)
from pdpp_server.importers.watch import Stopped
from pdpp_server.model.ingest import Finished
from pdpp_server.model.runs import Undone
from pdpp_server.owner.desk import Owner

FOLDER = "uploads"
WORKERS = 2
SURVEY_SECONDS = 3.0  # for each account
SPARE_BYTES = 512 * 1024 * 1024  # of the disk, which stay free
KEPT_HOURS = 24  # files that nobody decided about
KEPT_UPLOADS = 50  # of which it can still be said what became of them
NAME_CHARS = 150
_NOT_IN_A_NAME = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')

Stage = Literal["arriving", "looking", "found", "nothing", "importing", "done", "stopped"]


@dataclass(frozen=True, slots=True)
class Brought:
    """One account of an upload: what was seen of it, and what became of it so far."""

    found: FoundAccount
    seen: Survey | None = None
    before: Finished | None = None  # the same files were read to their end then
    connection_id: str = ""
    tally: Tally | None = None
    said: str = ""  # why nothing came of it
    undone: Undone | None = None  # what it had removed is back

    @property
    def awaits_owner(self) -> bool:
        """Whether something stays that it has no longer, until they say that it may go."""
        return self.tally is not None and self.tally.removal.awaits_owner

    @property
    def name(self) -> str:
        return self.found.account.name

    @property
    def choices(self) -> tuple[str, ...]:
        """How a file that does not explain itself may be read, in words; nothing where it does."""
        proposal = self.found.account.proposal
        return tuple(choice.says for choice in proposal.choices) if proposal else ()

    @property
    def can_be_read(self) -> bool:
        return not self.found.account.lacks or bool(self.choices)


@dataclass(frozen=True, slots=True)
class Upload:
    id: str
    stage: Stage
    files: tuple[tuple[str, int], ...] = ()  # name, bytes
    accounts: tuple[Brought, ...] = ()
    left: tuple[UntakenPart, ...] = ()  # parts that nobody takes
    refused: tuple[tuple[str, str], ...] = ()  # files that cannot be read, and why
    said: str = ""
    size: int = 0  # of what is being imported
    done: Callable[[], int] = field(default=lambda: 0, compare=False)  # bytes of it by now

    @property
    def is_under_way(self) -> bool:
        return self.stage in {"arriving", "looking", "importing"}

    @property
    def awaits_owner(self) -> bool:
        return any(each.awaits_owner for each in self.accounts)

    @property
    def percent(self) -> int:
        return min(99, self.done() * 100 // self.size) if self.size else 0


def _untold(_: Upload) -> UploadTold:
    return {}


class Uploads:
    """What is asked of it returns at once: looking and importing go on beside, whether or not anybody watches.

    `told` is what a page says of one. Where several processes serve a home, the one that has the files says so on a
    board, and hears there what others were asked to do with them.
    """

    def __init__(
        self,
        owner: Owner,
        home: Path,
        zone: tzinfo,
        now: Callable[[], datetime],
        importers: Sequence[Importer] = IMPORTERS,
        *,
        told: Callable[[Upload], UploadTold] = _untold,
        is_one_of_many: bool = False,
    ) -> None:
        self._owner, self._folder, self._zone, self._now = owner, home / FOLDER, zone, now
        self._importers, self._told = importers, told
        self._board = UploadBoard(self._folder, now) if is_one_of_many else None
        self._ended = Event()
        self._listening: Thread | None = None
        self._known: dict[str, Upload] = {}
        self._stopped: set[str] = set()
        self._lock, self._is_closing = Lock(), False
        self._workers = ThreadPoolExecutor(WORKERS, "upload")

    # files arrive

    def begin(self, id: str) -> bool:
        """Room for the files of an upload; False where one of that id is known already."""
        with self._lock:
            if id in self._known:
                return False
            for old in [*self._known][: -KEPT_UPLOADS or None]:
                if not self._known[old].is_under_way:
                    del self._known[old]
        self._forget_old()
        try:
            (self._folder / id).mkdir(mode=0o700, parents=True)
        except FileExistsError:  # another process has it
            return False
        with self._lock:
            self._known[id] = Upload(id, "arriving")
            self._listen()
        return True

    def place(self, id: str, name: str) -> Path:
        """Where a file of that name is written: in the upload's own folder, whatever it is called."""
        plain = _NOT_IN_A_NAME.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip(" .")[-NAME_CHARS:] or "file"
        path, number = self._folder / id / plain, 1
        while path.exists():
            number += 1
            path = self._folder / id / f"{number}-{plain}"
        return path

    def arrived(self, id: str) -> None:
        """All of it is there: look what it is."""
        paths = sorted((self._folder / id).iterdir())
        self._put(replace(self._known[id], stage="looking", files=tuple((p.name, p.stat().st_size) for p in paths)))
        self._workers.submit(self._guarded, id, lambda: self._look(id, paths))

    def require_room(self, size: int) -> None:
        """Raises: TooLarge, where the disk has no room for that much."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if shutil.disk_usage(self._folder).free < size + SPARE_BYTES:
            remedy = "Make some room, or use `pdpp import FILE`, which copies nothing."
            raise TooLarge("The disk has no room for these files.", remedy=remedy)

    def give_up(self, id: str) -> None:
        """It did not arrive whole, or the owner does not want it: nothing of it stays."""
        self._stopped.add(id)
        with self._lock:
            self._known.pop(id, None)
        shutil.rmtree(self._folder / id, ignore_errors=True)
        if self._board:
            self._board.forget(id)

    def find(self, id: str) -> UploadTold | None:
        known = self._known.get(id)
        if known is not None:
            return self._told(known)
        return self._board.told(id) if self._board else None

    def recent(self) -> list[UploadTold]:
        """Newest first, those of this process before others."""
        ids = [*self._known][::-1]
        ids += [id for id in self._board.every() if id not in self._known] if self._board else []
        return [told for id in ids if (told := self.find(id)) is not None]

    def take(self, id: str, wish: UploadWish) -> None:
        """Do what the owner wants done with one, here or where its files are."""
        if self._board and id not in self._known:
            self._board.wish(id, wish)
        else:
            self._do(id, wish)

    def _do(self, id: str, wish: UploadWish) -> None:
        match wish["action"]:
            case "import":
                self.start(id, {int(place): choice for place, choice in wish["chosen"].items()})
            case "stop":
                self.stop(id)
            case "remove":
                self.remove_missing(id)
            case "undo":
                self.undo(id, wish["place"])
            case _:
                known = self._known.get(id)
                if known and known.stage in {"found", "nothing"}:
                    self.give_up(id)

    # and are imported

    def start(self, id: str, chosen: Mapping[int, int | None]) -> None:
        """Import these accounts, by their places; each read as that choice says where it has any. Once."""
        with self._lock:
            upload = self._known.get(id)
            if upload is None or upload.stage != "found":
                return
            try:
                accounts = tuple(
                    replace(each, found=_chosen(each.found, chosen[place]))
                    for place, each in enumerate(upload.accounts)
                    if place in chosen and each.can_be_read
                )
            except InvalidRequest as refusal:
                self._known[id] = replace(upload, said=refusal.message)
                return
            if not accounts:
                return
            size = sum(_work(each.found) for each in accounts)
            upload = self._known[id] = replace(upload, stage="importing", accounts=accounts, size=size, said="")
        self._workers.submit(self._guarded, id, lambda: self._import(upload, range(len(accounts)), ASK_NOBODY))

    def remove_missing(self, id: str) -> None:
        """The owner says that what these files have no longer may go, however much it is: they are read once more."""
        with self._lock:
            upload = self._known.get(id)
            if upload is None or upload.stage != "done" or not upload.awaits_owner:
                return
            waiting = [place for place, each in enumerate(upload.accounts) if each.awaits_owner]
            size = sum(_work(upload.accounts[place].found) for place in waiting)
            upload = self._known[id] = replace(upload, stage="importing", size=size)
        agreed = MissingChoice(settled=lambda _: True)
        self._workers.submit(self._guarded, id, lambda: self._import(upload, waiting, agreed))

    def undo(self, id: str, place: int) -> None:
        """Bring back what an account of it removed, once. Raises: NotFound, where that cannot be done any more."""
        upload = self._known.get(id)
        if upload is None or upload.stage != "done" or not 0 <= place < len(upload.accounts):
            return
        account = upload.accounts[place]
        if account.undone is None and account.tally is not None:
            undone = self._owner.undo_import(account.tally.removal.run)
            self._put(_with(upload, place, replace(account, undone=undone)))

    def stop(self, id: str) -> None:
        """After the batch in hand; what is stored stays."""
        self._stopped.add(id)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is known of any upload: what is known waits for its owner, or is being imported."""
        return not self._known

    def close(self) -> None:
        """The server ends: what is being imported is left between two batches, and can be brought in again."""
        self._is_closing = True
        self._workers.shutdown()
        self._ended.set()
        if self._listening:
            self._listening.join()
        if self._board:
            for id in self._known:
                self._board.forget(id)

    # in the background

    def _look(self, id: str, paths: Sequence[Path]) -> None:
        accounts: list[Brought] = []
        left: list[UntakenPart] = []
        refused: list[tuple[str, str]] = []
        for path in paths:
            try:
                looked = look_into(path, self._zone, None, self._importers, self._now())
                refused += [(name, _words(refusal)) for name, refusal in looked.refused.items()]
                if not looked.found and not looked.refused:
                    raise nothing_known(path.name, looked.left)
            except InvalidRequest as refusal:
                refused.append((path.name, _words(refusal)))
                continue
            accounts += [self._seen(found) for found in looked.found]
            left += looked.left
        stage: Stage = "found" if any(each.can_be_read for each in accounts) else "nothing"
        if stage == "nothing":
            shutil.rmtree(self._folder / id, ignore_errors=True)
        known = self._known.get(id)
        if known:
            self._put(replace(known, stage=stage, accounts=tuple(accounts), left=tuple(left), refused=tuple(refused)))

    def _seen(self, found: FoundAccount) -> Brought:
        end = monotonic() + SURVEY_SECONDS
        seen = survey(found, lambda: self._is_closing or monotonic() > end)
        fingerprint = fingerprint_of(found) if not found.account.lacks else None
        before = fingerprint and self._owner.finished_import(found.declaration, found.account.name, fingerprint)
        return Brought(found, seen, before or None)

    def _import(self, upload: Upload, places: Iterable[int], missing: MissingChoice) -> None:
        finished = 0
        for place in places:
            each = upload.accounts[place]
            meter, begun = each.found.files.meter, each.found.files.meter.read
            upload = self._put(replace(upload, done=partial(_done, meter, begun, finished, _work(each.found))))
            upload = self._put(_with(upload, place, self._imported(upload.id, each, missing)))
            finished += _work(each.found)
        self._put(replace(upload, stage="stopped" if upload.id in self._stopped else "done"))

    def _imported(self, id: str, each: Brought, missing: MissingChoice) -> Brought:
        found = each.found

        def heard(_: int, tally: Tally) -> None:
            if self._is_closing or id in self._stopped:
                raise Stopped(f"{tally.stored:,} records are kept. Bring the same files in again to go on.")

        try:
            fingerprint = fingerprint_of(found)
            before = fingerprint and self._owner.finished_import(found.declaration, each.name, fingerprint)
            writer = self._owner.writer(found.declaration, each.name)
            if before:
                return replace(each, before=before, connection_id=writer.connection_id)
            tally = import_account(found, writer, heard, fingerprint, missing)
            return replace(each, connection_id=writer.connection_id, tally=tally)
        except PdppError as refusal:
            return replace(each, said=_words(refusal))
        except Stopped as stopped:
            return replace(each, said=f"Stopped. {stopped}")

    def _guarded(self, id: str, work: Callable[[], None]) -> None:
        """A bug ends an upload with a sentence, and its files do not stay."""
        try:
            work()
        except Exception as bug:  # noqa: BLE001 - there is nobody above who would hear of it
            frame = traceback.extract_tb(bug.__traceback__)[-1]
            said = f"Something unforeseen: {type(bug).__name__} at {Path(frame.filename).name}:{frame.lineno}."
            if known := self._known.get(id):
                self._put(replace(known, stage="nothing", said=said))
        finally:
            known = self._known.get(id)
            if known is None or not (known.stage == "found" or known.awaits_owner):
                shutil.rmtree(self._folder / id, ignore_errors=True)

    def _put(self, upload: Upload) -> Upload:
        with self._lock:
            if upload.id in self._known:
                self._known[upload.id] = upload
        self._tell(upload.id)
        return upload

    # for other processes

    def _listen(self) -> None:
        """From the first upload on, where there are others to hear."""
        if self._board and self._listening is None:
            self._listening = Thread(target=self._tell_and_hear, args=(self._board,), name="uploads", daemon=True)
            self._listening.start()

    def _tell(self, id: str) -> None:
        """A disk that takes no word of it stops no import: it is told again soon."""
        with self._lock, suppress(OSError):
            known = self._known.get(id)
            if self._board and known:
                self._board.tell(id, self._told(known))

    def _tell_and_hear(self, board: UploadBoard) -> None:
        tell_at = 0.0
        while not self._ended.wait(HEARD_EVERY_SECONDS):
            is_time = monotonic() >= tell_at
            for id in [*self._known]:
                if wish := board.wished(id):
                    with suppress(PdppError):  # the page says what became of it
                        self._do(id, wish)
                    board.heard(id)
                if is_time:
                    self._tell(id)
            tell_at = monotonic() + TOLD_EVERY_SECONDS if is_time else tell_at

    def _forget_old(self) -> None:
        """What an earlier process left, or nobody decided about."""
        before = (self._now() - timedelta(hours=KEPT_HOURS)).timestamp()
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            known = self._known.get(folder.name)
            if folder.stat().st_mtime < before and not (known and known.is_under_way):
                folder.unlink() if folder.is_file() else self.give_up(folder.name)


def _done(meter: Meter, begun: int, before: int, size: int) -> int:
    """Bytes by now: those of earlier accounts, and what was read of this one."""
    return before + min(meter.read - begun, size)


def _work(found: FoundAccount) -> int:
    """Bytes that are read of it: once to know it again, once to bring it in."""
    return 2 * found.size


def _chosen(found: FoundAccount, choice: int | None) -> FoundAccount:
    """Read as that choice says; the only one where there is one. Raises: InvalidRequest."""
    proposal = found.account.proposal
    if proposal is None:
        return found
    place = 0 if len(proposal.choices) == 1 else choice
    if place is None or not 0 <= place < len(proposal.choices):
        raise InvalidRequest(f"Say how {found.where} is to be read.", param="choice")
    return with_mapping(found, proposal.choices[place].mapping)


def _with(upload: Upload, place: int, account: Brought) -> Upload:
    accounts = [*upload.accounts]
    accounts[place] = account
    return replace(upload, accounts=tuple(accounts))


def _words(refusal: PdppError) -> str:
    return f"{refusal.message} {refusal.remedy or ''}".strip()
