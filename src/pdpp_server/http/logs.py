"""Access logs: one JSON line on stderr for each request; never the words of a query, never the text of a record."""

import logging
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from pdpp_server.model.ingest import Delivered
from pdpp_server.model.times import iso_micros

LOGGER = logging.getLogger("pdpp_server.access")


class JsonLines(logging.Handler):
    """Writes to whatever stderr is now; a closed one must not cost an answer."""

    def emit(self, record: logging.LogRecord) -> None:
        members: Mapping[str, Any] = getattr(record, "members", {})
        at = iso_micros(int(record.created * 1_000_000))
        self.write(at, record.levelname.lower(), record.getMessage(), members)

    def write(self, at: str, level: str, event: str, members: Mapping[str, Any]) -> None:
        line = {"at": at, "level": level, "event": event, **members}
        try:  # noqa: SIM105 - every request has a line, and `suppress` takes longer than to make it
            sys.stderr.write(orjson.dumps(line).decode() + "\n")
        except (OSError, ValueError):
            pass


LINES = JsonLines()


def write_to_stderr() -> None:
    """Send our lines to stderr, once, and to no other handler. No line says which thread or process wrote it, so
    nobody looks for that."""
    LOGGER.addHandler(LINES)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def log_request(
    *, at: str, request_id: str, operation: str, status: int, code: str, stages: Mapping[str, float], slow: bool
) -> None:
    level = logging.WARNING if slow else logging.INFO
    if not LOGGER.isEnabledFor(level):
        return
    event = f"slow {operation}" if slow else "request"
    taken = {f"{stage}_ms": round(seconds * 1_000_000) / 1000 for stage, seconds in stages.items()}
    members = {"request_id": request_id, "operation": operation, "status": status, "code": code, **taken}
    if LOGGER.handlers == [LINES]:  # as in every server: nobody else wants a record of it, and making one is dear
        LINES.write(at, "warning" if slow else "info", event, members)
    else:
        LOGGER.log(level, event, extra={"members": members})


def log_delivery(request_id: str, run_id: str | None, delivered: Delivered) -> None:
    counts = {"accepted": delivered.accepted, "rejected": len(delivered.refused)}
    members = {"request_id": request_id, "run_id": run_id, "stream": delivered.stream, **counts}
    LOGGER.info("delivery", extra={"members": members})


def log_bug(bug: BaseException, request_id: str) -> None:
    """Where it happened and of what kind; its message may hold data, so it stays out."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(bug.__traceback__)]
    members: dict[str, Any] = {"request_id": request_id, "kind": type(bug).__name__, "places": places}
    LOGGER.error("bug", extra={"members": members})
