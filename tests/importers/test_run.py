"""One account on its way in: batches, blobs, rejections, and what is known of it the second time."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest

from pdpp_server.importers import run
from pdpp_server.importers.files import open_files
from pdpp_server.importers.registry import FoundAccount
from pdpp_server.importers.run import Tally, fingerprint_of, import_account, survey
from tests.importers import toys
from tests.importers.toys import TOY, lines
from tests.engine.beneath import blobs_in
from tests.requirements import requirement
from tests.worlds.world import World


@pytest.fixture(autouse=True)
def only_toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(toys.registry, "IMPORTERS", ())
    monkeypatch.setattr(toys.registry, "_DECLARATIONS", tmp_path)
    (tmp_path / "declared").mkdir()
    toys.install(tmp_path / "declared")
    yield
    toys.registry.declaration_of.cache_clear()


def toy(path: Path, text: str) -> FoundAccount:
    path.write_text(text, "utf-8")
    return toys.found_in(open_files(path, UTC))


def bring(world: World, found: FoundAccount, fingerprint: str | None = None) -> Tally:
    return import_account(found, world.owner.writer(found.declaration, found.account.name), fingerprint=fingerprint)


def rejected_of(world: World) -> list[str]:
    (source,) = [source for source in world.owner.sources() if source.connector_key == "toy"]
    return [rejection.place for rejection in world.owner.rejections(source.connection_id)]


@requirement("imp.files.again")
def test_the_same_again_is_unchanged_in_every_batch(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "BATCH_RECORDS", 7)
    found = toy(tmp_path / "a.toy", lines(30))

    first, second = bring(world, found), bring(world, found)

    assert (first.accepted, first.unchanged, second.accepted, second.unchanged) == (30, 0, 0, 30)


def test_how_large_an_export_is_is_not_summed_up_for_each_of_its_files(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "BATCH_RECORDS", 1)
    found, asked = toy(tmp_path / "a.toy", lines(30)), list[FoundAccount]()
    monkeypatch.setattr(FoundAccount, "size", property(lambda self: asked.append(self) or 1000))

    parts = found._replace(account=replace(found.account, files=found.account.files * 30))
    fingerprint_of(parts, lambda _done, _of: None)
    bring(world, found)

    assert len(asked) == 2


@requirement("grants.freshness.day")
def test_only_an_export_that_is_a_whole_and_was_taken_in_whole_is_a_complete_picture(
    world: World, tmp_path: Path
) -> None:
    def brought(text: str, *complete: str) -> str | None:
        found = toy(tmp_path / "a.toy", text)
        bring(world, found._replace(account=replace(found.account, complete=complete)))
        with world.services.database.reading() as reading:
            return reading.one("select refreshed_on from streams where name = 'notes'")

    assert brought(lines(2)) is None
    assert brought(lines(2) + "no parts\n", "notes") is None
    assert brought(lines(2), "notes") == "2026-11-15"


@requirement("imp.files.rejected")
def test_what_cannot_be_read_or_stored_is_listed_and_the_rest_is_kept(world: World, tmp_path: Path) -> None:
    bad = "no parts\n" + f"2026-01-01T00:00:00Z|{'x' * 30}|too long a key\n"
    found = toy(tmp_path / "a.toy", lines(2) + bad)

    tally = bring(world, found)

    assert (tally.accepted, tally.rejected) == (2, 2)
    assert rejected_of(world) == ["a.toy:4", "a.toy:5"]
    bring(world, toy(tmp_path / "a.toy", lines(2)))
    assert rejected_of(world) == []


@requirement("imp.files.rejected")
def test_of_many_rejections_the_first_are_kept_and_all_are_counted(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "REJECTIONS_KEPT", 5)

    tally = bring(world, toy(tmp_path / "a.toy", lines(1) + "bad\n" * 50))

    assert (tally.rejected, len(tally.rejections), len(rejected_of(world))) == (50, 5, 5)


@requirement("imp.files.attachments")
def test_an_attachment_becomes_a_blob_unless_its_record_is_rejected(world: World, tmp_path: Path) -> None:
    text = f"2026-01-01T00:00:00Z|n1|+kept\n2026-01-01T00:00:00Z|{'x' * 30}|+left out\n"
    found = toy(tmp_path / "a.toy", "TOY mine\n" + text)

    for _ in range(2):
        bring(world, found)

    assert blobs_in(world.services.database) == [b"+kept"]


@requirement("imp.files.damaged")
def test_a_file_that_ends_in_the_middle_is_rejected_and_what_came_before_is_kept(world: World, tmp_path: Path) -> None:
    path = tmp_path / "z.zip"
    with ZipFile(path, "w", ZIP_STORED) as archive:
        archive.writestr("a.toy", lines(20_000))
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"word19999 and", b"word19999 AND"))
    found = toys.found_in(open_files(path, UTC))

    tally = bring(world, found, fingerprint_of(found))

    assert fingerprint_of(found) is None
    assert tally.accepted > 10_000
    assert [rejection.place for rejection in tally.rejections] == ["a.toy"]


@requirement("imp.files.again")
def test_a_fingerprint_tells_content_and_reader_and_nothing_else(tmp_path: Path) -> None:
    found = toy(tmp_path / "a.toy", lines(5))
    (tmp_path / "elsewhere").mkdir()
    same = toy(tmp_path / "elsewhere" / "a.toy", lines(5))

    known = fingerprint_of(found)
    assert known == fingerprint_of(same)
    newer = found._replace(importer=replace(TOY, version=2))
    described = found._replace(files=replace(found.files, mapping=b"x"))
    changed = toy(tmp_path / "elsewhere" / "a.toy", lines(5).replace("word1", "wird1"))
    assert len({known, *map(fingerprint_of, (newer, described, changed))}) == 4


@requirement("imp.files.again")
def test_what_was_read_to_its_end_is_known_until_its_connection_is_gone(world: World, tmp_path: Path) -> None:
    found = toy(tmp_path / "a.toy", lines(5) + "bad\n")
    known = fingerprint_of(found) or ""
    ask = (found.declaration, "mine", known)
    assert world.owner.finished_import(*ask) is None

    bring(world, found, known)

    finished = world.owner.finished_import(*ask)
    assert finished and (finished.file, finished.records, finished.rejected) == ("a.toy", 5, 1)
    (connection_id,) = world.owner.last_imports()
    world.owner.rename_source(connection_id, "Another name")
    assert world.owner.finished_import(*ask) == finished
    world.owner.remove_source(connection_id)
    assert world.owner.finished_import(*ask) is None


@requirement("imp.files.recognised")
def test_a_survey_counts_and_dates_and_ends_when_time_is_over(tmp_path: Path) -> None:
    found = toy(tmp_path / "a.toy", lines(50) + "bad\n2026-03-01T00:00:00Z|n99|+bytes\n")

    seen = survey(found, lambda: False)
    (notes,) = seen.streams.values()
    assert (notes.records, seen.rejected, seen.attachments, seen.share) == (51, 1, 1, 1.0)
    assert notes.earliest is not None and notes.latest is not None and notes.earliest < notes.latest
    assert survey(found, lambda: True).streams["notes"].records == 1
    assert survey(found, lambda: True).share < 1
