"""Every line is chained, whole and durable, or the read is refused."""

import errno
import os
import secrets
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import orjson
import pytest

from pdpp_server.errors import DisclosureLogUnavailable
from pdpp_server.model.activity import Disclosure, Segment, Verdict
from pdpp_server.store import log as module
from pdpp_server.store.log import DisclosureLog, disclosure_of, read_segment, segment_paths, verify
from tests.requirements import requirement

FETCHED = Disclosure(
    at="2026-03-01T10:00:00.000Z",
    request_id="req_1",
    operation="fetch",
    token_kind="client",
    client_id="cli_1",
    grant_ids=("grt_1",),
    query={"id": "con_1/notes:n1"},
    connections=("con_1",),
    streams=("notes",),
    fields=("id", "text"),
    records=("con_1/notes:n1",),
    bytes=120,
)

CHILD = """
import sys
from pathlib import Path
from pdpp_server.store.log import DisclosureLog
from tests.unit.store.test_log import FETCHED

log = DisclosureLog(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    log.append(FETCHED)
print("answered", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def activity(tmp_path: Path) -> Path:
    return tmp_path / "activity"


@pytest.fixture
def log(activity: Path) -> DisclosureLog:
    return DisclosureLog(activity)


def fill(log: DisclosureLog, activity: Path, lines: int = 6) -> Path:
    """A segment with a header and some numbered disclosures."""
    for number in range(1, lines + 1):
        log.append(FETCHED._replace(request_id=f"req_{number}"))
    (path,) = segment_paths(activity)
    return path


def last_of(path: Path) -> Segment:
    *_, last = read_segment(path)
    return Segment(path.stem, last.n, last.digest)


def rewrite(path: Path, change: Callable[[list[bytes]], object]) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    change(lines)
    path.write_bytes(b"".join(lines))


def refused(log: DisclosureLog) -> bool:
    with pytest.raises(DisclosureLogUnavailable):
        log.append(FETCHED)
    return True


def child(activity: Path, lines: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(activity), str(lines)],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


# Writing ----------------------------------------------------------------------------------------------------------


@requirement("log.line.what")
def test_a_line_says_what_was_disclosed_to_whom_and_when(log: DisclosureLog, activity: Path) -> None:
    log.append(FETCHED)

    (path,) = segment_paths(activity)
    header, line = read_segment(path)
    assert header.content == {
        "version": 1,
        "segment": path.stem,
        "created_at": "2026-03-01T10:00:00.000Z",
        "follows": None,
    }
    assert line.content == {
        "at": "2026-03-01T10:00:00.000Z",
        "request_id": "req_1",
        "operation": "fetch",
        "token_kind": "client",
        "client_id": "cli_1",
        "grant_ids": ["grt_1"],
        "query": {"id": "con_1/notes:n1"},
        "connections": ["con_1"],
        "streams": ["notes"],
        "fields": ["id", "text"],
        "records": ["con_1/notes:n1"],
        "bytes": 120,
    }
    assert disclosure_of(line.content) == FETCHED


def test_the_owner_has_no_client_and_no_grant(log: DisclosureLog, activity: Path) -> None:
    own = FETCHED._replace(token_kind="owner", client_id=None, grant_ids=())
    log.append(own)

    (path,) = segment_paths(activity)
    assert [disclosure_of(line.content) for line in read_segment(path)] == [None, own]


@requirement("log.chain.hashes")
def test_each_line_holds_the_hash_of_the_line_before_it(log: DisclosureLog, activity: Path) -> None:
    raw = fill(log, activity).read_bytes().splitlines(keepends=True)

    assert [orjson.loads(line)["n"] for line in raw] == [0, 1, 2, 3, 4, 5, 6]
    expected = ["0" * 64] + [sha256(line).hexdigest() for line in raw[:-1]]
    assert [orjson.loads(line)["prev"] for line in raw] == expected


def test_one_read_is_one_line_and_one_write(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(log, activity, 1)
    writes: list[bytes] = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: writes.append(line) or write(descriptor, line))

    log.append(FETCHED._replace(query=MappingProxyType({"q": "two\nlines \u2028 and \0"})))

    assert len(writes) == 1
    assert path.read_bytes().splitlines(keepends=True)[2:] == writes
    assert (writes[0].count(b"\n"), writes[0][-1:]) == (1, b"\n")


def test_only_the_owner_may_read_the_log(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)

    assert stat.S_IMODE(activity.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_segment_is_named_by_its_start_in_utc_and_its_process(log: DisclosureLog, activity: Path) -> None:
    log.append(FETCHED._replace(at="2026-03-01T10:00:00.000+02:00"))

    (path,) = segment_paths(activity)
    assert path.name.startswith(f"20260301T080000-{os.getpid()}-")


def test_a_segment_never_takes_over_a_file_that_lies_there(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
    activity.mkdir()
    planted = activity / f"20260301T100000-{os.getpid()}-00000000.jsonl"
    planted.write_text("planted\n")

    assert refused(log)
    assert planted.read_text() == "planted\n"


def test_a_disclosure_without_a_time_starts_no_segment(log: DisclosureLog, activity: Path) -> None:
    with pytest.raises(ValueError, match="needs a time"):
        log.append(FETCHED._replace(at="soon"))

    assert segment_paths(activity) == []


def test_threads_share_one_chain(log: DisclosureLog, activity: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: log.append(FETCHED), range(800)))

    (path,) = segment_paths(activity)
    assert verify(activity, []) == [Verdict(path.stem, "intact", 801)]


@requirement("log.chain.one-segment-per-process")
def test_two_processes_write_two_segments(activity: Path) -> None:
    children = [child(activity, 300), child(activity, 300)]
    for process in children:
        process.communicate(timeout=20)

    assert {path.name.split("-")[1] for path in segment_paths(activity)} == {str(process.pid) for process in children}
    assert [(verdict.state, verdict.lines) for verdict in verify(activity, [])] == [("intact", 301)] * 2


@requirement("log.chain.one-segment-per-process")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_starts_its_own_segment_even_while_the_lock_is_held(log: DisclosureLog, activity: Path) -> None:
    parent = fill(log, activity)
    with log._lock:
        pid = os.fork()
        if pid == 0:
            signal.alarm(10)
            log.append(FETCHED)
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    log.append(FETCHED)

    others = [path for path in segment_paths(activity) if path != parent]
    assert [path.name.split("-")[1] for path in others] == [str(pid)]
    assert {verdict.segment: verdict.lines for verdict in verify(activity, [])} == {parent.stem: 8, others[0].stem: 2}


@requirement("log.line.before-answer")
def test_a_line_outlives_a_process_that_is_killed_after_its_answer(activity: Path) -> None:
    process = child(activity, 5)
    assert process.stdout
    assert process.stdout.readline() == "answered\n"
    process.kill()
    process.communicate()

    assert [(verdict.state, verdict.lines) for verdict in verify(activity, [])] == [("intact", 6)]


@requirement("log.sync.full")
def test_full_sync_asks_the_disk_before_each_answer(activity: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    monkeypatch.setattr(module, "_keep_on_disk", kept.append)

    fill(DisclosureLog(activity), activity, 3)
    assert kept == []

    log = DisclosureLog(activity, sync="full")
    for line in range(3):
        log.append(FETCHED)
        assert len(kept) == line + 2  # the header first


def test_a_full_segment_is_followed_by_one_that_names_its_last_line(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SEGMENT_BYTES", 3000)
    for second in range(20):
        log.append(FETCHED._replace(at=f"2026-03-01T10:00:{second:02d}.000Z"))

    first, second, *_ = segment_paths(activity)
    header = next(read_segment(second))
    assert header.content["follows"] == orjson.loads(orjson.dumps(last_of(first)))
    assert first.stat().st_size < 4000
    assert {verdict.state for verdict in verify(activity, [])} == {"intact"}

    rewrite(first, lambda lines: lines.pop())
    assert verify(activity, [])[0].state == "truncated"
    first.unlink()
    assert verify(activity, [])[0].state == "missing"


# Trouble ----------------------------------------------------------------------------------------------------------


@requirement("log.failure.closed")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EACCES])
def test_a_line_that_cannot_be_written_refuses_the_read_and_leaves_the_chain_whole(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    path = fill(log, activity)

    def fail(descriptor: int, line: bytes) -> int:
        raise OSError(code, "no")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", fail)
        assert refused(log)
        assert refused(log)
    log.append(FETCHED)

    assert verify(activity, []) == [Verdict(path.stem, "intact", 8)]


@requirement("log.failure.closed")
def test_a_half_written_line_is_taken_back(log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fill(log, activity)
    write = os.write
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:100]))
        assert refused(log)
    assert verify(activity, []) == [Verdict(path.stem, "intact", 7)]
    log.append(FETCHED)

    assert verify(activity, []) == [Verdict(path.stem, "intact", 8)]


@requirement("log.failure.closed")
def test_a_half_written_line_that_stays_ends_its_segment(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torn = fill(log, activity)
    write = os.write

    def fail(descriptor: int, size: int) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:100]))
        broken.setattr(os, "ftruncate", fail)
        assert refused(log)
    log.append(FETCHED)

    verdicts = {verdict.segment: (verdict.state, verdict.lines) for verdict in verify(activity, [])}
    (other,) = verdicts.keys() - {torn.stem}
    assert verdicts == {torn.stem: ("torn", 7), other: ("intact", 2)}


@requirement("log.failure.closed", "log.sync.full")
def test_a_line_that_the_disk_did_not_keep_refuses_the_read(activity: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = DisclosureLog(activity, sync="full")
    first = fill(log, activity)

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as broken:
        broken.setattr(module, "_keep_on_disk", fail)
        assert refused(log)
    log.append(FETCHED)

    assert len(segment_paths(activity)) == 2
    assert {verdict.state for verdict in verify(activity, [last_of(first)])} == {"intact"}


def test_an_interrupted_write_never_breaks_a_chain(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(log, activity)
    write = os.write

    def interrupted(descriptor: int, line: bytes) -> int:
        write(descriptor, line)
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            log.append(FETCHED)
    log.append(FETCHED)

    assert sorted((verdict.state, verdict.lines) for verdict in verify(activity, [])) == [("intact", 2), ("intact", 8)]


@requirement("log.failure.closed")
def test_a_full_disk_leaves_no_empty_segments(
    log: DisclosureLog, activity: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int, line: bytes) -> int:
        raise OSError(errno.ENOSPC, "no")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", fail)
        assert refused(log)
    assert list(activity.iterdir()) == []
    log.append(FETCHED)


@requirement("log.failure.closed")
def test_a_log_directory_that_is_a_file_or_has_no_home_refuses_the_read(tmp_path: Path) -> None:
    (tmp_path / "activity").write_text("not a directory")

    assert refused(DisclosureLog(tmp_path / "activity"))
    assert refused(DisclosureLog(tmp_path / "gone" / "activity"))


@requirement("log.failure.closed")
def test_a_deleted_log_refuses_the_read_that_would_have_been_lost(log: DisclosureLog, activity: Path) -> None:
    fill(log, activity)
    shutil.rmtree(activity)

    assert refused(log)
    log.append(FETCHED)
    states = {verdict.lines: verdict.state for verdict in verify(activity, [])}
    assert states == {0: "missing", 2: "intact"}


@requirement("log.failure.closed")
def test_a_segment_that_somebody_cut_is_not_continued(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    os.truncate(path, 0)

    assert refused(log)
    log.append(FETCHED)
    assert sorted(verdict.state for verdict in verify(activity, [])) == ["intact", "lines_missing"]


@requirement("log.failure.closed")
def test_a_line_that_no_reader_would_read_is_refused(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    with pytest.raises(DisclosureLogUnavailable):
        log.append(FETCHED._replace(query={"q": "x" * module.LINE_BYTES_MAX}))
    log.append(FETCHED)

    assert verify(activity, []) == [Verdict(path.stem, "intact", 8)]


def test_what_cannot_be_json_disclosed_nothing_and_breaks_nothing(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    with pytest.raises(TypeError):
        log.append(FETCHED._replace(query={"q": "\ud800"}))
    log.append(FETCHED)

    assert verify(activity, []) == [Verdict(path.stem, "intact", 8)]


# Verifying --------------------------------------------------------------------------------------------------------


def edit(lines: list[bytes]) -> None:
    lines[3] = lines[3].replace(b"con_1/notes:n1", b"con_1/notes:n2")


def renumber(lines: list[bytes]) -> None:
    lines[3] = lines[3].replace(b'"n":3', b'"n":9')


def remove(lines: list[bytes]) -> None:
    del lines[3]


def swap(lines: list[bytes]) -> None:
    lines[3], lines[4] = lines[4], lines[3]


def repeat(lines: list[bytes]) -> None:
    lines.insert(3, lines[2])


def join(lines: list[bytes]) -> None:
    lines[3] = lines[3].removesuffix(b"\n")


def blank(lines: list[bytes]) -> None:
    lines[3] = b"\n"


def swell(lines: list[bytes]) -> None:
    lines[3] = b"x" * (2 * module.LINE_BYTES_MAX) + b"\n"


def behead(lines: list[bytes]) -> None:
    del lines[0]


def exchange_header(lines: list[bytes]) -> None:
    lines[0] = lines[0].replace(b'"version":1', b'"version":2')


def forge(lines: list[bytes]) -> None:
    """A line whose own link is right, put before a line that was written after another one."""
    forged = orjson.loads(lines[3]) | {"records": [], "prev": sha256(lines[2]).hexdigest()}
    lines[3] = orjson.dumps(forged) + b"\n"


@requirement("log.verify.edits")
@pytest.mark.parametrize(
    ("change", "state", "line"),
    [
        (edit, "edited", 3),
        (renumber, "edited", 3),
        (forge, "edited", 3),
        (join, "edited", 3),
        (blank, "edited", 3),
        (swell, "edited", 3),
        (repeat, "edited", 3),
        (remove, "lines_missing", 3),
        (swap, "lines_missing", 3),
        (behead, "lines_missing", 0),
        (exchange_header, "edited", 0),
    ],
)
def test_verification_names_the_first_wrong_line(
    log: DisclosureLog, activity: Path, change: Callable[[list[bytes]], None], state: str, line: int
) -> None:
    path = fill(log, activity)
    rewrite(path, change)

    (verdict,) = verify(activity, [])
    assert (verdict.state, verdict.line, verdict.is_sound) == (state, line, False)


@requirement("log.verify.edits")
def test_an_edited_last_line_is_found_when_it_had_been_seen(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    seen = [last_of(path)]
    rewrite(path, lambda lines: lines.append(lines.pop().replace(b"notes:n1", b"notes:n2")))

    assert verify(activity, []) == [Verdict(path.stem, "intact", 7)]
    assert verify(activity, seen) == [Verdict(path.stem, "edited", 6, 6)]


@requirement("log.verify.truncation")
@pytest.mark.parametrize("cut", [1, 3, 7])
def test_lost_last_lines_are_found_when_they_had_been_seen(log: DisclosureLog, activity: Path, cut: int) -> None:
    path = fill(log, activity)
    seen = [last_of(path)]
    rewrite(path, lambda lines: lines.__delitem__(slice(7 - cut, None)))

    assert verify(activity, seen) == [Verdict(path.stem, "truncated", 7 - cut, 7 - cut)]


@requirement("log.verify.truncation")
def test_a_missing_segment_is_found_when_it_had_been_seen(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    seen = [last_of(path)]
    path.rename(activity / "20200101T000000-1-00000000.jsonl")

    assert [(verdict.segment, verdict.state) for verdict in verify(activity, seen)] == [
        ("20200101T000000-1-00000000", "edited"),  # its header names another segment
        (path.stem, "missing"),
    ]
    shutil.rmtree(activity)
    assert [verdict.state for verdict in verify(activity, seen)] == ["missing"]


def test_one_torn_last_line_is_sound(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    before = last_of(path)
    with path.open("ab") as file:
        file.write(b'{"n":7,"prev":"')

    (verdict,) = verify(activity, [before])
    assert (verdict.state, verdict.lines, verdict.line, verdict.is_sound) == ("torn", 7, 7, True)


def test_an_empty_segment_is_a_torn_header(activity: Path) -> None:
    activity.mkdir()
    (activity / "20260301T100000-7-0123abcd.jsonl").touch()

    assert verify(activity, []) == [Verdict("20260301T100000-7-0123abcd", "torn", 0, 0)]


def test_foreign_files_are_not_looked_at(log: DisclosureLog, activity: Path) -> None:
    path = fill(log, activity)
    (activity / "notes.jsonl").write_text("mine\n")
    (activity / f"{path.name}.bak").write_bytes(b"\0")
    (activity / "20260301T100000-7-0123abcd.jsonl").mkdir()
    (activity / "20260301T100000-8-0123abcd.jsonl").symlink_to(path)
    os.mkfifo(activity / "20260301T100000-9-0123abcd.jsonl")

    assert segment_paths(activity) == [path]
    assert [verdict.state for verdict in verify(activity, [])] == ["intact"]


@pytest.mark.parametrize(
    "line",
    [
        b"[]\n",
        b'{"n":1}\n',
        b'{"n":-1,"prev":"x"}\n',
        b'{"n":18446744073709551615,"prev":"x"}\n',
        b'{"n":1,"prev":"x","at":7}\n',
        b"\xff\n",
    ],
)
def test_what_we_did_not_write_is_no_disclosure(tmp_path: Path, line: bytes) -> None:
    (path := tmp_path / "segment").write_bytes(line)

    assert [disclosure_of(line.content) for line in read_segment(path)] == [None]


@pytest.mark.parametrize("wrong", [{"records": [1]}, {"records": "n1"}, {"grant_ids": None}, {"query": []}])
def test_a_line_with_a_wrong_type_is_no_disclosure(
    log: DisclosureLog, activity: Path, wrong: dict[str, object]
) -> None:
    _, line = read_segment(fill(log, activity, 1))

    assert disclosure_of({**line.content, **wrong}) is None
