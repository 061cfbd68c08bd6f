"""Access logs: one JSON line on stderr for each request; never the words of a query, never the text of a record."""

import logging
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from pdpp_server.model.ingest import Delivered
from pdpp_server.model.times import iso_micros

LOGGER = logging.getLogger("pdpp_server.access")


class JsonLines(logging.Handler):
    """Writes to whatever stderr is now; a closed one must not cost an answer."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):
            sys.stderr.write(self.format(record) + "\n")

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": iso_micros(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "members", {}),
        }
        return orjson.dumps(line).decode()


def write_to_stderr() -> None:
    """Send our lines to stderr, once, and to no other handler. No line says which thread or process wrote it, so
    nobody looks for that."""
    if not any(isinstance(handler, JsonLines) for handler in LOGGER.handlers):
        LOGGER.addHandler(JsonLines())
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def log_request(
    *, request_id: str, operation: str, status: int, code: str, stages: Mapping[str, float], slow: bool
) -> None:
    members = {
        "request_id": request_id,
        "operation": operation,
        "status": status,
        "code": code,
        **{f"{stage}_ms": round(seconds * 1000, 3) for stage, seconds in stages.items()},
    }
    level, event = (logging.WARNING, f"slow {operation}") if slow else (logging.INFO, "request")
    if LOGGER.isEnabledFor(level):  # made by hand: nobody needs to know which line of ours wrote it, and asking is dear
        LOGGER.handle(LOGGER.makeRecord(LOGGER.name, level, "", 0, event, (), None, extra={"members": members}))


def log_delivery(request_id: str, run_id: str | None, delivered: Delivered) -> None:
    counts = {"accepted": delivered.accepted, "rejected": len(delivered.refused)}
    members = {"request_id": request_id, "run_id": run_id, "stream": delivered.stream, **counts}
    LOGGER.info("delivery", extra={"members": members})


def log_bug(bug: BaseException, request_id: str) -> None:
    """Where it happened and of what kind; its message may hold data, so it stays out."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(bug.__traceback__)]
    members: dict[str, Any] = {"request_id": request_id, "kind": type(bug).__name__, "places": places}
    LOGGER.error("bug", extra={"members": members})
