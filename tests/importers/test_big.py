"""An export larger than memory: what an import holds at a time does not grow with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.requirements import requirement
from tests.scenarios.cli.command import ROOT

MESSAGES = 2_000, 20_000
BODY = "".join(f"A line of text, number {n}, as long as lines of mail are.\n" for n in range(900))  # about 50 kB
ALLOWANCE_KB = 40_000
IMPORTING = """
import resource, sys
from pathlib import Path
from pdpp_server.cli.main import _run
code = _run(["import", sys.argv[1], "--zone", "UTC", "--json"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
sys.exit(code)
"""


def mbox(path: Path, count: int) -> Path:
    with path.open("w", encoding="ascii") as file:
        for n in range(count):
            head = f"From: a{n}@example.org\nMessage-ID: <{n}@example.org>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n"
            file.write(f"From a@example.org Mon Jan  1 00:00:00 2024\n{head}Subject: s{n}\n\n{BODY}\n")
    return path


def peak_kb(folder: Path, count: int) -> int:
    path = mbox(folder / f"{count}.mbox", count)
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, str(path)], cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PDPP_HOME": str(folder / f"home{count}")},
    )  # fmt: skip
    path.unlink()
    return int(done.stdout.splitlines()[-1])


@pytest.mark.soak
@requirement("imp.files.big")
def test_a_gigabyte_of_mail_needs_no_more_memory_than_a_tenth_of_it(tmp_path: Path) -> None:
    small, big = (peak_kb(tmp_path, count) for count in MESSAGES)

    assert big < small + ALLOWANCE_KB
