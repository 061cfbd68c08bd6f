"""`python -m bench.search_cost`: what a search costs, case by case, beside bare FTS5 and tantivy in the same run.

Processor time of the thread and wall time, medians, in milliseconds. Bare FTS5 ranks all matches with bm25; tantivy
ranks them in its own way; neither knows of grants, excerpts or neighbours. `--worlds FOLDER` keeps the homes that it
makes for the next time, `--before SOURCES` measures another version in turns (`git archive VERSION | tar x -C DIR`),
and `--chart FILE` draws what was measured.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import Any

import apsw

from bench.before import Before, before
from bench.chart import bars
from bench.rivals import Tantivy
from bench.world import PATIENCE, SOURCE, VOCABULARY, fill, now
from pdpp_server.model.queries import AggregateQuery, Condition, RecordsQuery, SearchQuery
from pdpp_server.owner.desk import Owner
from pdpp_server.reads import aggregate, query_records, search
from pdpp_server.reads.services import Call, Services, open_services
from pdpp_server.store.opened import open_database
from pdpp_server.wire.grants import decode_selection
from tests.worlds.told import told

ROUNDS = 9
GRANTS: dict[str, dict[str, Any]] = {
    "whole": {},
    "recent": {"time_range": {"since": "2024-12-31T00:00:00Z"}},  # nine tenths are hidden
    "timeless": {"fields": ["id", "subject", "text", "sender", "room"]},
}
SENDER = (Condition("sender", "eq", "person7"),)
MONTH = (Condition("sent_at", "gte", "2020-05-01T00:00:00Z"), Condition("sent_at", "lt", "2020-06-01T00:00:00Z"))
PLACES = (2, 6, 15, 40, 90, 200, 500, 1000, 3000)  # in the vocabulary, from the commonest on: the words of a sentence

RARE, OFTEN, EVERYWHERE, TWO = "rare word", "word in 5 %", "word in 30 %", "two words in 5 %"
SENTENCE, PHRASE, PREFIX = "sentence of nine words", "phrase", "prefix of three letters"
WIDE = "prefix of thousands of words"
HIDDEN, TIMELESS = "rare word, 90 % hidden by time", "word in 5 %, the time hidden"
OF_SENDER, IN_MONTH = "word in 5 %, of one sender", "word in 5 %, in one month"
NUMBER, EXACT = "number of one sender", "page of one sender, exact count"
INDEX = "index, bytes a record"
OURS, BARE, RIVAL, EARLIER = "CPU ms", "bare FTS5", "tantivy", "before"

_BARE = "select rowid, bm25(words) from words where words match ? order by 2 limit 25"
_HOLDING = "select count(*) from words where words match ?"
_INDEX_BYTES = "select sum(pgsize) from dbstat where name like 'words%'"

Numbers = Mapping[str, float]  # of one case, by column
Costs = Mapping[str, Numbers]  # by case


@dataclass(frozen=True, slots=True)
class CostCase:
    name: str
    grant: str
    query: SearchQuery | AggregateQuery | RecordsQuery
    words: tuple[str, ...] = ()  # the same for others, where they can be asked


def cases(bare: Any, count: int) -> Iterator[CostCase]:
    holding: dict[str, int] = {word: bare.execute(_HOLDING, (_quoted(word),)).get for word in VOCABULARY[:400]}
    often, another = sorted(holding, key=lambda word: abs(holding[word] - count // 20))[:2]
    everywhere = min(holding, key=lambda word: abs(holding[word] - count * 3 // 10))
    asked = {RARE: ["rare77"], OFTEN: [often], EVERYWHERE: [everywhere], TWO: [often, another]}
    asked[SENTENCE] = [VOCABULARY[place] for place in PLACES]
    for name, words in asked.items():
        yield CostCase(name, "whole", _asked(" ".join(words)), tuple(words))
    phrase = f"{VOCABULARY[3]} {VOCABULARY[9]}"
    yield CostCase(PHRASE, "whole", _asked(_quoted(phrase)), (phrase,))
    yield CostCase(PREFIX, "whole", _asked(f"{VOCABULARY[6][:3]}*"))
    yield CostCase(WIDE, "whole", _asked("rare*"))
    yield CostCase(HIDDEN, "recent", _asked("rare77"))
    yield CostCase(TIMELESS, "timeless", _asked(often))
    yield CostCase(OF_SENDER, "whole", _asked(often, SENDER))
    yield CostCase(IN_MONTH, "whole", _asked(often, MONTH))
    yield CostCase(NUMBER, "whole", AggregateQuery("messages", conditions=SENDER))
    yield CostCase(EXACT, "whole", RecordsQuery("messages", conditions=SENDER, count=True))


def _asked(text: str, conditions: tuple[Condition, ...] = ()) -> SearchQuery:
    return SearchQuery(text, ("messages",), limit=10, conditions=conditions)


def _quoted(word: str) -> str:
    return f'"{word}"'


def costs(world: Path, count: int, sources: Path | None) -> Costs:
    home = world / "now"
    home.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        services = open_services(home, now=now, database=open_database(home, read_seconds=PATIENCE))
        stack.callback(services.close)
        if not is_filled(services):
            fill(services, home, count)
        tokens = {name: token_of(services, home, narrowing) for name, narrowing in GRANTS.items()}
        bare: Any = stack.enter_context(apsw.Connection(str(home / "pdpp.sqlite")))
        bare.execute("pragma cache_size = -32000")
        rival = Tantivy(world / "tantivy", count)
        earlier = stack.enter_context(before(sources, world / "before", count)) if sources else None
        measured = Measured(services, bare, rival, earlier, tokens)
        found = {case.name: measured.cost(case) for case in cases(bare, count)}
        return {**found, INDEX: {OURS: bare.execute(_INDEX_BYTES).get / count}}


def is_filled(services: Services) -> bool:
    with services.database.reading() as reading:
        return any(connection.streams for connection in reading.layout.connections.values())


def token_of(services: Services, home: Path, narrowing: dict[str, Any]) -> str:
    details = {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": SOURCE},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
        "streams": [{"name": "messages", **narrowing}],
    }
    return Owner(services, home).create_grant(decode_selection([details]), "bench", None).token


@dataclass(frozen=True, slots=True)
class Measured:
    """One home, and what stands beside it."""

    services: Services
    bare: Any
    rival: Tantivy
    earlier: Before | None
    tokens: Mapping[str, str]

    def cost(self, case: CostCase) -> Numbers:
        """All take turns, so that a slow moment of the machine falls on each. The first of each fills caches and is not
        counted."""
        works = self._works(case)
        taken: dict[str, list[float]] = {name: [] for name in works}
        walls: list[float] = []
        for round_ in range(ROUNDS + 1):
            for name, work in works.items():
                start = perf_counter()
                cpu = work()
                if round_:
                    taken[name].append(cpu)
                    walls += [(perf_counter() - start) * 1e3] if name == OURS else []
        return {**{name: median(of_work) for name, of_work in taken.items()}, "wall ms": median(walls)}

    def _works(self, case: CostCase) -> dict[str, Callable[[], float]]:
        works = {OURS: _timed(lambda: self._ours(case))}
        if case.words:
            match = " OR ".join(map(_quoted, case.words))
            works[BARE] = _timed(lambda: self.bare.execute(_BARE, (match,)).fetchall())
            works[RIVAL] = _timed(lambda: self.rival.search(case.words))
        earlier, query = self.earlier, case.query
        if earlier and case.grant == "whole" and isinstance(query, SearchQuery) and not query.conditions:
            works[EARLIER] = lambda: earlier.cpu_ms(query.text)
        return works

    def _ours(self, case: CostCase) -> None:
        call = Call(self.tokens[case.grant], "req_bench")
        match case.query:
            case SearchQuery():
                told(search.serve(self.services, call, case.query))
            case AggregateQuery():
                told(aggregate.serve(self.services, call, case.query))
            case RecordsQuery():
                told(query_records.serve(self.services, call, case.query))


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def cpu_ms() -> float:
        start = thread_time()
        work()
        return (thread_time() - start) * 1e3

    return cpu_ms


def table(size: int, found: Costs) -> str:
    columns = (OURS, "wall ms", BARE, RIVAL, EARLIER)
    lines = [f"| {size:,} records | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, numbers in found.items():
        lines.append(f"| {name} | " + " | ".join(_shown(numbers.get(column)) for column in columns) + " |")
    return "\n".join(lines)


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}" if number < 100 else f"{number:.0f}"


def promised(sizes: Sequence[int], found: Sequence[Costs]) -> Iterator[tuple[str, float, float]]:
    """What is to be reached, as ratios inside of one run: what, how much at the most, and how much it was."""
    small, large = found[0], found[-1]
    yield f"{OFTEN} ÷ bare FTS5", 1.5, small[OFTEN][OURS] / small[OFTEN][BARE]
    yield f"{EVERYWHERE} ÷ bare FTS5", 0.5, small[EVERYWHERE][OURS] / small[EVERYWHERE][BARE]
    yield f"{TWO} ÷ bare FTS5", 1, small[TWO][OURS] / small[TWO][BARE]
    for costs_of, size, most in zip(found, sizes, (0.4, 0.7), strict=False):
        if EARLIER in costs_of[SENTENCE]:
            ratio = costs_of[SENTENCE][OURS] / costs_of[SENTENCE][EARLIER]
            yield f"{SENTENCE} ÷ before, {size:,}", most, ratio
    for costs_of, size, most in zip(found, sizes, (1.5, 4), strict=False):
        yield f"{TIMELESS} ÷ shown, {size:,}", most, costs_of[TIMELESS][OURS] / costs_of[OFTEN][OURS]
    if len(found) > 1:
        yield f"{HIDDEN} ÷ nothing hidden, {sizes[-1]:,}", 1.5, large[HIDDEN][OURS] / large[RARE][OURS]
        for name, most in {OF_SENDER: 4, IN_MONTH: 4, PHRASE: 3, PREFIX: 3, WIDE: 3, NUMBER: 3, EXACT: 3}.items():
            yield f"{name}, {sizes[-1]:,} ÷ {sizes[0]:,}", most, large[name][OURS] / small[name][OURS]


def promises_table(sizes: Sequence[int], found: Sequence[Costs]) -> str:
    lines = ["| ratio of CPU | measured | at most |", "|---|---|---|"]
    return "\n".join([*lines, *[f"| {what} | {was:.2f} | {most:g} |" for what, most, was in promised(sizes, found)]])


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.search_cost")
    asked.add_argument("--sizes", default="100000", help="how many records, with commas")
    asked.add_argument("--worlds", type=Path, help="a folder in which homes are kept for the next time")
    asked.add_argument("--before", type=Path, help="the sources of another version")
    asked.add_argument("--chart", type=Path, help="a file for the drawing")
    args = asked.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    found: list[Costs] = []
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as passing:
        for size in sizes:
            found.append(costs((args.worlds or Path(passing)) / str(size), size, args.before))
            print(table(size, found[-1]), flush=True)
    print(promises_table(sizes, found))
    if args.chart:
        args.chart.write_text(bars(sizes, found, (OURS, BARE, RIVAL, EARLIER)), encoding="utf-8")


if __name__ == "__main__":
    main()
