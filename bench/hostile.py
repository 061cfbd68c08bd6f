"""`python -m bench.hostile`: what hostile clients can do with time.

How much does a read work past its deadline? How long does another client wait while four loops of one token ask for
as much as they can? Does the time of a read tell of what only hidden rows hold? For the last, what stands in 100,000
hidden rows and in no visible one is asked for in turn with what stands nowhere, through the tools, and medians of
the processor time are compared.
"""

import os
import random
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from itertools import count, islice
from pathlib import Path
from statistics import median, quantiles
from time import clock_gettime, perf_counter, pthread_getcpuclockid, sleep, thread_time
from typing import Any
from urllib.parse import quote

from bench.clock import timed
from bench.hosted import serving
from bench.world import EVERYWHERE, VOCABULARY, World, build, now
from pdpp_server.errors import QueryTimeout
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.queries import SearchQuery
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads import search
from pdpp_server.reads.services import Call, Services, open_services
from pdpp_server.store.opened import open_database
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection

HIDDEN = int(os.environ.get("BENCH_HIDDEN", "100000"))
VISIBLE = 2000
NAMED = 50
LIKENESS = 1.2  # hidden against absent, at the most
PAST_MS, WAIT_RATIO = 50, 5
DEADLINE_SECONDS = 0.05
QUERIES, LOOPS = 1000, 4

SOURCE = "https://registry.pdpp.dev/connectors/bench-hidden"
_TEXT = {"type": "string"}
_LETTERS = {
    "name": "letters",
    "semantics": "mutable_state",
    "schema": {
        "type": "object",
        "properties": {
            "id": _TEXT,
            "text": _TEXT,
            "aside": _TEXT,
            "reply": _TEXT,
            "place": _TEXT,
            "amount": {"type": "integer"},
            "sent_at": {"type": "string", "format": "date-time"},
        },
    },
    "primary_key": ["id"],
    "cursor_field": "sent_at",
    "consent_time_field": "sent_at",
    "selection": {"fields": True, "resources": True},
    "query": {
        "range_filters": {"sent_at": ["gte", "lt"], "amount": ["gte", "lt"]},
        "search": {"lexical_fields": ["text", "aside"]},
        "aggregations": {"count": True, "group_by": ["reply"]},
    },
}
DECLARATION = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": SOURCE},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Bench hidden"},
    "streams": [_LETTERS, {**_LETTERS, "name": "notes"}],
}
FIELDS = ["id", "text", "reply", "place", "amount", "sent_at"]
GRANTS: dict[str, dict[str, Any]] = {
    "stream": {"name": "notes"},
    "time": {"name": "letters", "time_range": {"since": "2020-01-01T00:00:00Z"}},
    "named": {"name": "letters", "resources": [f"v{i * 7}" for i in range(NAMED)]},
    "field": {"name": "letters", "fields": FIELDS},
}
BEFORE, SINCE = datetime(2016, 1, 1, tzinfo=UTC), datetime(2020, 6, 1, tzinfo=UTC)


def _letters(number: int, prefix: str, start: datetime, *, is_hidden: bool) -> Iterator[dict[str, Any]]:
    rng = random.Random(prefix)
    for i in range(number):
        words = rng.choices(VOCABULARY, k=10)
        if is_hidden:
            words += ["zebrafish", "quarry", f"quarkling{i % 1000}"]
        elif i % 10 == 0:
            words += ["quail", "xylem"]
        yield {
            "id": f"{prefix}{i}",
            "text": " ".join(words),
            "aside": "secretly" if is_hidden else "openly",
            "reply": "h1" if is_hidden else f"r{i % 40}",
            "place": "h1" if is_hidden else f"r{i % 40}",
            "amount": 500 + i % 500 if is_hidden else i % 100,
            "sent_at": (start + i * timedelta(days=1000) / number).isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Hiding:
    """A home in which most is hidden, and a token for each way of hiding it."""

    home: Path
    services: Services
    tokens: dict[str, str]

    def close(self) -> None:
        self.services.close()
        shutil.rmtree(self.home)


def hiding() -> Hiding:
    home = Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
    services = open_services(home, now=now)
    owner = Owner(services, home)
    writer = owner.writer(decode_declaration(DECLARATION), "Bench")
    told = {
        "notes": [_letters(VISIBLE, "v", SINCE, is_hidden=False)],
        "letters": [
            _letters(HIDDEN, "h", BEFORE, is_hidden=True),
            _letters(VISIBLE, "v", SINCE, is_hidden=False),
        ],
    }
    for stream, lives in told.items():
        for life in lives:
            incoming = (Incoming(str(i), stream, None, data, None) for i, data in enumerate(life))
            while batch := list(islice(incoming, 2000)):
                writer.deliver(batch)
    writer.finish("bench", ())
    detail = {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": SOURCE},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
    }
    tokens = {
        name: owner.create_grant(decode_selection([{**detail, "streams": [stream]}]), name, None).token
        for name, stream in GRANTS.items()
    }
    return Hiding(home, services, tokens)


Asked = tuple[str, dict[str, Any]]  # a tool and its arguments: the least that a client can measure


def _search(words: str) -> Asked:
    return "search", {"query": words}


def _filtered(words: str, **filter: Any) -> Asked:
    return "search", {"query": words, "streams": ["letters"], "filter": filter}


def _between(least: Any, most: Any) -> dict[str, Any]:
    return {"gte": least, "lt": most}


# What only hidden rows hold, and the same of what stands nowhere.
PAIRS: dict[str, tuple[Asked, Asked]] = {
    "word": (_search("zebrafish"), _search("wombatfish")),
    "another_word": (_search("quarry"), _search("gopher")),
    "words": (_search("zebrafish quarry -openly"), _search("wombatfish gopher -openly")),
    "phrase": (_search('"zebrafish quarry"'), _search('"wombatfish gopher"')),
    "prefix": (_search("zeb*"), _search("wom*")),
    "prefix_long": (_search("zebra*"), _search("womba*")),
    "prefix_beside": (_search("quark*"), _search("xylop*")),
    "prefixes": (
        _search("zebra* quarr* quarkl* quarkling7*"),
        _search("womba* xyloph* xylophon* xylogr*"),
    ),
    "filter": (_filtered("quail", reply="h1"), _filtered("quail", reply="n1")),
    "filter_plain": (_filtered("quail", place="h1"), _filtered("quail", place="n1")),
    "filter_word": (_filtered("zebrafish", reply="r1"), _filtered("wombatfish", reply="r1")),
    "filter_range": (
        _filtered("quail", amount=_between(500, 1000)),
        _filtered("quail", amount=_between(2000, 3000)),
    ),
    "filter_time": (
        _filtered("quail", sent_at=_between("2016-01-01T00:00:00Z", "2019-01-01T00:00:00Z")),
        _filtered("quail", sent_at=_between("2013-01-01T00:00:00Z", "2015-01-01T00:00:00Z")),
    ),
    "page": (
        ("query_records", {"stream": "letters", "filter": {"reply": "h1"}, "count": "exact"}),
        ("query_records", {"stream": "letters", "filter": {"reply": "n1"}, "count": "exact"}),
    ),
    "count": (
        ("aggregate", {"stream": "letters", "metric": "count", "filter": {"reply": "h1"}}),
        ("aggregate", {"stream": "letters", "metric": "count", "filter": {"reply": "n1"}}),
    ),
}
IN_FIELDS: dict[str, tuple[Asked, Asked]] = {"word": (_search("secretly"), _search("wombatfish"))}
HIDES_NO_ROW = ("filter", "filter_plain", "filter_word", "filter_range", "filter_time", "page", "count")


def likeness(world: Hiding, rounds: int = 25) -> dict[str, float]:
    """Hidden against absent, for each way of hiding and each way of asking."""
    numbers: dict[str, float] = {}
    for hidden_by, token in world.tokens.items():
        pairs = IN_FIELDS if hidden_by == "field" else PAIRS
        for name, pair in pairs.items():
            if hidden_by == "stream" and name in HIDES_NO_ROW:
                continue
            hidden, absent = (_asking(world.services, token, asked) for asked in pair)
            numbers |= _compared(f"{hidden_by}_{name}", hidden, absent, rounds)
    return numbers


def _asking(services: Services, token: str, asked: Asked) -> Callable[[], object]:
    reader = LocalReader(services, token)

    def ask() -> None:
        answer = _SERVER.call(lambda: reader, *asked)
        assert b'"isError":true' not in answer, answer

    return ask


def _raise(error: Exception, _request_id: str) -> None:
    raise error


_SERVER = McpServer(TOOLS, _raise)


def _compared(name: str, hidden: Callable[[], object], absent: Callable[[], object], rounds: int) -> dict[str, float]:
    timed(hidden, 3)
    timed(absent, 3)
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, times in zip((hidden, absent), taken, strict=True):
            times += timed(work, 4, thread_time)  # of the processor: others use this machine too
    mine, theirs = (median(times) for times in taken)
    return {f"hidden_{name}": mine / theirs, f"absent_{name}_ms": theirs * 1e3}


# Past the deadline ------------------------------------------------------------------------------------------------


def hostile_queries(seed: int = 3) -> Iterator[str]:
    """Whatever a query may hold that makes a search work long."""
    rng = random.Random(seed)
    heads = sorted({word[:3] for word in VOCABULARY})
    while True:
        prefixes = [f"{head}*" for head in rng.sample(heads, 4)]
        words = [EVERYWHERE, *rng.choices(VOCABULARY[:300], k=18)]
        phrases = [f'"{rng.choice(VOCABULARY[:40])} {rng.choice(VOCABULARY[:40])}"']
        minus = [f"-{rng.choice(VOCABULARY[:40])}"] if rng.random() < 0.5 else []
        parts = prefixes + words + phrases
        rng.shuffle(parts)
        yield " ".join(parts + minus)


def past_deadline(world: World) -> dict[str, float]:
    """Processor time that a thread spends on a query after its deadline."""
    services = open_services(world.home, now=now, database=open_database(world.home, read_seconds=DEADLINE_SECONDS))
    past: list[float] = []
    late = 0
    try:
        with ThreadPoolExecutor(1) as reader:
            ident = reader.submit(threading.get_ident).result()
            clock = pthread_getcpuclockid(ident)
            for text in islice(hostile_queries(), QUERIES):
                begun = perf_counter()
                asked = reader.submit(_refused, services, world.token, text)
                with suppress(TimeoutError):
                    asked.exception(timeout=max(0.0, begun + DEADLINE_SECONDS - perf_counter()))
                before = clock_gettime(clock)
                late += asked.result()
                past.append(max(0.0, clock_gettime(clock) - before))
    finally:
        services.close()
    cuts = quantiles(past, n=100)
    return {
        "past_deadline_p50_ms": cuts[49] * 1e3,
        "past_deadline_p99_ms": cuts[98] * 1e3,
        "refused_share": late / QUERIES,
    }


def _refused(services: Services, token: str, text: str) -> bool:
    try:
        search.serve(services, Call(token, "req_bench"), SearchQuery(text))
    except QueryTimeout:
        return True
    return False


# Another client ---------------------------------------------------------------------------------------------------


def waiting(world: World, asked: int = 300) -> dict[str, float]:
    """How long a second client's searches take alone, and while four loops of another token ask for all they can."""
    owner = Owner(world.services, world.home)
    other = owner.create_grant(decode_selection([_all_of(world)]), "other", None).token
    with serving("ours", world.home) as port:
        idle = _asked(port, other, asked)
        ended = threading.Event()
        loops = [threading.Thread(target=_loop, args=(port, world.token, number, ended)) for number in range(LOOPS)]
        for loop in loops:
            loop.start()
        sleep(0.5)
        busy = _asked(port, other, asked)
        ended.set()
        for loop in loops:
            loop.join()
    alone, beside = quantiles(idle, n=20)[18], quantiles(busy, n=20)[18]
    return {"other_idle_p95_ms": alone * 1e3, "other_busy_p95_ms": beside * 1e3, "other_wait_ratio": beside / alone}


def _all_of(world: World) -> dict[str, Any]:
    return {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": "https://registry.pdpp.dev/connectors/bench-chat"},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
        "streams": [{"name": "messages"}],
    }


def _asked(port: int, token: str, times: int) -> list[float]:
    client, turn = HTTPConnection("127.0.0.1", port), count()

    def ask() -> None:
        _get(client, token, f"rare{next(turn) % 1000}")

    try:
        return timed(ask, times)
    finally:
        client.close()


def _loop(port: int, token: str, number: int, ended: threading.Event) -> None:
    client = HTTPConnection("127.0.0.1", port)
    for text in hostile_queries(seed=number):
        if ended.is_set():
            break
        _get(client, token, text)
    client.close()


def _get(client: HTTPConnection, token: str, text: str) -> None:
    client.request("GET", f"/v1/search?q={quote(text)}", headers={"Authorization": f"Bearer {token}"})
    answer = client.getresponse()
    answer.read()
    assert answer.status in (200, 503), answer.status


REACH = {"past_deadline_p99_ms": PAST_MS, "other_wait_ratio": WAIT_RATIO}


def _print(numbers: dict[str, float]) -> None:
    for key, value in numbers.items():
        reach = REACH.get(key, LIKENESS if key.startswith("hidden_") and "field" not in key else None)
        print(
            f"| `{key}` | {value:,.3g} | " + (f"<= {reach} | {'yes' if value <= reach else 'NO'} |" if reach else "| |")
        )


def main(parts: list[str]) -> None:
    print("| key | measured | reach | holds |\n|---|---|---|---|")
    if not parts or "hidden" in parts:
        hidden = hiding()
        try:
            _print(likeness(hidden))
        finally:
            hidden.close()
    if not parts or {"deadline", "others"} & {*parts}:
        world = build(HIDDEN)
        try:
            if not parts or "deadline" in parts:
                _print(past_deadline(world))
            if not parts or "others" in parts:
                _print(waiting(world))
        finally:
            world.close()


if __name__ == "__main__":
    main(sys.argv[1:])
