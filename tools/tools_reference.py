"""The page of the MCP tools: what each takes, gives and refuses, with calls on a small sample. Cog calls this."""

import json
import re
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pdpp_server import errors
from pdpp_server.cli.read import answer_to
from pdpp_server.errors import PdppError
from pdpp_server.evidence import budgets
from pdpp_server.evidence.text import byte_len, compact_json
from pdpp_server.mcp.arguments import refusal_of
from pdpp_server.mcp.generate import HINTS, front
from pdpp_server.mcp.session import MODERN
from pdpp_server.mcp.surface import INSTRUCTIONS, TOOLS
from pdpp_server.mcp.tool import Tool
from pdpp_server.model.ingest import Incoming
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from pdpp_server.resource_server.endpoints import ANYBODY, ENDPOINTS, READ
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from pdpp_server.wire.openapi import PATH_PARAMETERS, Operation, says
from tests.worlds.world import Clock, close

ADDRESS = "https://pdpp.example"
SAMPLE = Path(__file__).parents[1] / "src" / "pdpp_server" / "cli" / "sample"
# What is another one each time, and what is printed in its place.
MADE_ANEW = ((re.compile(r"[\w-]{60,}"), "CURSOR"), (re.compile(r"grt_[0-9a-f]{16}"), "GRANT_ID"))
# What only a request over HTTP can get wrong.
HTTP_ONLY = {errors.UnsupportedVersion, errors.Misdirected, errors.InvalidArgument, errors.ConnectorInvalid}
COMMON = {*ANYBODY, *READ, errors.SourceUnavailable} - HTTP_ONLY
# The most bytes of an answer: what, its text, its structured content.
BUDGETS = (
    ("`schema`", f"{budgets.SCHEMA_INDEX_BYTES:,}", f"{budgets.SCHEMA_INDEX_STRUCTURED_BYTES:,}"),
    ("`schema` of one stream", f"{budgets.SCHEMA_STREAM_BYTES:,}", f"{budgets.SCHEMA_STREAM_STRUCTURED_BYTES:,}"),
    ("`schema` with `detail` full", f"{budgets.SCHEMA_STREAM_BYTES:,}", f"{budgets.SCHEMA_FULL_STRUCTURED_BYTES:,}"),
    ("`query_records`", f"{budgets.QUERY_BYTES:,}", f"{budgets.QUERY_STRUCTURED_BYTES:,}"),
    ("`aggregate`", f"{budgets.AGGREGATE_BYTES:,}", f"{budgets.AGGREGATE_STRUCTURED_BYTES:,}"),
    ("`search`", f"{budgets.SEARCH_BYTES:,}", f"{budgets.SEARCH_STRUCTURED_BYTES:,}"),
    (
        "`fetch`",
        f"{budgets.DOCUMENT_BYTES:,}, of which `text` {budgets.DOCUMENT_TEXT_BYTES:,}",
        f"{budgets.DOCUMENT_BYTES:,}",
    ),
    (
        "`read_record_field`",
        f"the window, {budgets.WINDOW_HEADER_BYTES} and three times the id",
        f"{budgets.WINDOW_STRUCTURED_BYTES:,}",
    ),
    ("any refusal", f"{budgets.REFUSAL_BYTES:,}", f"{budgets.REFUSAL_STRUCTURED_BYTES:,}"),
)


def pages() -> str:
    """The instructions, then a section for each tool in the order in which they are listed, then the resources."""
    with _sample() as (reader, connections):
        examples = _examples(connections)
        sections = [line for tool in TOOLS for line in _section(tool, reader, examples[tool.name])]
    return "\n".join(["", *_overview(), *sections, *_resources()])


def _overview() -> Iterator[str]:
    listed = front()[MODERN]["tools/list"]["tools"]
    hints = ", ".join(f"`{name}` {str(value).lower()}" for name, value in HINTS.items())
    yield f"## Instructions\n\nEvery client gets these {byte_len(INSTRUCTIONS):,} bytes when it connects.\n"
    yield _fenced(INSTRUCTIONS)
    size = byte_len(compact_json(listed))
    yield f"## All tools\n\nThe list of tools has {size:,} bytes. Each of them is annotated: {hints}.\n"
    yield "| answer | most bytes of text | most bytes of structured content |\n|---|---|---|"
    yield from (f"| {what} | {text} | {structured} |" for what, text, structured in BUDGETS)
    yield "\nAny call may be refused with these; a section lists what it adds.\n"
    yield from _refusals(COMMON)


def _section(tool: Tool, reader: LocalReader, examples: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield f"## {tool.name}\n\n{tool.description}\n"
    yield "| argument | takes | says |\n|---|---|---|"
    needed = tool.input_schema.get("required", ())
    for name, argument in tool.input_schema["properties"].items():
        told = _cell(argument.get("description") or _said_of(name, tool))
        yield f"| `{name}`{', needed' if name in needed else ''} | {_takes(argument)} | {told} |"
    yield ""
    yield from (_fenced(_example(tool, reader, arguments)) for arguments in examples)
    yield from _refusals(_raised_by(tool) - COMMON)


def _example(tool: Tool, reader: LocalReader, arguments: dict[str, Any]) -> str:
    text = f"> {tool.name} {compact_json(arguments)}\n{answer_to(reader, tool.name, arguments).text}"
    for pattern, name in MADE_ANEW:
        text = pattern.sub(name, text)
    return text


def _said_of(name: str, tool: Tool) -> str:
    """What the list of tools has no room to say of an argument; most are parameters of the same read over HTTP."""
    told = {parameter.name: parameter.says for parameter in _read(tool).parameters}
    parts = {
        **PATH_PARAMETERS,
        "record_id": PATH_PARAMETERS["key"],
        "cursor": "Where to go on, as an answer printed it.",
    }
    return {**parts, **told}[name]


def _read(tool: Tool) -> Operation:
    return next(row.operation for row in ENDPOINTS if row.operation.name == tool.name)


def _takes(argument: Mapping[str, Any]) -> str:
    match argument:
        case {"enum": values}:
            return ", ".join(f"`{value}`" for value in values)
        case {"type": "integer", "minimum": low, "maximum": high}:
            return f"{low} to {high:,}"
        case {"type": "integer", "minimum": low}:
            return f"a whole number from {low}"
        case {"type": "array"}:
            return "a list of texts"
        case {"type": "object"}:
            return "an object"
        case {"pattern": pattern}:
            return f"text that fits `{_cell(pattern)}`"
        case {"maxLength": most}:
            return f"text of at most {most:,} characters"
        case _:
            return "text"


def _raised_by(tool: Tool) -> set[type[PdppError]]:
    """What the read behind it refuses, and what the tool refuses before any read."""
    named = vars(sys.modules[tool.call.__module__]).values()
    own = {value for value in named if isinstance(value, type) and issubclass(value, PdppError)}
    own |= {type(refusal_of(name, "")) for name in tool.input_schema["properties"]}
    if "id" in tool.input_schema["properties"]:
        own.add(errors.InvalidRecordId)
    return {*_read(tool).refusals, *own} - HTTP_ONLY


def _refusals(refusals: Iterable[type[PdppError]]) -> Iterator[str]:
    rows = sorted({(refusal.code, says(refusal)) for refusal in refusals})
    yield "| refusal | says |\n|---|---|"
    yield from (f"| `{code}` | {sentence} |" for code, sentence in rows)
    yield ""


def _resources() -> Iterator[str]:
    templates = front()[MODERN]["resources/templates/list"]["resourceTemplates"]
    if templates:
        yield "## Resources\n\nFor clients that read resources; every read of them has a tool too.\n"
        yield "| address | gives | says |\n|---|---|---|"
        for row in templates:
            yield f"| `{row['uriTemplate']}` | {row.get('mimeType', '')} | {_cell(row.get('description', ''))} |"
        yield ""


def _examples(connections: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Calls of each tool that show what it is for, and a refusal where it has one of its own."""
    notes, family = {"stream": "notes", "connection_id": connections["notes"]}, connections["family"]
    lease, message = f"{connections['notes']}/notes:n-008", f"{family}/messages:m-0009"
    by_month = {"metric": "count", "group_by_time": "written_at", "granularity": "month"}
    return {
        "schema": [{}, {"stream": "notes"}, {"stream": "messages", "detail": "full"}],
        "query_records": [
            {
                **notes,
                "filter": {"written_at": {"gte": "2026-10-01"}},
                "fields": ["title"],
                "limit": 2,
                "count": "exact",
            },
            {"stream": "notes", "filter": "notebook=house"},
        ],
        "aggregate": [{**notes, **by_month, "limit": 3}, {"stream": "notes", "metric": "sum", "field": "title"}],
        "search": [{"query": "walrus clause", "limit": 2}, {"query": "walrus", "mode": "psychic"}],
        "fetch": [{"id": message}, {"id": message, "fields": ["sender_phone"]}, {"id": "messages:m-0009"}],
        "read_record_field": [
            {"id": lease, "field_path": "body", "offset_chars": 25_264, "limit_chars": 400},
            {"id": lease, "field_path": "body", "offset_chars": 0, "q": "walrus"},
        ],
    }


@contextmanager
def _sample() -> Generator[tuple[LocalReader, dict[str, str]], None, None]:
    """What `pdpp demo` shows, on a clock that stands still: one grant for the notes, one for the chats."""
    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        services = open_services(home, now=Clock())
        owner = Owner(services, home)
        files = (("harbour", "chat"), ("family", "chat"), ("notes", "notes"))
        connections = {file: _bring_in(owner, file, declaration) for file, declaration in files}
        chats = {"instance_ids": [connections["harbour"], connections["family"]]}
        streams = [{"name": "messages", "view": "basic", **chats}, {"name": "channels", **chats}]
        details = [_detail("tidepool-chat", streams), _detail("commonplace", [{"name": "notes"}])]
        issued = owner.create_grant(decode_selection(details), "Agent", None)
        yield LocalReader(services, issued.token, ADDRESS), connections
        close(services)


def _bring_in(owner: Owner, file: str, declaration: str) -> str:
    declared = decode_declaration(json.loads((SAMPLE / f"{declaration}.declaration.json").read_text("utf-8")))
    lines = [json.loads(line) for line in (SAMPLE / f"{file}.ndjson").read_text("utf-8").splitlines()]
    writer = owner.writer(declared, file.capitalize())
    writer.deliver(Incoming(file, line["stream"], None, line["data"], line["emitted_at"]) for line in lines)
    return writer.connection_id


def _detail(connector: str, streams: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": DETAIL_TYPE,
        "source": {"id": f"https://registry.pdpp.dev/connectors/{connector}"},
        "purpose_code": "https://pdpp.dev/purpose/assistant",
        "access_mode": "continuous",
        "streams": streams,
    }


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


def _cell(words: str) -> str:
    return words.replace("|", "\\|")
