"""The process that reads attached files: it has little, and may break."""

import sys

import pytest

from pdpp_server.importers.attached.kinds import AttachedDocument
from pdpp_server.importers.attached.process import DocumentProcess
from tests.requirements import requirement


@pytest.mark.parametrize(
    ("program", "note"),
    [
        ("import time; time.sleep(600)", "It takes too long to read."),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "It takes too long to read."),
        ("import os; os.abort()", "The program that reads it broke down over it."),
        ("print('what is no answer')", "The program that reads it broke down over it."),
        ("raise SystemExit(3)", "The program that reads it broke down over it."),
    ],
)
@requirement("imp.attached.hostile")
def test_a_reader_that_hangs_or_breaks_costs_the_text_alone(program: str, note: str) -> None:
    reader = DocumentProcess((sys.executable, "-c", program), seconds=2.0 if "sleep" in program else 60.0)
    try:
        assert reader.document("plain", b"text") == AttachedDocument("", note)
        assert reader.document("plain", b"text") == AttachedDocument("", note)  # and a new one was started
    finally:
        reader.close()


_LIMITS = """
import os, resource, socket, sys
from pdpp_server.importers.attached import reader
reader._limit()
reader._limit_time()
bounds = {n: resource.getrlimit(getattr(resource, "RLIMIT_" + n))[0] for n in ("AS", "FSIZE", "NOFILE", "NPROC", "CPU")}
print(bounds, sorted(os.environ))
"""


@requirement("imp.attached.hostile")
def test_the_reader_has_little_and_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDPP_OWNER_TOKEN", "secret")
    reader = DocumentProcess((sys.executable, "-I", "-c", _LIMITS))
    process = reader._started()
    told, _ = process.communicate(timeout=60)
    bounds = eval(told.decode().partition("}")[0] + "}")  # noqa: S307
    reader.close()
    assert bounds["AS"] == 768 * 1024 * 1024
    assert (bounds["FSIZE"], bounds["NPROC"], bounds["NOFILE"]) == (0, 0, 64)
    assert 20 <= bounds["CPU"] <= 30
    assert b"PDPP" not in told
