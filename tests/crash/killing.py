"""Start a process, listen to where it is, and kill it there."""

import os
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import monotonic

ROOT = Path(__file__).parents[2]
SECONDS = 60
COMMIT_MICROSECONDS, MICROSECONDS_MAX = 120, 400

BEGIN, COMMIT, UNDO, FOLD, INSIDE, OUTSIDE, DONE = b"(", b")", b"!", b"k", b"-", b".", b"+"


@dataclass(frozen=True, slots=True)
class Moment:
    """When to kill: where the process stands still after so many bytes, or some microseconds after it goes on there."""

    points: int
    microseconds: int | None = None

    @classmethod
    def drawn(cls, random: Random, said: bytes) -> "Moment":
        """Of a process that said this when nobody killed it; commits and checkpoints are short, so they get more."""
        short = [at for at, point in enumerate(said, start=1) if bytes([point]) in {COMMIT, FOLD}]
        if short and random.random() < 0.5:
            return cls(random.choice(short), random.randint(0, COMMIT_MICROSECONDS))
        return cls(random.randint(1, len(said)), random.choice([None, random.randint(0, MICROSECONDS_MAX)]))


@dataclass(frozen=True, slots=True)
class Run:
    """What a process said until it ended; the pipe outlives it, so that nothing is missing."""

    said: bytes
    was_killed: bool
    err: str

    @property
    def done(self) -> int:
        return self.said.count(DONE)

    @property
    def where(self) -> str:
        """In which part of a transaction it ended."""
        if not self.was_killed:
            return "ran to its end"
        if self.said.endswith(COMMIT):
            return "in a commit"
        if self.said.endswith(FOLD):
            return "in a checkpoint"
        last = max(self.said.rfind(point) for point in (BEGIN, COMMIT, UNDO))
        return "in a transaction" if self.said[last : last + 1] == BEGIN else "between transactions"


class Child:
    """A process of `tests.crash.child` and the end of its pipe."""

    def __init__(self, home: Path, work: str, *arguments: str | Path, halt: int = 0) -> None:
        self._pipe, theirs = os.pipe()
        words = [str(theirs), str(halt), str(home), work, *map(str, arguments)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.child", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            pass_fds=[theirs],
        )
        os.close(theirs)
        self.said = b""

    def listen(self, points: int) -> bool:
        """Until it has said so much; false when it ended before."""
        end = monotonic() + SECONDS
        while len(self.said) < points:
            if not self._hear(end - monotonic()):
                return False
        return True

    def _hear(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._pipe], [], [], max(0, seconds))
        assert ready, f"It said nothing for {SECONDS} s."
        more = os.read(self._pipe, 65_536)
        self.said += more
        return bool(more)

    def run_on(self, microseconds: int) -> None:
        """Listen for that long, and no longer."""
        end = monotonic() + microseconds / 1_000_000
        while (rest := end - monotonic()) > 0:
            if select.select([self._pipe], [], [], rest)[0]:
                more = os.read(self._pipe, 65_536)
                if not more:
                    return
                self.said += more

    def go_on(self) -> None:
        """Where it stands still."""
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self, moment: Moment) -> Run:
        """At that moment, unless it ended by itself before."""
        if self.listen(moment.points) and moment.microseconds is not None:
            self.go_on()
            self.run_on(moment.microseconds)
        self.process.kill()
        return self.end()

    def end(self) -> Run:
        """All that it said."""
        while self._hear(SECONDS):
            pass
        os.close(self._pipe)
        _, err = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode in {0, -9}, err
        return Run(self.said, self.process.returncode == -9, err)


def killed(moment: Moment, home: Path, work: str, *arguments: str | Path) -> Run:
    return Child(home, work, *arguments, halt=moment.points).kill(moment)


def undisturbed(home: Path, work: str, *arguments: str | Path) -> Run:
    return Child(home, work, *arguments).end()
