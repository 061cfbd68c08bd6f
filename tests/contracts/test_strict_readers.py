"""Readers that refuse what the contract does not name: nothing that we send makes them stumble."""

from typing import Any

import jsonschema_rs
import pytest

from tests.requirements import requirement
from tests.scenarios.mcp.rest import get
from tests.worlds import chat
from tests.worlds.world import World


def strict(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these members and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": [*required],
        "additionalProperties": False,
    }


TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
NAMES: dict[str, Any] = {"type": "array", "items": TEXT, "minItems": 1}
CANDIDATE = strict({"connection_id": TEXT, "connector_key": TEXT}, {"grant_id": TEXT, "display_name": TEXT})
ERROR = strict(
    {
        "error": strict(
            {"type": TEXT, "code": TEXT, "message": TEXT, "request_id": TEXT},
            {
                "param": TEXT,
                "next_step": TEXT,
                "resource_metadata": TEXT,
                "retry_with": TEXT,
                "available_connections": {"type": "array", "items": CANDIDATE},
                "available_connection_count": COUNT,
            },
        )
    }
)
SCORE = strict(
    {
        "kind": {"enum": ["bm25", "semantic_distance"]},
        "value": {"type": "number"},
        "order": {"enum": ["lower_is_better", "higher_is_better"]},
    }
)
QUERY = strict(
    {"range_filters": {"type": "object"}, "aggregations": {"type": "object"}, "expand": {"type": "array"}},
    {"search": {**strict({}, {"lexical_fields": NAMES, "semantic_fields": NAMES}), "minProperties": 1}},
)
INDEX = {
    "type": "object",
    "required": ["object", "role", "resource_name", "reference_revision", "links"],
    "properties": {"object": {"const": "pdpp_discovery_index"}, "reference_revision": TEXT},
}


@requirement("rs.errors.envelope")
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/streams/messages/records?limit=0", 400),
        ("/v1/streams/messages/records?cursor=nonsense", 400),
        ("/v1/streams/messages/records?fields=id&fields=nope", 400),
        ("/v1/schema", 401),
        ("/v1/streams/letters/records", 403),
        ("/v1/streams/messages/records/m999", 404),
        ("/v1/streams/messages/records/m1", 409),
    ],
)
def test_an_error_has_no_member_that_the_contract_does_not_name(path: str, status: int, world: World) -> None:
    response = get(world, path, token="nobody's" if status == 401 else None)

    assert response.status_code == status
    jsonschema_rs.validate(ERROR, response.json())


@requirement("rs.search.score")
def test_a_score_is_of_a_kind_that_the_contract_names(world: World) -> None:
    hits = get(world, "/v1/search?q=lease").json()["data"]
    advertised = get(world, "/.well-known/oauth-protected-resource").json()["capabilities"]["lexical_retrieval"]

    assert len(hits) > 1
    for hit in hits:
        jsonschema_rs.validate(SCORE, hit["score"])
        assert advertised["score"]["kind"] == hit["score"]["kind"]
        assert advertised["score"]["order"] == hit["score"]["order"]


@requirement("rs.streams.metadata")
def test_a_stream_that_no_search_reaches_says_nothing_of_search(world: World) -> None:
    stream = {**chat.DOCUMENT["streams"][1], "query": {}}
    source = {"kind": "connector", "id": "https://registry.pdpp.dev/connectors/mute"}
    mute = {**chat.DOCUMENT, "source": source, "streams": [stream]}
    world.owner.writer(chat.decode_declaration(mute), "Mute").deliver([chat.channel("a", 1, "x")])

    searched = get(world, "/v1/streams/messages").json()["query"]
    silent = get(world, "/v1/streams/channels?connector_id=mute", token=world.owner_token).json()["query"]

    for query in (searched, silent):
        jsonschema_rs.validate(QUERY, query)
    assert "search" in searched
    assert "search" not in silent


@requirement("rs.discovery.index")
def test_the_index_says_which_release_answers(world: World) -> None:
    jsonschema_rs.validate(INDEX, get(world, "/").json())
