"""`python -m bench.pages`: what the owner's pages cost as a home grows, beside the REST page of as many records.

Processor time of the whole process, medians of rounds in which the addresses take turns. The first page is compared
with itself in the smallest home; the timeline, a stream and a talk with `GET /v1/streams/messages/records` that asks
the same question for as many records in the same home. BENCH_SIZES says how many records each home has
(10000,100000,1000000 unless told otherwise), BENCH_WORLDS names a folder in which worlds are kept for later.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import anyio
from starlette.types import ASGIApp, Message

from bench.world import fill, now
from pdpp_server.app import create_app
from pdpp_server.console import streams, timeline
from pdpp_server.console.visit import COOKIE
from pdpp_server.owner.desk import Owner
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.reads.services import Services, open_services
from pdpp_server.settings import Settings

SIZES = [int(size) for size in os.environ.get("BENCH_SIZES", "10000,100000,1000000").split(",")]
ROUNDS = 25
PASSWORD = "a quiet harbour at night"
DAY, DAY_AFTER = "2020-05-17", "2020-05-18"  # in the middle of every world
FIRST_GROWTH, PAGE_SHARE, PAGE_BYTES = 5.0, 3.0, 60_000


class PageCost(NamedTuple):
    cpu: float  # seconds
    bytes: int


Costs = Mapping[str, PageCost]


def costs(home: Path, count: int) -> Costs:
    """By the name of each address."""
    services = open_services(home, now=now)
    try:
        owner = Owner(services, home)
        if not owner.sources():
            fill(services, home, count)
        app = create_app(Settings(home=home), services)
        asked = _addresses(owner.sources()[0].connection_id, services, owner)
        return anyio.run(_measured, app, asked)
    finally:
        services.close()


def _addresses(connection: str, services: Services, owner: Owner) -> dict[str, tuple[str, str, str]]:
    """Name to address, and the header that opens it."""
    SignIn(services).set_password(PASSWORD)
    pages = ("cookie", f"{COOKIE}={SignIn(services).sign_in(PASSWORD, '127.0.0.1')}")
    rest = ("authorization", f"Bearer {owner.owner_token(1)[0]}")
    of_stream = f"/v1/streams/messages/records?connection_id={connection}&limit="
    of_day = f"filter[sent_at][gte]={DAY}T00:00:00Z&filter[sent_at][lt]={DAY_AFTER}T00:00:00Z"
    return {
        "first page": ("/", *pages),
        "stream": (f"/sources/{connection}/messages", *pages),
        "stream, REST": (f"{of_stream}{streams.LIMIT}", *rest),
        "timeline": (f"/timeline?day={DAY}", *pages),
        "timeline, REST": (f"{of_stream}{timeline.EACH}&{of_day}", *rest),
        "talk": (f"/sources/{connection}/messages?talk=room7", *pages),
        "talk, REST": (f"{of_stream}{streams.TALK_LIMIT}&filter[room]=room7&order=asc", *rest),
    }


async def _measured(app: ASGIApp, asked: Mapping[str, tuple[str, str, str]]) -> Costs:
    taken: dict[str, list[float]] = {name: [] for name in asked}
    sizes: dict[str, int] = {}
    for round_ in range(ROUNDS + 2):  # the first two are not counted: they fill caches
        for name, (path, header, value) in asked.items():
            start = process_time()
            sizes[name] = await _get(app, path, header, value)
            if round_ > 1:
                taken[name].append(process_time() - start)
    return {name: PageCost(median(taken[name]), sizes[name]) for name in asked}


async def _get(app: ASGIApp, address: str, header: str, value: str) -> int:
    """The bytes of an answer, by the app itself: no socket and no client is measured."""
    path, _, query = address.partition("?")
    headers = [(b"host", b"127.0.0.1"), (b"accept", b"text/html"), (header.encode(), value.encode())]
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    status = sent[0]["status"]
    if status != 200:
        raise AssertionError(f"{path} answers {status}")
    return sum(len(message.get("body", b"")) for message in sent[1:])


def told(found: Mapping[int, Costs]) -> str:
    first = found[min(found)]["first page"].cpu
    lines = ["| records | page | CPU ms | bytes | ratio | reach |", "|---|---|---|---|---|---|"]
    for size, costs_ in found.items():
        for name, cost in costs_.items():
            if name.endswith("REST"):
                continue
            floor, reach = (first, FIRST_GROWTH) if name == "first page" else (costs_[f"{name}, REST"].cpu, PAGE_SHARE)
            ratio = cost.cpu / floor
            held = "" if ratio <= reach and cost.bytes <= PAGE_BYTES else " MISSED"
            numbers = f"{cost.cpu * 1e3:.2f} | {cost.bytes:,} | {ratio:.2f} | {reach:g}{held}"
            lines.append(f"| {size:,} | {name} | {numbers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    kept = os.environ.get("BENCH_WORLDS")
    logging.getLogger("pdpp_server.access").setLevel(logging.WARNING)
    found: dict[int, Costs] = {}
    for size in SIZES:
        folder = Path(kept) / str(size) if kept else Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
        folder.mkdir(parents=True, exist_ok=True)
        try:
            found[size] = costs(folder, size)
        finally:
            if not kept:
                shutil.rmtree(folder)
    print(told(found))
