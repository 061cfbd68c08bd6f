"""Every importer on its samples: exactly the lines beside them, all of them storable, and the same the second time."""

from collections import Counter
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from pdpp_server.importers.files import open_files
from pdpp_server.importers.registry import IMPORTERS, recognise
from pdpp_server.importers.run import import_account
from pdpp_server.importers.source import File
from pdpp_server.model.ingest import Rejection
from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services
from tests.requirements import requirement
from tests.worlds.world import NOW, close
from tools.expected import EXPECTED, encoded, found_in, lines_of

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in HERE.rglob(EXPECTED))
each_sample = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.relative_to(HERE).as_posix())


@each_sample
@requirement("imp.files.recognised", "imp.files.expected-records")
def test_a_sample_gives_exactly_the_lines_beside_it(folder: Path) -> None:
    assert encoded(lines_of(folder)).splitlines() == (folder / EXPECTED).read_bytes().splitlines()


@each_sample
@requirement("imp.files.expected-records", "imp.files.again")
def test_a_sample_is_stored_whole_and_the_second_time_nothing_changes(folder: Path, tmp_path: Path) -> None:
    services = open_services(tmp_path / "home", now=lambda: NOW)
    owner = Owner(services, tmp_path / "home")
    try:
        for found in found_in(folder):
            rejected = [line.place for line in found.importer.read(found.account) if isinstance(line, Rejection)]
            writer = owner.writer(found.declaration, found.account.name)
            first = import_account(found, writer)
            assert [rejection.place for rejection in first.rejections] == rejected
            second = import_account(found, writer)
            assert (second.accepted, second.unchanged) == (0, first.accepted + first.unchanged)
            assert second.rejections == first.rejections
            assert len(owner.rejections(writer.connection_id)) == len({r.place for r in first.rejections})
    finally:
        close(services)


@requirement("imp.files.opened-once")
def test_a_file_that_nobody_looks_into_further_is_opened_once(tmp_path: Path) -> None:
    opened: Counter[str] = Counter()

    def counted(file: File) -> File:
        return file._replace(open=lambda: (opened.update([file.name]), file.open())[1])

    for name in ("a.txt", "b.json", "c.csv", "d.xml", "e.ics", "f"):
        (tmp_path / name).write_bytes(b"[nothing of anybody's]\n" * 9000)
    files = open_files(tmp_path, UTC)
    entries = {name: counted(file) for name, file in files.entries.items()}

    assert recognise(replace(files, entries=entries)) == []

    assert opened == dict.fromkeys(files.entries, 1)
    assert files.meter.read < 6 * 128 * 1024


@requirement("imp.files.expected-records")
def test_every_importer_has_a_sample_and_says_what_it_takes() -> None:
    sampled = {found.importer.key for folder in FOLDERS for found in found_in(folder)}
    assert {importer.key for importer in IMPORTERS} == sampled
    assert [importer.key for importer in IMPORTERS if not (importer.takes and importer.obtain)] == []
