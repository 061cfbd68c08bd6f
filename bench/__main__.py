"""`make bench`: measure everything, print a table, write bench/latest.json.

BENCH_SIZES=100000,1000000 measures growth to a million; LOCOMO_DIR names conversations to measure recall on.
"""

import json
import os
import sys
from pathlib import Path

from bench import budgets, cases
from bench.authorizing import authorizing
from bench.hosted import hosted_fetch
from bench.importing import importing
from bench.log_truth import log_truth
from bench.reads import ingest_while_reading, reads
from bench.recall import recall
from bench.world import build

REACH = {
    "tools_list_bytes": ("<=", 10_000),
    "instructions_bytes": ("<=", 1400),
    **{key: ("<=", most) for key, most in budgets.REACH.items()},
    "ingest_share": (">=", 0.5),
    "mbox_share": (">=", 0.25),
    "reimport_speedup": (">=", 5),
    "search_overhead": ("<=", 6),
    "search_growth": ("<=", 3),
    "stdio_fetch_ratio": ("<=", 8),
    "cold_start_ratio": ("<=", 5),
    "first_call_ratio": ("<=", 60),
    "serve_fetch_ratio": ("<=", 10),
    "serve_fetch_growth": ("<=", 1.5),
    "page_ratio": ("<=", 10),
    "page_growth": ("<=", 1.5),
    "around_ratio": ("<=", 60),
    "around_growth": ("<=", 1.5),
    "ranked_ratio": ("<=", 25),
    "ranked_growth": ("<=", 1.5),
    "changes_ratio": ("<=", 10),
    "changes_growth": ("<=", 1.5),
    "window_ratio": ("<=", 10),
    "window_growth": ("<=", 1.5),
    "months_growth": ("<=", 4),
    "rss_mb": ("<=", 200),
    "rss_growth_mb": ("<=", 2),
    "hosted_fetch_share": (">=", 0.25),
    "disclosure_log_cost": ("<=", 1.15),
    "log_truth.unlogged": ("<=", 0),
    "log_truth.unsent": ("<=", 0),
    "as_discovery_ms_p95": ("<=", 50),
    "as_register_ms_p95": ("<=", 50),
    "as_token_ms_p95": ("<=", 50),
}
GROWING = ("serve_fetch", "page", "around", "ranked", "changes", "window", "blob", "months")
SIZES = [int(size) for size in os.environ.get("BENCH_SIZES", "20000,200000").split(",")]


def measure() -> dict[str, float]:
    numbers: dict[str, float] = {}
    numbers |= _said("tools and instructions", cases.listing())
    numbers |= _said("the longest answers", budgets.worst_bytes())
    numbers |= _said("what left and what is logged", log_truth())
    numbers |= _said("ingest, 20,000 records", cases.ingest(20_000))
    numbers |= _said("an mbox of 4,000 messages", importing(4000))
    grown: dict[str, list[float]] = {}
    for size in SIZES:
        print(f"… a world of {size:,} records", file=sys.stderr)
        world = build(size)
        try:
            numbers |= _said(f"point read at {size:,}", cases.point_read(world))
            for measured in reads(world):
                numbers |= _said(f"at {size:,}", measured)
            worst = cases.worst_search(world) * 1e3
            numbers |= _said(f"worst search at {size:,}", {f"worst_search_ms_{size}": worst})
            for name in GROWING:
                grown.setdefault(name, []).append(numbers[f"{name}_us"])
            grown.setdefault("search", []).append(worst)
            if size <= 200_000:
                numbers |= _said(f"search, rare words, at {size:,}", cases.search_overhead(world))
            numbers |= _said(f"fetch over stdio at {size:,}", cases.stdio_fetch(world))
            numbers |= _said(f"memory of the server at {size:,}", cases.serve_memory(world))
            if size == SIZES[0]:
                numbers |= _said("cold start", cases.cold_start(world))
                numbers |= _said("fetch at /mcp, eight at once", hosted_fetch(world))
                numbers |= _said("ingest while reading", ingest_while_reading(world))
                numbers |= _said("a client on its way in", authorizing(world))
        finally:
            world.close()
    numbers |= {f"{name}_growth": times[-1] / times[0] for name, times in grown.items()}
    if folder := os.environ.get("LOCOMO_DIR"):
        numbers |= _said("evidence recall", recall(Path(folder)))
    return numbers


def _said(what: str, numbers: dict[str, float]) -> dict[str, float]:
    print(f"  {what}: " + ", ".join(f"{key} {value:,.3g}" for key, value in numbers.items()), file=sys.stderr)
    return numbers


def table(numbers: dict[str, float]) -> str:
    lines = ["| key | measured | reach | holds |", "|---|---|---|---|"]
    for key, value in numbers.items():
        sign, bound = REACH.get(key, ("", None))
        holds = "" if bound is None else "yes" if (value <= bound if sign == "<=" else value >= bound) else "NO"
        lines.append(f"| `{key}` | {value:,.3g} | {f'{sign} {bound:,}' if bound is not None else ''} | {holds} |")
    return "\n".join(lines)


if __name__ == "__main__":
    numbers = measure()
    Path(__file__).with_name("latest.json").write_text(
        json.dumps({"sizes": SIZES, "numbers": numbers}, indent=2) + "\n", encoding="utf-8"
    )
    print(table(numbers))
