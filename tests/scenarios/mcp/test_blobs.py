"""Blobs as an agent meets them: what they are and how large, never their bytes and never an address to open."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from pdpp_server.mcp.surface import TOOLS
from pdpp_server.port.local import LocalReader
from tests.requirements import requirement
from tests.scenarios.mcp.agents import Agent, agent_on
from tests.worlds.album import BYTES, Album


@pytest.fixture
def album(tmp_path: Path) -> Iterator[Album]:
    album = Album(tmp_path / "home")
    album.keep("p1", caption="Walrus", pages=[{"blob_id": "blob_x", "mime_type": "image/png"}])
    yield album
    album.close()


@pytest.fixture
def agent(album: Album) -> Agent:
    return agent_on(LocalReader(album.services, album.token))


@requirement("ev.binary.metadata-only")
def test_an_agent_reads_type_size_and_where_the_owners_own_tools_get_it(agent: Agent, album: Album) -> None:
    document = agent.call("fetch", id=f"{album.phone}/photos:p1").structured

    said = f'mime "image/png", {len(BYTES)} bytes, REST only: GET /v1/blobs/blob_{sha256(BYTES).hexdigest()}'
    assert f"blob_ref: [binary, not shown, {said}]" in document["text"] + str(document["metadata"])
    assert "fetch_url" not in str(document)


@requirement("ev.binary.metadata-only")
def test_no_tool_shows_bytes_or_an_address(agent: Agent, album: Album) -> None:
    asked = {
        "fetch": {"id": f"{album.phone}/photos:p1"},
        "search": {"query": "walrus"},
        "schema": {"stream": "photos"},
        "query_records": {"stream": "photos"},
    }
    answers = [agent.call(tool.name, **asked[tool.name]) for tool in TOOLS if tool.name in asked]

    assert len(answers) >= 3
    assert not any("fetch_url" in f"{answer.text}{answer.structured}" for answer in answers)
    window = agent.call("read_record_field", id=f"{album.phone}/photos:p1", field_path="blob_ref")
    assert window.code == "field_not_text"
