"""`python -m bench.profile`: where the time of a search and of a fetch goes, stage by stage, in microseconds."""

from collections.abc import Callable
from statistics import median

from bench.cases import Stdio
from bench.clock import timed
from bench.world import World, build
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.queries import FetchQuery, SearchQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.reads import fetch, search
from pdpp_server.reads.services import Call
from tests.worlds.told import told

RECORDS, TIMES = 20_000, 400


def of_search(world: World) -> dict[str, float]:
    """25 hits of three rare words: the door alone without and with proofs, and the whole tool."""
    reader, tool = LocalReader(world.services, world.token), next(tool for tool in TOOLS if tool.name == "search")
    words = iter(range(10**9))

    def asked() -> str:
        first = next(words) * 7 % (RECORDS // 10 - 3)
        return " ".join(f"rare{first + k}" for k in range(3))

    def door(limit: int) -> None:
        told(search.serve(world.services, Call(world.token, "req_profile"), SearchQuery(asked(), limit=limit)))

    return {
        "search: token, permit, rank, one hit, log": _us(lambda: door(1)),
        "search: the same with 25 hits and their proofs": _us(lambda: door(25)),
        "search: the whole tool, both channels": _us(lambda: told(tool.call(reader, {"query": asked(), "limit": 25}))),
    }


def of_fetch(world: World) -> dict[str, float]:
    """One record: the door, the tool with its dispatch, and the same process at the other end of a pipe."""
    reader, server = LocalReader(world.services, world.token), McpServer(TOOLS)
    numbers = iter(range(10**9))

    def key() -> str:
        return f"m{next(numbers) * 7919 % RECORDS}"

    def handle() -> str:
        return f"{world.connection_id}/messages:{key()}"

    call = Call(world.token, "req_profile")
    stdio = Stdio(world.home, world.token)
    stdio.start()
    stages = {
        "fetch: token, permit, read, log": _us(
            lambda: told(fetch.serve(world.services, call, FetchQuery("messages", key())))
        ),
        "fetch: the tool and its dispatch": _us(lambda: server.call(lambda: reader, "fetch", {"id": handle()})),
        "fetch: over standard input and output": _us(lambda: stdio.call("fetch", {"id": handle()})),
    }
    stdio.close()
    return stages


def _us(work: Callable[[], object]) -> float:
    timed(work, TIMES // 4)
    return median(timed(work, TIMES)) * 1e6


if __name__ == "__main__":
    world = build(RECORDS)
    try:
        for stage, taken in (of_search(world) | of_fetch(world)).items():
            print(f"{taken:8.0f} µs  {stage}")
    finally:
        world.close()
