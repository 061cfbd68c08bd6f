"""The root that the first segment of a day bears, read from files that anybody may have touched."""

from pathlib import Path

import orjson
import pytest

from pdpp_server.model.activity import Segment, Verdict
from pdpp_server.store import log as module
from pdpp_server.store.log import (
    LINE_BYTES_MAX,
    DisclosureLog,
    LogLine,
    Others,
    SegmentFolder,
    let_go_in,
    others_known,
    read_segment,
    segment_paths,
    segments_in,
    tail_start,
    verify,
)
from tests.requirements import requirement
from tests.unit.store.test_log import FETCHED, last_of, rewrite

FIRST, NEXT, LATER = "2026-03-01T23:59:59.900Z", "2026-03-02T00:00:00.100Z", "2026-03-05T08:00:00.000Z"
STRANGER = "20260301T100000-12-0011aabb"


@pytest.fixture
def activity(tmp_path: Path) -> Path:
    return tmp_path / "activity"


@pytest.fixture
def log(activity: Path) -> DisclosureLog:
    return DisclosureLog(activity)


def write(log: DisclosureLog, at: str, lines: int = 1) -> None:
    for _ in range(lines):
        log.append(FETCHED._replace(at=at))


def header_of(path: Path) -> LogLine:
    return next(iter(read_segment(path)))


def beside(path: Path) -> list[Segment]:
    return [Segment(**said) for said in header_of(path).content.get("beside", ())]


def closes(path: Path) -> list[Segment]:
    return [Segment(**said) for said in header_of(path).content.get("closes", ())]


@requirement("log.day.root")
def test_a_day_has_segments_of_its_own_and_the_next_one_names_their_ends(log: DisclosureLog, activity: Path) -> None:
    others = DisclosureLog(activity)
    write(log, FIRST, 3)
    write(others, FIRST)
    write(log, NEXT)

    *before, newest = segment_paths(activity)
    assert closes(newest) == [last_of(path) for path in before]
    assert [path.stem[:8] for path in (*before, newest)] == ["20260301", "20260301", "20260302"]
    assert header_of(newest).content["follows"]["n"] == 3


@requirement("log.day.root")
def test_only_the_first_segment_of_a_day_bears_the_root(log: DisclosureLog, activity: Path) -> None:
    write(log, FIRST)
    write(log, NEXT)
    write(DisclosureLog(activity), NEXT)

    *_, first, second = sorted(segment_paths(activity), key=lambda path: path.stat().st_mtime_ns)
    assert closes(first)
    assert "closes" not in header_of(second).content


@requirement("log.day.beside")
def test_every_other_segment_of_a_day_names_the_ends_of_those_that_began_last(activity: Path) -> None:
    begun: list[Path] = []
    for second in range(module.BESIDE_MAX + 2):
        write(DisclosureLog(activity), f"2026-03-02T08:00:{second:02}.000Z", lines=second % 3 + 1)
        begun.append(segment_paths(activity)[-1])

    first, second, *_, newest = begun
    assert "beside" not in header_of(first).content
    assert beside(second) == [last_of(first)]
    assert beside(newest) == [last_of(path) for path in begun[1:-1]]


@requirement("log.day.beside")
def test_a_root_names_no_segment_of_its_own_day(log: DisclosureLog, activity: Path) -> None:
    write(log, FIRST)
    write(log, NEXT)

    assert [beside(path) for path in segment_paths(activity)] == [[], []]


@requirement("log.day.root")
def test_days_without_a_read_have_no_root_and_the_last_day_before_them_is_closed(
    log: DisclosureLog, activity: Path
) -> None:
    write(log, FIRST)
    write(log, NEXT)
    write(log, LATER)

    first, second, third = segment_paths(activity)
    assert closes(second) == [last_of(first)]
    assert closes(third) == [last_of(second)]


def test_a_line_that_comes_late_stays_in_the_newer_segment(log: DisclosureLog, activity: Path) -> None:
    write(log, NEXT)
    write(log, FIRST)

    (path,) = segment_paths(activity)
    assert last_of(path).n == 2


def test_who_wants_to_know_is_told_once_a_day(log: DisclosureLog, activity: Path) -> None:
    told: list[str] = []
    log.on_new_day = told.append
    write(log, FIRST, 2)
    write(log, NEXT, 2)
    write(DisclosureLog(activity), NEXT)

    assert told == [NEXT]


@requirement("log.day.root")
def test_a_half_line_is_not_where_a_segment_ends(log: DisclosureLog, activity: Path) -> None:
    write(log, FIRST, 2)
    log.close()
    (path,) = segment_paths(activity)
    whole = last_of(path)
    path.write_bytes(path.read_bytes() + b'{"n":3,"prev":"' + b"0" * 64)

    write(DisclosureLog(activity), NEXT)

    assert closes(segment_paths(activity)[-1]) == [whole]
    assert [verdict.state for verdict in verify(activity, [])] == ["torn", "intact"]


@pytest.mark.parametrize("content", [b"", b"half", b"not ours\n", b"\n", b"{}\n{}\n"])
def test_what_somebody_else_put_there_is_not_named_and_stops_nobody(
    content: bytes, log: DisclosureLog, activity: Path
) -> None:
    activity.mkdir()
    (activity / f"{STRANGER}.jsonl").write_bytes(content)
    (activity / "zzz.jsonl").write_bytes(b"{}\n")

    write(log, NEXT)

    assert closes(segment_paths(activity)[-1]) == []


def test_the_end_of_a_long_segment_is_found_without_reading_all_of_it(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(log, FIRST, 50)
    (path,) = segment_paths(activity)
    monkeypatch.setattr(module, "LINE_BYTES_MAX", len(path.read_bytes().splitlines(keepends=True)[-1]))

    (end,) = SegmentFolder(activity).ends("", "9").values()

    assert (end.n, end.digest) == (50, last_of(path).digest)


def test_the_tail_of_a_file_is_two_lines_long() -> None:
    assert tail_start(5 * LINE_BYTES_MAX + 1) == 3 * LINE_BYTES_MAX + 1
    assert tail_start(2 * LINE_BYTES_MAX) == 0
    assert tail_start(7) == 0


def test_the_ends_are_those_of_the_segments_between(log: DisclosureLog, activity: Path) -> None:
    for at in (FIRST, NEXT, LATER):
        write(log, at)
    first, second, third = (path.stem for path in segment_paths(activity))
    folder = SegmentFolder(activity)

    assert [*folder.ends("", second)] == [first]
    assert [*folder.ends("", third)] == [first, second]
    assert [*folder.ends(second, third)] == [second]
    assert [*folder.ends(third, "9")] == [third]
    assert folder.newest() == third


def test_where_there_is_no_log_nothing_is_newest(activity: Path) -> None:
    assert SegmentFolder(activity).newest() is None
    assert SegmentFolder(activity).ends("", "9") == {}
    assert others_known(NEXT, SegmentFolder(activity)) == Others()


def test_a_segment_that_is_a_header_alone_is_named_too(log: DisclosureLog, activity: Path) -> None:
    write(DisclosureLog(activity), FIRST)
    (path,) = segment_paths(activity)
    rewrite(path, lambda lines: lines.pop())

    write(log, NEXT)

    assert closes(segment_paths(activity)[-1]) == [Segment(path.stem, 0, header_of(path).digest)]


def test_a_clock_that_went_back_closes_nothing(log: DisclosureLog, activity: Path) -> None:
    write(DisclosureLog(activity), LATER)

    write(log, FIRST)

    assert [closes(path) for path in segment_paths(activity)] == [[], []]


def test_a_log_can_be_written_where_its_folder_is_or_can_be_made(tmp_path: Path) -> None:
    there = tmp_path / "activity"
    assert DisclosureLog(there).can_append()
    there.mkdir()
    assert DisclosureLog(there).can_append()
    assert not DisclosureLog(tmp_path / "nowhere" / "activity").can_append()


def test_a_root_stays_a_line(log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSED_MAX", 2)
    for _ in range(3):
        write(DisclosureLog(activity), FIRST)
    ends = [last_of(path) for path in segment_paths(activity)]

    write(log, NEXT)

    assert closes(segment_paths(activity)[-1]) == ends[1:]
    assert module.CLOSED_MAX * 200 < module.LINE_BYTES_MAX


def test_as_many_as_a_root_can_name_fit_into_a_line() -> None:
    longest = Segment("20260301T235959-4194304-0011aabb", 2**53, "0" * 64)
    assert len(orjson.dumps([longest] * module.CLOSED_MAX)) < module.LINE_BYTES_MAX


@requirement("log.day.root")
def test_a_segment_that_only_a_root_knew_is_missed(log: DisclosureLog, activity: Path) -> None:
    write(DisclosureLog(activity), FIRST)
    write(log, NEXT)
    first, _ = segment_paths(activity)
    lost = first.stem
    first.unlink()

    assert verify(activity, [])[0] == Verdict(lost, "missing", 0, 0)


@pytest.mark.parametrize(
    "said", [7, "x", None, [7], [["x"]], {"id": 1}, [{"id": 1, "n": 2, "digest": 3}], [{"id": "x"}], [None]]
)
@pytest.mark.parametrize("name", ["closes", "beside", "let_go", "follows"])
def test_a_header_that_says_nonsense_claims_nothing(
    name: str, said: object, log: DisclosureLog, activity: Path
) -> None:
    write(log, FIRST)
    (path,) = segment_paths(activity)

    def change(lines: list[bytes]) -> None:
        lines[0] = orjson.dumps({**orjson.loads(lines[0]), name: said}, option=orjson.OPT_APPEND_NEWLINE)

    rewrite(path, change)

    assert [verdict.segment for verdict in verify(activity, [])] == [path.stem]


@pytest.mark.parametrize("id", ["../../etc/passwd", "", "x", STRANGER + "/..", f"{STRANGER}.jsonl"])
def test_what_cannot_be_a_segment_was_not_let_go(id: str, log: DisclosureLog, activity: Path) -> None:
    write(log, FIRST)
    (path,) = segment_paths(activity)

    def change(lines: list[bytes]) -> None:
        lines[0] = orjson.dumps({**orjson.loads(lines[0]), "let_go": [id, STRANGER]}, option=orjson.OPT_APPEND_NEWLINE)

    rewrite(path, change)

    assert let_go_in(segments_in(activity).values()) == {STRANGER}
    for seen in ([], [Segment(STRANGER, 3, "0" * 64)]):
        assert Verdict(STRANGER, "let_go", 0) in verify(activity, seen)


def test_a_segment_that_goes_while_a_day_is_closed_is_not_waited_for(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(DisclosureLog(activity), FIRST)
    gone = activity / f"{STRANGER}.jsonl"
    listed = [*segment_paths(activity), gone]
    monkeypatch.setattr(module, "segment_paths", lambda _: listed)

    write(log, NEXT)

    assert [each.id for each in closes(max(activity.iterdir()))] == [listed[0].stem]


def test_a_last_line_that_follows_rightly_and_is_numbered_too_low_is_not_as_it_was_written(
    log: DisclosureLog, activity: Path
) -> None:
    write(log, FIRST, 3)
    (path,) = segment_paths(activity)

    def change(lines: list[bytes]) -> None:
        lines[-1] = lines[-1].replace(b'"n":3', b'"n":2')

    rewrite(path, change)

    assert [verdict.state for verdict in verify(activity, [])] == ["edited"]
