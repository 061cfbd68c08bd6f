"""Where work leaves the event loop."""

import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest
from starlette.requests import Request

from pdpp_server.http.threads import Threads

STAGE: ContextVar[str] = ContextVar("stage")
ASKED = Request({"type": "http", "headers": []})


@pytest.fixture
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    made = Threads(reads_wait=getattr(request, "param", False))
    yield made
    made.close()


def here() -> tuple[str, str]:
    return threading.current_thread().name.partition("_")[0].partition("-")[0], STAGE.get("none")


@pytest.mark.anyio
async def test_work_runs_in_its_own_kind_of_thread_with_the_context_of_its_request(threads: Threads) -> None:
    STAGE.set("mine")
    assert [await threads.write(here), await threads.flow(here)] == [("writer", "mine"), ("flow", "mine")]
    name, stage = await threads.read(ASKED, here)
    assert name.startswith("reader")
    assert stage == "mine"


@pytest.mark.anyio
@pytest.mark.parametrize(("threads", "is_here"), [(False, True), (True, False)], indirect=["threads"])
async def test_a_short_read_changes_threads_only_where_it_waits_for_somebody(threads: Threads, is_here: bool) -> None:
    ran_in = await threads.point_read(ASKED, threading.current_thread)
    assert (ran_in is threading.current_thread()) is is_here


@pytest.mark.anyio
async def test_trouble_arrives_where_the_work_was_asked_for(threads: Threads) -> None:
    def work() -> None:
        raise KeyError("trouble")

    for run in (threads.write, threads.flow):
        with pytest.raises(KeyError, match="trouble"):
            await run(work)
