"""`pdpp export`, and `pdpp import` of what it wrote: everything comes back as it was."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pdpp_server.reads.services import open_services
from tests.engine.beneath import blobs_in
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.worlds import album, chat
from tests.worlds.kept import Kept, lived, records_in
from tests.worlds.world import Clock, World, build, close


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Kept]:
    with lived(tmp_path / "home") as kept:
        yield kept


@pytest.fixture
def pdpp(life: Kept, tmp_path: Path) -> Command:
    return Command(life.home, tmp_path)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@requirement("cli.export.round-trip")
def test_an_export_imports_as_the_same_connections_records_times_and_blobs(life: Kept, pdpp: Command) -> None:
    assert pdpp("export", pdpp.folder / "out").code == 0
    again = Command(pdpp.folder / "again", pdpp.folder)

    imported = again("import", pdpp.folder / "out", "--json")

    assert imported.code == 0, imported.err
    counts = [json.loads(line) for line in imported.out.splitlines()]
    assert {line["connection_id"] for line in counts} == {row[0] for row in life.records()}
    assert {(line["unchanged"], line["rejected"]) for line in counts} == {(0, 0)}
    assert sum(line["accepted"] for line in counts) == len(life.records())
    assert records_in(again.home) == life.records()
    services = open_services(again.home, now=Clock())
    assert blobs_in(services.database) == [album.BYTES]
    close(services)
    assert again("doctor", "--json", PDPP_PORT="0").json["well"]
    assert again("export", pdpp.folder / "out2").code == 0
    assert bytes_of(pdpp.folder / "out2") == bytes_of(pdpp.folder / "out")


@requirement("cli.export.round-trip", "imp.ndjson.again")
def test_importing_an_export_where_it_came_from_changes_nothing(life: Kept, pdpp: Command) -> None:
    before = life.records()
    pdpp("export", pdpp.folder / "out")

    counts = [json.loads(line) for line in pdpp("import", pdpp.folder / "out", "--json").out.splitlines()]

    assert {line["accepted"] for line in counts} == {0}
    assert life.records() == before


@requirement("cli.export.deterministic")
def test_the_order_in_which_records_came_leaves_no_trace(tmp_path: Path) -> None:
    messages = [chat.message(f"k{n}", text=f"Text {n}.", sent_at=f"2026-01-{n + 1:02}T00:00:00Z") for n in range(20)]
    homes: list[World] = []
    for name, records in {"one": messages, "two": list(reversed(messages))}.items():
        world = build(tmp_path / name, Clock())
        for record in records:
            world.deliver(chat.WORK, [record])
        close(world.services)
        homes.append(world)

    for world in homes:
        assert Command(world.home, tmp_path)("export", tmp_path / f"{world.home.name}-out").code == 0

    assert bytes_of(tmp_path / "one-out") == bytes_of(tmp_path / "two-out")
    lines = (tmp_path / "one-out" / homes[0].work / "messages.ndjson").read_text().splitlines()
    keys = [json.loads(line)["key"] for line in lines]
    assert keys == sorted(keys)


@requirement("cli.export.round-trip")
def test_one_connection_alone_is_exported_by_its_name(life: Kept, pdpp: Command) -> None:
    report = pdpp("export", pdpp.folder / "out", "--connection", chat.FAMILY, "--json").json

    assert [each["connection_id"] for each in report["connections"]] == [life.world.family]
    assert [path.name for path in (pdpp.folder / "out").iterdir() if path.is_dir()] == [life.world.family]
    assert pdpp("export", pdpp.folder / "other", "--connection", "nobody").code == 1
    assert not (pdpp.folder / "other").exists()


@requirement("cli.export.round-trip")
def test_a_single_file_of_an_export_imports_like_any_other(life: Kept, pdpp: Command) -> None:
    pdpp("export", pdpp.folder / "out")
    work = pdpp.folder / "out" / life.world.work
    again = Command(pdpp.folder / "again", pdpp.folder)
    words = ["--declaration", work / "declaration.json", "--name", chat.WORK, "--json"]

    imported = [again("import", work / f"{stream}.ndjson", *words).json for stream in ("messages", "channels")]

    assert [(each["connection_id"], each["rejected"]) for each in imported] == [(life.world.work, 0)] * 2
    assert records_in(again.home) == [row for row in life.records() if row[0] == life.world.work]


@requirement("cli.export.refuses")
def test_nothing_is_overwritten_and_a_part_imports_nothing(life: Kept, pdpp: Command) -> None:
    (pdpp.folder / "full").mkdir()
    (pdpp.folder / "full" / "mine.txt").write_text("mine")
    refused = pdpp("export", pdpp.folder / "full")
    assert (refused.code, "nothing in it is overwritten" in refused.err) == (1, True)
    assert pdpp("export", life.home / "out").code == 1
    assert [path.name for path in (pdpp.folder / "full").iterdir()] == ["mine.txt"]

    pdpp("export", pdpp.folder / "out")
    (pdpp.folder / "out" / life.world.work / "messages.ndjson").unlink()
    again = Command(pdpp.folder / "again", pdpp.folder)
    partly = again("import", pdpp.folder / "out")
    named = again("import", pdpp.folder / "out", "--name", "mine")

    assert (partly.code, named.code) == (1, 64)
    assert "messages.ndjson is missing; nothing was imported" in partly.err
    assert not again.home.exists()


@requirement("cli.export.round-trip")
def test_a_damaged_blob_is_named_and_the_rest_comes_in(life: Kept, pdpp: Command) -> None:
    pdpp("export", pdpp.folder / "out")
    digest = life.photo.removeprefix("blob_")
    (pdpp.folder / "out" / "blobs" / digest).write_bytes(b"other bytes")
    again = Command(pdpp.folder / "again", pdpp.folder)

    imported = again("import", pdpp.folder / "out")

    assert f"blobs/{digest}" in imported.err
    assert records_in(again.home) == life.records()
    assert not (again.home / "blobs").exists() or not any((again.home / "blobs").rglob(digest))
