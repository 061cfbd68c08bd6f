"""`python -m bench.search_cost`: what a search costs, case by case, beside bare FTS5 in the same run.

Processor time of the thread and wall time, medians, in milliseconds; bare FTS5 ranks all matches with bm25. BENCH_SIZES
says how many records (100000 unless told otherwise), BENCH_WORLDS names a folder in which worlds are kept for later.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

import apsw

from bench.world import SOURCE, VOCABULARY, fill, now
from pdpp_server.model.queries import AggregateQuery, Condition, RecordsQuery, SearchQuery
from pdpp_server.owner.desk import Owner
from pdpp_server.reads import aggregate, query_records, search
from pdpp_server.reads.services import Call, Services, open_services
from pdpp_server.wire.grants import decode_selection
from tests.worlds.told import told

SIZES = [int(size) for size in os.environ.get("BENCH_SIZES", "100000").split(",")]
ROUNDS = 9
GRANTS: dict[str, dict[str, Any]] = {
    "whole": {},
    "recent": {"time_range": {"since": "2024-12-31T00:00:00Z"}},  # nine tenths are hidden
    "timeless": {"fields": ["id", "subject", "text", "sender", "room"]},
}
SENDER = (Condition("sender", "eq", "person7"),)
MONTH = (Condition("sent_at", "gte", "2020-05-01T00:00:00Z"), Condition("sent_at", "lt", "2020-06-01T00:00:00Z"))
PLACES = (2, 6, 15, 40, 90, 200, 500, 1000, 3000)  # in the vocabulary, from the commonest on: the words of a sentence

_BARE = "select rowid, bm25(words) from words where words match ? order by 2 limit 25"
_HOLDING = "select count(*) from words where words match ?"
_INDEX_BYTES = "select sum(pgsize) from dbstat where name like 'words%'"


@dataclass(frozen=True, slots=True)
class CostCase:
    name: str
    grant: str
    query: SearchQuery | AggregateQuery | RecordsQuery
    bare: str | None = None  # the same for FTS5, where it can be asked


def cases(bare: Any, count: int) -> Iterator[CostCase]:
    holding: dict[str, int] = {word: bare.execute(_HOLDING, (_quoted(word),)).get for word in VOCABULARY[:400]}
    often, another = sorted(holding, key=lambda word: abs(holding[word] - count // 20))[:2]
    everywhere = min(holding, key=lambda word: abs(holding[word] - count * 3 // 10))
    sentence = [VOCABULARY[place] for place in PLACES]
    phrase = f'"{VOCABULARY[3]} {VOCABULARY[9]}"'
    for name, words in {
        "rare word": ["rare77"],
        "word in 5 %": [often],
        "word in 30 %": [everywhere],
        "two words in 5 %": [often, another],
        "sentence of nine words": sentence,
    }.items():
        yield CostCase(name, "whole", _asked(" ".join(words)), " OR ".join(map(_quoted, words)))
    yield CostCase("phrase", "whole", _asked(phrase), phrase)
    yield CostCase("prefix of three letters", "whole", _asked(f"{VOCABULARY[6][:3]}*"))
    yield CostCase("rare word, 90 % hidden by time", "recent", _asked("rare77"))
    yield CostCase("word in 5 %, the time hidden", "timeless", _asked(often))
    yield CostCase("word in 5 %, of one sender", "whole", _asked(often, SENDER))
    yield CostCase("word in 5 %, in one month", "whole", _asked(often, MONTH))
    yield CostCase("number of one sender", "whole", AggregateQuery("messages", conditions=SENDER))
    yield CostCase("page of one sender, exact count", "whole", RecordsQuery("messages", conditions=SENDER, count=True))


def _asked(text: str, conditions: tuple[Condition, ...] = ()) -> SearchQuery:
    return SearchQuery(text, ("messages",), limit=10, conditions=conditions)


def _quoted(word: str) -> str:
    return f'"{word}"'


def costs(home: Path, count: int) -> Mapping[str, Mapping[str, float]]:
    services = open_services(home, now=now)
    try:
        if not any(connection.streams for connection in _layout(services)):
            fill(services, home, count)
        tokens = {name: _token(services, home, narrowing) for name, narrowing in GRANTS.items()}
        bare: Any = apsw.Connection(str(home / "pdpp.sqlite"))
        bare.execute("pragma cache_size = -32000")
        found = {case.name: _cost(services, bare, tokens, case) for case in cases(bare, count)}
        found["index, bytes a record"] = {"bytes": bare.execute(_INDEX_BYTES).get / count}
        bare.close()
        return found
    finally:
        services.close()


def _layout(services: Services) -> list[Any]:
    with services.database.reading() as reading:
        return list(reading.layout.connections.values())


def _token(services: Services, home: Path, narrowing: dict[str, Any]) -> str:
    details = {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": SOURCE},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
        "streams": [{"name": "messages", **narrowing}],
    }
    return Owner(services, home).create_grant(decode_selection([details]), "bench", None).token


def _cost(services: Services, bare: Any, tokens: Mapping[str, str], case: CostCase) -> Mapping[str, float]:
    call = Call(tokens[case.grant], "req_bench")

    def ours() -> None:
        match case.query:
            case SearchQuery():
                told(search.serve(services, call, case.query))
            case AggregateQuery():
                told(aggregate.serve(services, call, case.query))
            case RecordsQuery():
                told(query_records.serve(services, call, case.query))

    def floor() -> None:
        bare.execute(_BARE, (case.bare,)).fetchall()

    works: Sequence[Callable[[], None]] = (ours, floor) if case.bare else (ours,)
    taken: dict[Callable[[], None], list[tuple[float, float]]] = {work: [] for work in works}
    for round_ in range(ROUNDS + 1):  # the first of each is not counted: it fills caches
        for work in works:
            cpu, wall = thread_time(), perf_counter()
            work()
            if round_:
                taken[work].append((thread_time() - cpu, perf_counter() - wall))
    numbers = {
        "cpu_ms": median([cpu for cpu, _ in taken[ours]]) * 1e3,
        "wall_ms": median([wall for _, wall in taken[ours]]) * 1e3,
    }
    if case.bare:
        numbers["bare_cpu_ms"] = median([cpu for cpu, _ in taken[floor]]) * 1e3
        numbers["ratio"] = numbers["cpu_ms"] / numbers["bare_cpu_ms"]
    return numbers


def table(size: int, found: Mapping[str, Mapping[str, float]]) -> str:
    lines = [f"| {size:,} records | CPU ms | wall ms | bare FTS5 ms | ratio |", "|---|---|---|---|---|"]
    for name, numbers in found.items():
        if "bytes" in numbers:
            lines.append(f"| {name} | {numbers['bytes']:.0f} | | | |")
            continue
        told_of = [
            f"{numbers[key]:.2f}" if key in numbers else "" for key in ("cpu_ms", "wall_ms", "bare_cpu_ms", "ratio")
        ]
        lines.append(f"| {name} | {' | '.join(told_of)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    kept = os.environ.get("BENCH_WORLDS")
    for size in SIZES:
        folder = Path(kept) / str(size) if kept else Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
        folder.mkdir(parents=True, exist_ok=True)
        try:
            print(table(size, costs(folder, size)), flush=True)
        finally:
            if not kept:
                shutil.rmtree(folder)
