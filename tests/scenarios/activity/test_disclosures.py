"""No answer without a line, and no line with less than its answer."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pdpp_server.errors import DisclosureLogUnavailable, NotFound
from pdpp_server.evidence.handles import mint
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.store.engines.sqlite.activity import catch_up, open_index
from tests.engine.beneath import edit_log, lines_in
from tests.requirements import requirement
from tests.worlds.told import told
from tests.worlds.world import NOW, World

DYING = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from pdpp_server.model.queries import SearchQuery
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from tests.worlds.told import ToldReader
now = datetime.fromisoformat(sys.argv[2])
services = open_services(Path(sys.argv[1]), now=lambda: now)
answer = ToldReader(LocalReader(services, sys.stdin.readline().strip())).search(SearchQuery("lease"))
assert answer.value.hits
os.write(1, answer.request_id.encode())
os.kill(os.getpid(), signal.SIGKILL)
"""


@requirement("log.line.what")
def test_a_line_names_who_read_what_and_how_much(world: World) -> None:
    answer = world.reader.fetch(FetchQuery("messages", "m1", world.work))
    shown = answer.value

    (line,) = world.owner.activity()
    assert line.request_id == answer.request_id
    assert (line.operation, line.token_kind, line.at) == ("fetch", "client", "2026-11-15T12:00:00.000Z")
    assert line.grant_ids == (world.grant_id,)
    assert line.client_id == world.owner.grant(world.grant_id)[0].grant.client_id
    assert (line.connections, line.streams) == ((world.work,), ("messages",))
    assert line.records == (f"{world.work}/messages:m1",)
    assert {*line.fields} == {*shown.data}
    assert line.bytes >= len("The lease draft is ready.")


@requirement("log.line.hashed-content")
def test_words_that_were_looked_for_stand_nowhere_in_the_log(world: World) -> None:
    told(world.reader.search(SearchQuery("walrus lunch")))
    told(world.reader.read_record_field(WindowQuery("messages", "m2", "text", world.work, q="walrus")))

    raw = b"".join(line.raw for line in lines_in(world.home))
    assert b"read_record_field" in raw
    assert b"walrus" not in raw
    assert b"lunch" not in raw


@requirement("log.line.never-less")
def test_a_line_names_every_record_and_field_that_an_answer_showed(world: World) -> None:
    tools = {tool.name: tool for tool in TOOLS}
    first = told(tools["search"].call(world.reader, {"query": "lease lake"})).structured
    told(tools["fetch"].call(world.reader, {"id": f"{world.work}/messages:m1"}))
    window = {"id": f"{world.work}/messages:m2", "field_path": "text", "q": "walrus"}
    told(tools["read_record_field"].call(world.reader, window))

    lines = world.owner.activity()
    named = {record for line in lines for record in line.records}
    assert {hit["id"] for hit in first["results"]} <= named
    searched = next(line for line in lines if line.operation == "search")
    assert {"text", "subject", "topic"} <= {*searched.fields}
    assert any(line.operation == "read_record_field" and "text" in line.fields for line in lines)
    assert any(line.operation == "fetch" and "author" in line.fields for line in lines)


@requirement("log.line.never-less")
def test_every_hit_of_every_page_is_named(world: World) -> None:
    page = world.reader.search(SearchQuery("lease lake", limit=100))
    hits = page.value.hits

    (line,) = world.owner.activity(request_id=page.request_id)

    assert line.records == tuple(mint(hit.id) for hit in hits)
    assert {excerpt.field for hit in hits for excerpt in hit.excerpts} <= {*line.fields}


@requirement("log.line.before-answer")
def test_a_line_survives_the_death_of_the_process_that_answered(world: World) -> None:
    arguments = [sys.executable, "-c", DYING, str(world.home), NOW.isoformat()]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as dying:
        told, _ = dying.communicate(world.token.encode() + b"\n", timeout=60)

    assert dying.returncode == -signal.SIGKILL
    (line,) = world.owner.activity(request_id=told.decode())
    assert line.operation == "search"
    assert line.records


@pytest.mark.sqlite("puts something in the way of a file")
@requirement("log.failure.closed")
def test_nothing_leaves_where_the_log_cannot_be_written(world: World) -> None:
    (world.home / "activity").write_text("in the way")
    reads = [
        lambda: told(world.reader.search(SearchQuery("lease"))),
        lambda: told(world.reader.schema(SchemaQuery())),
        lambda: told(world.reader.fetch(FetchQuery("messages", "m1", world.work))),
        lambda: told(world.reader.read_record_field(WindowQuery("messages", "m1", "text", world.work))),
    ]

    for read in reads:
        with pytest.raises(DisclosureLogUnavailable) as refused:
            read()
        assert (refused.value.code, refused.value.status) == ("disclosure_log_unavailable", 503)

    (world.home / "activity").unlink()
    for read in reads:
        read()


@requirement("log.line.what")
def test_a_refused_read_discloses_nothing(world: World) -> None:
    with pytest.raises(NotFound):
        world.reader.fetch(FetchQuery("messages", "nobody", world.work))

    assert world.owner.activity() == []


@pytest.mark.sqlite("looks into the files of a home")
@requirement("log.index.derived")
def test_the_index_can_be_lost_and_tells_the_same_again(world: World) -> None:
    told(world.reader.search(SearchQuery("lease")))
    told(world.reader.fetch(FetchQuery("messages", "m1", world.work)))
    before = world.owner.activity()

    for path in world.home.glob("activity.sqlite*"):
        path.unlink()

    assert world.owner.activity() == before
    assert len(before) == 2


@requirement("log.verify.edits")
def test_the_owner_is_told_of_a_line_that_was_changed(world: World) -> None:
    told(world.reader.search(SearchQuery("lease")))
    told(world.reader.fetch(FetchQuery("messages", "m1", world.work)))
    assert all(verdict.is_sound for verdict in world.owner.verify_activity())

    edit_log(world.home, "search", "schema")

    (verdict,) = world.owner.verify_activity()
    assert verdict.state == "edited"


@requirement("log.chain.one-segment-per-process")
def test_two_processes_write_two_segments(world: World) -> None:
    told(world.reader.search(SearchQuery("lease")))
    arguments = [sys.executable, "-c", DYING, str(world.home), NOW.isoformat()]
    subprocess.run(arguments, input=world.token.encode() + b"\n", capture_output=True, timeout=60, check=False)

    kinds = ["operation" in line.content for line in lines_in(world.home)]
    assert kinds == [False, True, False, True]  # of each a header, and the line


@pytest.mark.sqlite("looks into the files of a home")
@requirement("log.index.derived")
def test_another_index_on_a_copy_of_the_segments_says_the_same(world: World, tmp_path: Path) -> None:
    told(world.reader.search(SearchQuery("lease")))
    shutil.copytree(world.home / "activity", tmp_path / "copy" / "activity")

    index = open_index(tmp_path / "copy" / "activity.sqlite")
    catch_up(index, tmp_path / "copy" / "activity")
    listed = index.logged.recent()
    index.close()

    assert listed == world.owner.activity()
    assert os.stat(tmp_path / "copy" / "activity.sqlite").st_mode & 0o077 == 0  # noqa: PTH116
