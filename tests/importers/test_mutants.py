"""Every sample of every importer, damaged at random fifty times, and two thousand in `make soak`: nothing stops."""

from pathlib import Path
from random import Random

import pytest

from pdpp_server.errors import InvalidRequest
from pdpp_server.importers.files import open_files
from pdpp_server.importers.registry import recognise
from tests.importers.exports import contents_of, export_of
from tests.importers.reading import ZONE
from tests.importers.test_garbage import require_sound
from tests.requirements import requirement
from tools.expected import EXPECTED, sample_of

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in HERE.rglob(EXPECTED))
FEW, MANY = 50, 2000
each_sample = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.relative_to(HERE).as_posix())


def mutated(contents: dict[str, bytes], chance: Random) -> dict[str, bytes]:
    """One file of it with a few bytes changed, a piece cut out, doubled, or put elsewhere."""
    name = chance.choice(sorted(contents))
    data = bytearray(contents[name])
    for _ in range(chance.randint(1, 4)):
        first, second = sorted(chance.randint(0, len(data)) for _ in range(2))
        piece = data[first : min(second, first + 200)]
        match chance.randrange(4):
            case 0:
                data[first : first + 1] = chance.randbytes(chance.randint(0, 4))
            case 1:
                del data[first:second]
            case 2:
                data[first:first] = piece
            case _:
                data[chance.randint(0, len(data)) :] += piece
    return {**contents, name: bytes(data)}


@each_sample
@requirement("imp.files.garbage", "imp.files.keys")
def test_a_damaged_export_stops_nothing(folder: Path) -> None:
    _require_all_sound(folder, FEW)


@pytest.mark.soak
@each_sample
@requirement("imp.files.garbage", "imp.files.keys")
def test_an_export_that_is_damaged_in_many_ways_stops_nothing(folder: Path) -> None:
    _require_all_sound(folder, MANY)


def _require_all_sound(folder: Path, mutants: int) -> None:
    path, mapping = sample_of(folder)
    files = open_files(path, ZONE, mapping)
    contents, chance = contents_of(files), Random(folder.name)  # noqa: S311  the same every time

    for _ in range(mutants):
        damaged = export_of(mutated(contents, chance), files.name, mapping)
        try:
            found = recognise(damaged)
        except InvalidRequest:
            continue  # two kinds, or a mapping that fits nothing
        for one in found:
            require_sound(one.importer.read(one.account))
