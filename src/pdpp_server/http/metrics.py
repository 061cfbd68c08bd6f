"""Counters and times in Prometheus text; labels are names of ours, never data."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextvars import ContextVar

BUCKETS_SECONDS = (0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
FRESH_MAX = 100  # requests whose times are not sorted into buckets yet
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Where the stages of the request at hand are collected; a thread that reads for it gets a copy of its context.
STAGES: ContextVar[dict[str, float] | None] = ContextVar("stages", default=None)


def watch(_request_id: str, _operation: str, seconds: dict[str, float]) -> None:
    """Note how long each stage of a read took, for whoever asked to know."""
    stages = STAGES.get()
    if stages is not None:
        stages.update(seconds)


class Histogram:
    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS_SECONDS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS_SECONDS, seconds)] += 1
        self.sum += seconds


class Metrics:
    """What this process has answered. Written on the event loop's thread only."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str]] = Counter()
        self._fresh: list[tuple[str, Mapping[str, float]]] = []
        self._stages: defaultdict[tuple[str, str], Histogram] = defaultdict(Histogram)
        self._owners: Counter[int] = Counter()
        self._owners_seconds: defaultdict[int, float] = defaultdict(float)

    def of_owner(self, number: int) -> "Metrics":
        """Where the requests of one of several owners are counted: with all others, and for them by their number."""
        return _OfOwner(self, number)

    def add_of_owner(self, number: int, seconds: float) -> None:
        self._owners[number] += 1
        self._owners_seconds[number] += seconds

    def forget_owner(self, number: int) -> None:
        self._owners.pop(number, None)
        self._owners_seconds.pop(number, None)

    def add(self, operation: str, code: str, stages: Mapping[str, float]) -> None:
        self._requests[operation, code] += 1
        self._fresh.append((operation, stages))
        if len(self._fresh) >= FRESH_MAX:
            self._sort_in()

    def _sort_in(self) -> None:
        """Many together take a third of the time that they take one by one, each between other work."""
        for operation, stages in self._fresh:
            for stage, seconds in stages.items():
                self._stages[operation, stage].add(seconds)
        self._fresh.clear()

    def text(self) -> str:
        self._sort_in()
        lines = (*self._request_lines(), *self._rejected_lines(), *self._owner_lines(), *self._stage_lines())
        return "\n".join((*lines, ""))

    def _request_lines(self) -> Iterator[str]:
        yield from _head(
            "pdpp_requests_total", "counter", "Requests by operation and by the code they were answered with."
        )
        for (operation, code), count in sorted(self._requests.items()):
            yield f'pdpp_requests_total{{operation="{operation}",code="{code}"}} {count}'

    def _rejected_lines(self) -> Iterator[str]:
        yield from _head("pdpp_rejected_total", "counter", "Requests that were refused.")
        yield f"pdpp_rejected_total {sum(count for (_, code), count in self._requests.items() if code != 'ok')}"

    def _owner_lines(self) -> Iterator[str]:
        """Only where there are several."""
        if not self._owners:
            return
        yield from _head("pdpp_owner_requests_total", "counter", "Requests by the number of the owner.")
        for number, count in sorted(self._owners.items()):
            yield f'pdpp_owner_requests_total{{owner="{number}"}} {count}'
        yield from _head("pdpp_owner_seconds_total", "counter", "Time spent on them.")
        for number, seconds in sorted(self._owners_seconds.items()):
            yield f'pdpp_owner_seconds_total{{owner="{number}"}} {seconds:.6f}'

    def _stage_lines(self) -> Iterator[str]:
        name = "pdpp_stage_seconds"
        yield from _head(name, "histogram", "Time spent in each stage of an operation.")
        for (operation, stage), histogram in sorted(self._stages.items()):
            labels = f'operation="{operation}",stage="{stage}"'
            reached = 0
            for bound, count in zip((*BUCKETS_SECONDS, "+Inf"), histogram.counts, strict=True):
                reached += count
                yield f'{name}_bucket{{{labels},le="{bound}"}} {reached}'
            yield f"{name}_sum{{{labels}}} {histogram.sum:.6f}"
            yield f"{name}_count{{{labels}}} {reached}"


class _OfOwner(Metrics):
    def __init__(self, whole: Metrics, number: int) -> None:
        super().__init__()
        self._whole, self._number = whole, number

    def add(self, operation: str, code: str, stages: Mapping[str, float]) -> None:
        self._whole.add(operation, code, stages)
        self._whole.add_of_owner(self._number, max(stages.values(), default=0.0))  # the longest is the whole

    def text(self) -> str:
        return self._whole.text()


def _head(name: str, kind: str, says: str) -> tuple[str, str]:
    return f"# HELP {name} {says}", f"# TYPE {name} {kind}"
