"""What the strict converters of other makers make of our input schemas, and what they cannot take."""

import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
from agents.exceptions import UserError
from agents.strict_schema import ensure_strict_json_schema
from mcp import types

from pdpp_server.mcp.surface import TOOLS
from tests.requirements import requirement

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # a backslash in one of its texts
    from google.genai._mcp_utils import mcp_to_gemini_tool

# openai-agents: each object names all that it can hold. Without a strict form it sends the schema as it is.
FREE_NAMES = "Fields and relations are named by each source, so no schema of ours can list them: "
NOT_STRICT: Mapping[str, tuple[str, frozenset[str]]] = {
    "query_records": (f"{FREE_NAMES}filter, expand_limit.", frozenset({"filter", "expand_limit"})),
    "aggregate": (f"{FREE_NAMES}filter.", frozenset({"filter"})),
    "search": (f"{FREE_NAMES}filter.", frozenset({"filter"})),
    "fetch": (f"{FREE_NAMES}expand_limit.", frozenset({"expand_limit"})),
}
# google-genai: it reads additionalProperties as an object only, so a closed object makes it fall over; every schema of
# ours is closed, for unknown arguments are refused.
CLOSED = "additionalProperties"


@requirement("mcp.arguments.strict-converters")
def test_openai_agents_makes_a_strict_schema_of_every_tool_without_free_names() -> None:
    refused: set[str] = set()
    for tool in TOOLS:
        try:
            strict = ensure_strict_json_schema(deepcopy(dict(tool.input_schema)))
        except UserError:
            refused.add(tool.name)
        else:
            assert strict["required"] == [*tool.input_schema["properties"]]

    assert refused == NOT_STRICT.keys()


@requirement("mcp.arguments.strict-converters")
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.name in NOT_STRICT], ids=lambda tool: tool.name)
def test_what_openai_agents_refuses_is_refused_for_those_names_alone(tool: Any) -> None:
    schema = deepcopy(dict(tool.input_schema))
    for name in NOT_STRICT[tool.name][1]:
        del schema["properties"][name]

    assert ensure_strict_json_schema(schema)["additionalProperties"] is False


@requirement("mcp.arguments.strict-converters")
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_google_genai_takes_every_schema_but_for_the_word_that_closes_it(tool: Any) -> None:
    with pytest.raises(AttributeError, match="'bool' object has no attribute 'items'"):
        mcp_to_gemini_tool(described(tool.name, tool.input_schema))

    taken = mcp_to_gemini_tool(described(tool.name, opened(tool.input_schema))).model_dump()
    (declared,) = taken["function_declarations"]
    assert [*declared["parameters"]["properties"]] == [*tool.input_schema["properties"]]


def described(name: str, schema: Any) -> types.Tool:
    return types.Tool(name=name, input_schema=dict(schema))


def opened(schema: Any) -> Any:
    """The same without the closing word, at any depth."""
    if isinstance(schema, list):
        return [opened(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {name: opened(each) for name, each in schema.items() if (name, each) != (CLOSED, False)}
