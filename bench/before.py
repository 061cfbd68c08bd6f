"""Another version of the sources beside this one: its searches, timed by themselves in a process of their own."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

CHILD = Path(__file__).with_name("before_child.py")


class Before:
    """The other version, waiting for questions."""

    def __init__(self, asked: IO[str], told: IO[str]) -> None:
        self._asked, self._told = asked, told

    def cpu_ms(self, question: str) -> float:
        self._asked.write(question + "\n")
        self._asked.flush()
        return float(self._told.readline())


@contextmanager
def before(sources: Path, home: Path, count: int) -> Generator[Before]:
    """`sources` is a folder with that version's src, bench and tests: `git archive VERSION | tar x -C FOLDER`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(sources / "src"), str(sources)])}
    command = (sys.executable, str(CHILD), str(home), str(count))
    with subprocess.Popen(
        command, cwd=sources, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdout.readline()  # it is ready
        yield Before(child.stdin, child.stdout)
        child.stdin.close()
