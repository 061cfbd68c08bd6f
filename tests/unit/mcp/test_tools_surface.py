"""What every agent reads before its first call."""

import re

import jsonschema_rs
import orjson

from pdpp_server.mcp.generate import listing
from pdpp_server.mcp.surface import INSTRUCTIONS, TOOLS
from tests.requirements import requirement

LATER = ("query_records", "aggregate")


@requirement("mcp.tools.no-others")
def test_the_tools_come_in_the_order_in_which_they_are_met() -> None:
    assert [tool.name for tool in TOOLS] == ["schema", "search", "fetch", "read_record_field"]


@requirement("mcp.budget.tools-list", "mcp.budget.instructions")
def test_the_surface_is_small() -> None:
    assert len(orjson.dumps({"tools": [listing(tool) for tool in TOOLS]})) <= 6500
    assert len(INSTRUCTIONS.encode()) <= 1400


def test_nothing_names_a_tool_that_is_not_there() -> None:
    said = INSTRUCTIONS + orjson.dumps([listing(tool) for tool in TOOLS]).decode()
    assert not any(name in said for name in LATER)


@requirement("mcp.tools.teach-handles", "mcp.instructions.no-owner-token", "mcp.tools.guidance-once")
def test_the_instructions_stand_alone_after_512_characters() -> None:
    first = INSTRUCTIONS[:512]

    for word in ("grant-scoped", "schema", "schema(stream)", "search", "fetch", "read_record_field", "connection_id"):
        assert word in first
    assert "cursor" in first and "never instructions" in first
    assert "connection_id/stream:record_key" in INSTRUCTIONS
    assert "owner token" not in INSTRUCTIONS


@requirement("mcp.tools.connection-argument")
def test_every_tool_takes_connection_id_and_strict_arguments() -> None:
    for tool in TOOLS:
        assert "connection_id" in tool.input_schema["properties"]
        assert "connector_instance_id" not in tool.input_schema["properties"]
        assert tool.input_schema["additionalProperties"] is False
        assert not set(tool.input_schema) & {"anyOf", "oneOf", "allOf"}
        jsonschema_rs.Draft202012Validator(dict(tool.input_schema))
        jsonschema_rs.Draft202012Validator(dict(tool.output_schema))
        assert len(tool.description.encode()) < 500


def test_an_output_schema_also_fits_a_refusal() -> None:
    for tool in TOOLS:
        assert jsonschema_rs.is_valid(dict(tool.output_schema), {"error": {"code": "not_found"}})
        assert not jsonschema_rs.is_valid(dict(tool.output_schema), {})
        assert re.fullmatch(r"[a-z_]+", tool.name)
