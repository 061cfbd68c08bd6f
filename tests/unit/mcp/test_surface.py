"""What every agent reads before its first call."""

import re

import jsonschema_rs
import orjson

from pdpp_server.mcp.generate import listing
from pdpp_server.mcp.surface import INSTRUCTIONS, TOOLS
from tests.requirements import requirement
from tools.tree import ROOT

NAMES = ["schema", "query_records", "aggregate", "search", "fetch", "read_record_field"]


@requirement("mcp.tools.exact-six", "mcp.tools.no-others")
def test_the_six_tools_come_in_the_order_in_which_they_are_met() -> None:
    assert [tool.name for tool in TOOLS] == NAMES


@requirement("mcp.budget.tools-list", "mcp.budget.instructions")
def test_the_surface_is_small() -> None:
    assert len(orjson.dumps({"tools": [listing(tool) for tool in TOOLS]})) <= 10_000
    assert len(INSTRUCTIONS.encode()) <= 1400


HANDLE = "connection_id/stream:record_key"


@requirement("mcp.tools.teach-handles")
def test_every_place_that_teaches_teaches_the_one_handle() -> None:
    by_name = {tool.name: tool for tool in TOOLS}
    ids = [by_name[name].input_schema["properties"]["id"]["description"] for name in ("fetch", "read_record_field")]
    outputs = [
        by_name["search"].output_schema["properties"]["results"]["items"]["properties"]["id"]["description"],
        by_name["query_records"].output_schema["properties"]["data"]["description"],
    ]
    pages = (ROOT / "docs" / "reference" / "tools.md", ROOT / "docs" / "glossary.md")

    assert all(HANDLE in text for text in (INSTRUCTIONS, by_name["search"].description, *ids))
    assert all("fetch" in text for text in outputs), "what an answer calls an id is said to be the one that fetch takes"
    assert all("handle" in page.read_text("utf-8") for page in pages)


@requirement("mcp.tools.guidance-once")
def test_how_a_connection_is_chosen_is_explained_in_the_instructions_and_nowhere_else() -> None:
    assert "connection_id only chooses a source; ids contain theirs" in INSTRUCTIONS
    assert "Remember connection_id, not grant ids." in INSTRUCTIONS
    for tool in TOOLS:
        argument = tool.input_schema["properties"]["connection_id"]
        assert "connection_id" not in tool.description.replace(HANDLE, ""), tool.name
        assert len(argument.get("description", "")) <= 50, tool.name


@requirement("mcp.instructions.no-owner-token")
@requirement("mcp.instructions.first-512", "mcp.instructions.typed-filters")
def test_the_instructions_stand_alone_after_512_characters() -> None:
    first = INSTRUCTIONS[:512]

    for word in ("grant-scoped", "schema(stream)", "typed filter", "connection_id", *NAMES):
        assert word in first
    assert first.index("Start with schema") < first.index("aggregate")
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


@requirement("mcp.filters.advertised")
def test_a_filter_is_an_object_of_values_and_ranges_with_no_form_in_text() -> None:
    filters = [tool.input_schema["properties"].get("filter") for tool in TOOLS]
    assert [tool.name for tool, shape in zip(TOOLS, filters, strict=True) if shape] == NAMES[1:4]
    for shape in filter(None, filters):
        is_valid = jsonschema_rs.Draft202012Validator(shape).is_valid
        assert is_valid({"a": "x", "b": 1, "c": True, "d": {"gte": 1, "lt": "2026-01-01"}})
        for wrong in ("a=x", {}, [], {"a": {}}, {"a": {"eq": 1}}, {"a": ["x"]}, {"a": None}, {"a": {"gte": [1]}}):
            assert not is_valid(wrong)


@requirement("mcp.aggregate.other-count")
def test_the_description_of_aggregate_explains_other_count() -> None:
    assert "other_count is how many records are in groups beyond limit" in TOOLS[2].description


def test_an_output_schema_also_fits_a_refusal() -> None:
    for tool in TOOLS:
        assert jsonschema_rs.is_valid(dict(tool.output_schema), {"error": {"code": "not_found"}})
        assert not jsonschema_rs.is_valid(dict(tool.output_schema), {})
        assert re.fullmatch(r"[a-z_]+", tool.name)
