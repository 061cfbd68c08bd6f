"""One line of JSON for each request, and nothing in it that a record or a query says."""

import logging
from collections.abc import Iterator

import orjson
import pytest

from pdpp_server.http import logs
from pdpp_server.http.logs import LOGGER, JsonLines, log_bug, log_request, write_to_stderr

AT = "2026-11-18T10:00:00.000Z"


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    before = (LOGGER.handlers[:], LOGGER.level, LOGGER.propagate)
    yield
    LOGGER.handlers[:], LOGGER.level, LOGGER.propagate = before


def begin() -> None:
    """As a server does, with nobody else who listens: where one ran before, pytest would."""
    LOGGER.handlers.clear()
    write_to_stderr()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_request_is_one_line_and_a_slow_one_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    begin()
    write_to_stderr()
    for slow in (False, True):
        log_request(
            at=AT, request_id="r", operation="search", status=200, code="", stages={"read": 0.0123456}, slow=slow
        )
    first, second = lines(capsys)
    assert (first["level"], first["event"], first["read_ms"], first["request_id"]) == ("info", "request", 12.346, "r")
    assert first["at"] == AT
    assert (second["level"], second["event"]) == ("warning", "slow search")


def test_a_bug_says_where_and_of_what_kind_and_never_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    begin()
    try:
        raise KeyError("text of a record")
    except KeyError as bug:
        log_bug(bug, "r")
    (line,) = lines(capsys)
    assert (line["event"], line["kind"]) == ("bug", "KeyError")
    assert "text of a record" not in str(line)
    assert str(line["places"]).startswith("['test_logs.py:")


def test_whoever_listens_too_gets_each_line_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    heard = list[tuple[str, object]]()

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append((record.getMessage(), record.__dict__["members"]["request_id"]))

    begin()
    LOGGER.addHandler(Listening())
    log_request(at=AT, request_id="r", operation="search", status=200, code="ok", stages={}, slow=False)
    assert heard == [("request", "r")]
    assert [line["request_id"] for line in lines(capsys)] == ["r"]


def test_where_no_lines_are_wanted_none_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    begin()
    LOGGER.setLevel(logging.ERROR)
    for slow in (False, True):
        log_request(at=AT, request_id="r", operation="search", status=200, code="ok", stages={}, slow=slow)
    assert lines(capsys) == []


def test_a_closed_stderr_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, _text: str) -> None:
            raise ValueError("I/O operation on closed file")

    monkeypatch.setattr(logs.sys, "stderr", Closed())
    JsonLines().emit(logging.makeLogRecord({"msg": "request"}))
    begin()
    log_request(at=AT, request_id="r", operation="search", status=200, code="ok", stages={}, slow=False)
