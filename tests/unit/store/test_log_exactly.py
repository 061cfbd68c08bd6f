"""What the log says of a damaged segment, to the line; and at its bounds."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.model.activity import Segment, Verdict
from pdpp_server.store import log as module
from pdpp_server.store.log import NO_LINE, DisclosureLog, disclosure_of, read_segment, segment_paths, verify, whole_size
from tests.requirements import requirement
from tests.unit.store.test_log import FETCHED, fill, last_of, refused, rewrite

Lines = list[bytes]


@pytest.fixture
def activity(tmp_path: Path) -> Path:
    return tmp_path / "activity"


@pytest.fixture
def log(activity: Path) -> DisclosureLog:
    return DisclosureLog(activity)


def member(line: bytes, **changed: Any) -> bytes:
    return orjson.dumps({**orjson.loads(line), **changed}, option=orjson.OPT_APPEND_NEWLINE)


def change_line_three(lines: Lines) -> None:
    lines[3] = member(lines[3], operation="search")


def remove_line_three(lines: Lines) -> None:
    del lines[3]


def repeat_line_three(lines: Lines) -> None:
    lines.insert(4, lines[3])


def number_the_last_lower(lines: Lines) -> None:
    lines[6] = member(lines[6], n=2)


def garble_line_four(lines: Lines) -> None:
    lines[4] = b"none of ours\n"


def garble_line_one(lines: Lines) -> None:
    lines[1] = b"none of ours\n"


def begin_as_an_earlier_segment(lines: Lines) -> None:
    lines[0] = member(lines[0], segment="0")


def begin_as_a_later_segment(lines: Lines) -> None:
    lines[0] = member(lines[0], segment="~")


def begin_after_another_line(lines: Lines) -> None:
    lines[0] = member(lines[0], prev="f" * 64)


DAMAGE: dict[Callable[[Lines], None], tuple[str, int, int]] = {  # what is said, lines that hold, the line it is about
    change_line_three: ("edited", 4, 3),
    remove_line_three: ("lines_missing", 3, 3),
    repeat_line_three: ("edited", 4, 4),
    number_the_last_lower: ("edited", 6, 6),
    garble_line_four: ("edited", 4, 4),
    garble_line_one: ("edited", 1, 1),
    begin_as_an_earlier_segment: ("edited", 0, 0),
    begin_as_a_later_segment: ("edited", 0, 0),
    begin_after_another_line: ("edited", 0, 0),
}


@requirement("log.chain.hashes")
@pytest.mark.parametrize(("damage", "said"), DAMAGE.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_damage_is_named_with_the_line_that_it_is_about(
    log: DisclosureLog,
    activity: Path,
    damage: Callable[[Lines], None],
    said: tuple[Any, int, int],
) -> None:
    path = fill(log, activity)
    rewrite(path, damage)

    assert verify(activity, []) == [Verdict(path.stem, *said)]


def test_a_segment_that_is_gone_has_no_lines(activity: Path) -> None:
    assert verify(activity, [Segment("gone", 7, "0" * 64)]) == [Verdict("gone", "missing", 0, 0)]


@pytest.mark.parametrize("digest", ["0" * 64, "f" * 64])
def test_a_line_is_another_than_the_one_that_was_seen(log: DisclosureLog, activity: Path, digest: str) -> None:
    path = fill(log, activity, 300)

    assert verify(activity, [replace(last_of(path), digest=digest)]) == [Verdict(path.stem, "edited", 300, 300)]


def test_far_into_a_segment_a_changed_line_is_named_too(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity, 300)
    rewrite(path, lambda lines: lines.__setitem__(289, member(lines[289], operation="search")))

    assert verify(activity, []) == [Verdict(path.stem, "edited", 290, 289)]


# Reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [-1, 2**53, 2**53 + 1])
def test_a_number_that_is_none_of_ours_makes_a_line_none_of_ours(activity: Path, n: int) -> None:
    activity.write_bytes(orjson.dumps({"n": n, "prev": "x", "operation": "fetch"}) + b"\n[]\n")

    assert [(line.n, line.prev, line.content) for line in read_segment(activity)] == [(-1, "", {})] * 2


def test_the_greatest_number_is_read(activity: Path) -> None:
    activity.write_bytes(orjson.dumps({"n": 2**53 - 1, "prev": "x"}) + b'\n{"n":0,"prev":"y"}\n')

    assert [(line.n, line.prev) for line in read_segment(activity)] == [(2**53 - 1, "x"), (0, "y")]


def test_a_long_list_of_records_is_read_whole(log: DisclosureLog, activity: Path) -> None:
    many = FETCHED._replace(records=tuple(f"con_1/notes:n{number}" for number in range(300)))
    log.append(many)

    (path,) = segment_paths(activity)
    assert [disclosure_of(line.content) for line in read_segment(path)] == [None, many]


def test_a_segment_is_whole_up_to_its_last_whole_line(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    whole = path.stat().st_size
    first = path.read_bytes().index(b"\n") + 1
    with path.open("ab") as file:
        file.write(b'{"n":7,"torn')

    begun = path.with_name("begun")
    begun.write_bytes(b"{")

    assert whole_size(begun) == 0
    assert (whole_size(path), whole_size(path, first), whole_size(path, 10**9)) == (whole, whole, whole + 12)


# Bounds -----------------------------------------------------------------------------------------------------------


def test_how_long_a_line_and_a_segment_may_be() -> None:
    """What any version wrote, every other reads: these are part of the form of the log."""
    assert (module.LINE_BYTES_MAX, module.SEGMENT_BYTES) == (1_048_576, 67_108_864)


def test_a_line_of_just_the_greatest_length_is_kept(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(log, activity, 1)
    length = len(path.read_bytes().splitlines(keepends=True)[1])
    monkeypatch.setattr(module, "LINE_BYTES_MAX", length)

    log.append(FETCHED._replace(request_id="req_2"))
    with pytest.raises(DisclosureLogUnavailable):
        log.append(FETCHED._replace(request_id="req_22"))
    assert verify(activity, [])[0].lines == 3


def test_a_segment_of_just_the_greatest_size_is_full(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(log, activity)
    monkeypatch.setattr(module, "SEGMENT_BYTES", path.stat().st_size)

    log.append(FETCHED._replace(at="2026-03-01T10:00:01.000Z"))
    assert len(segment_paths(activity)) == 2


# Trouble ----------------------------------------------------------------------------------------------------------


@requirement("log.sync.full")
def test_the_names_of_a_new_segment_are_kept_on_disk_too(activity: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Path] = []
    monkeypatch.setattr(module.files, "sync", kept.append)

    DisclosureLog(activity).append(FETCHED)
    assert kept == []
    DisclosureLog(activity, sync="full").append(FETCHED)
    assert kept == [activity, activity.parent]


@requirement("log.failure.closed")
@pytest.mark.parametrize("meanwhile", ["longer", "empty"])
def test_of_a_half_written_line_nothing_is_taken_back_that_is_not_ours(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    path = fill(log, activity)
    write = os.write

    def half(descriptor: int, line: bytes) -> int:
        written = write(descriptor, line[:100])
        if meanwhile == "longer":
            write(descriptor, b"of somebody else")
        else:
            os.truncate(path, 0)
        return written

    before = path.stat().st_size
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", half)
        assert refused(log)

    assert path.stat().st_size == {"longer": before + 100 + len(b"of somebody else"), "empty": 0}[meanwhile]


@requirement("log.failure.closed")
def test_a_segment_that_somebody_else_wrote_to_refuses_the_read(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    with path.open("ab") as file:
        file.write(b"of somebody else\n")

    assert refused(log)


@requirement("log.failure.closed")
def test_a_segment_that_was_replaced_refuses_the_read_whose_line_nobody_would_find(
    log: DisclosureLog, activity: Path
) -> None:
    path = fill(log, activity)
    saved = path.with_suffix(".saved")
    saved.write_bytes(path.read_bytes())
    saved.replace(path)  # as an editor saves

    assert refused(log)
    log.append(FETCHED)

    assert len(segment_paths(activity)) == 2


@requirement("log.failure.closed")
@pytest.mark.parametrize("beside", [-1, 1])
def test_whichever_other_file_has_its_name_it_is_not_ours(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch, beside: int
) -> None:
    fill(log, activity)
    real = os.stat

    def another(path: bytes) -> SimpleNamespace:
        found = real(path)
        return SimpleNamespace(st_ino=found.st_ino + beside, st_size=found.st_size)

    with monkeypatch.context() as replaced:
        replaced.setattr(os, "stat", another)
        assert refused(log)


@requirement("log.failure.closed")
def test_after_a_failure_a_segment_that_was_replaced_is_left(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(log, activity)
    copied = path.read_bytes()
    path.unlink()
    path.write_bytes(copied)

    def fail(descriptor: int, line: bytes) -> int:
        raise OSError(errno.ENOSPC, "no")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", fail)
        assert refused(log)
    log.append(FETCHED)

    assert len(segment_paths(activity)) == 2


def test_the_first_line_follows_none(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity, 1)

    assert next(read_segment(path)).prev == NO_LINE
