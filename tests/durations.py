"""How long each test file took when it last ran here: `make quick` chooses by it."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

KEPT = Path(".pytest_cache") / "seconds-by-file.json"


def seconds_by_file(root: Path) -> dict[str, float]:
    try:
        return json.loads((root / KEPT).read_text("utf-8"))
    except (OSError, ValueError):
        return {}


class Durations:
    """A plugin of pytest. Of files that were run in part, the longest time is kept."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return  # the process that started the workers hears of every test
        kept = seconds_by_file(session.config.rootpath)
        longest = {name: round(max(seconds, kept.get(name, 0)), 2) for name, seconds in self._seconds.items()}
        path = session.config.rootpath / KEPT
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(kept | longest, indent=0, sort_keys=True), "utf-8")
