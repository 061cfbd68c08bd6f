"""What an importer sees of an export."""

import io
from typing import BinaryIO

from pdpp_server.importers.source import (
    Account,
    Attachment,
    DamagedFile,
    File,
    Files,
    Head,
    Importer,
    Meter,
    known_files,
)
from tests.importers.reading import ZONE


def head_of(data: bytes) -> tuple[Head, list[int]]:
    opened = list[int]()

    def open_() -> BinaryIO:
        opened.append(1)
        return io.BytesIO(data)

    return Head(File("a", len(data), open_)), opened


def test_a_file_is_opened_once_however_often_its_beginning_is_asked_for() -> None:
    head, opened = head_of(b"0123456789")
    assert [head.first(size) for size in (3, 5, 2, 100, 4)] == [b"012", b"01234", b"01", b"0123456789", b"0123"]
    assert opened == [1]
    head.close()


def test_a_file_that_cannot_be_opened_has_no_beginning() -> None:
    def damaged() -> BinaryIO:
        raise DamagedFile("a is damaged.")

    assert Head(File("a", 5, damaged)).first(5) == b""


def test_each_importer_knows_what_it_says_it_knows() -> None:
    def importer(key: str, word: bytes) -> Importer:
        return Importer(key, lambda head: word in head.first(10) or None, lambda *_: (), lambda _: iter(()))

    files = Files("x", {name: File(name, 3, lambda: io.BytesIO(b"abc")) for name in ("1", "2")}, ZONE)
    found = known_files(files, [importer("a", b"a"), importer("z", b"z")])
    assert [(one.key, [file.name for file in known]) for one, known in found] == [("a", ["1", "2"]), ("z", [])]


def test_whoever_waits_hears_of_all_bytes_so_far() -> None:
    heard = list[int]()
    meter = Meter(heard=heard.append)
    meter.count(3)
    meter.count(4)
    assert (heard, meter.read) == ([3, 7], 7)


def test_what_is_attached_is_referred_to_by_its_bytes_and_an_odd_kind_is_any_bytes() -> None:
    one, other = (Attachment("messages", "1", b"abc", kind) for kind in ("image/png", "no kind"))
    assert one.blob.blob_id == other.blob.blob_id
    assert (one.blob.mime_type, other.blob.mime_type) == ("image/png", "application/octet-stream")
    assert one.reference["blob_id"] == one.blob.blob_id


def test_streams_that_follow_from_others_say_so() -> None:
    account = Account("a", (), ZONE, complete=("events", "occurrences"), derived={"occurrences": "events"})
    assert [(name, one.follows) for name, one in account.covered.streams.items()] == [
        ("events", ""),
        ("occurrences", "events"),
    ]
