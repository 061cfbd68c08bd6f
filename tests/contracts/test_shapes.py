"""One shape, one writer: what `wire/` calls a member of JSON, the packages that a call goes through do not quote."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from jinja2 import meta

from pdpp_server.console.app import ADDRESSES
from pdpp_server.console.page import environment
from pdpp_server.importers.registry import IMPORTERS, declaration_of
from pdpp_server.model.sources import Declaration
from tools.tree import PACKAGE

UNQUOTED = (
    *("authorization_server", "cli", "evidence", "grants", "http", "mcp", "owner", "port", "reads", "resource_server"),
)
# Exports as other services write them, and tables of our own in TOML: no JSON of ours.
OTHER_FORMATS = "cli/life/"
NAME = re.compile(r"[a-z][a-z0-9_]*")

# The same word, and no member of an answer or of a question.
OTHERS = {
    "http/by_owner.py": {"body", "method", "path", "type"},  # of a message between server and app
    "authorization_server/app.py": {"grant_id"},  # a part of a path
    "authorization_server/introspect.py": {"active"},  # a state of a grant
    # tables of the command: words by a state, a client, a fault, a part or a verb
    "cli/activity.py": {"truncated"},
    "cli/client_files.py": {"cursor", "vscode"},
    "cli/connect.py": {"codex", "cursor", "vscode"},
    "cli/doctor.py": {
        *("address", "blobs", "counts", "database", "grants", "home", "log", "password", "port", "refused", "role"),
        *("settings", "waiting"),
    },
    "cli/group.py": {
        *("activity", "aggregate", "grants", "mcp", "openapi", "owner", "owners", "query", "read", "schema", "search"),
        "sources",
    },
    "cli/backup.py": {"connections", "records"},  # what was counted, as in the next
    "cli/move.py": {"blobs", "grants", "records"},
    "cli/demo.py": {"description", "notes", "start"},  # fields and a stream of the sample life
    "cli/live.py": {"path"},  # a setting of a live source
    "cli/machine.py": {"mcp", "pdpp", "waiting"},  # words of a command line and of a file, and what was counted
    # a publisher's declaration: what decides is pure, and loads no `wire`
    "grants/issue.py": {"fields", "id", "name", "required", "selection_presets", "streams", "view"},
    # words of a logged line, read back for the owner
    "evidence/activity.py": {
        *(
            "aggregate",
            "count",
            "eq",
            "field",
            "group_by",
            "group_by_time",
            "max",
            "metric",
            "min",
            "search",
            "streams",
        ),
        "sum",
    },
    # on the pages, what is neither a value of a template nor a field of a form
    "console/activity.py": {"grant"},  # a part of an address, as in those below
    "console/app.py": {"host", "path"},  # of a request
    "console/bringing.py": {"place", "refused"},  # a value inside of one of a template
    "console/clients.py": {"changed", "revoked"},  # states of a grant
    "console/following.py": {"host", "path", "url"},  # settings of a live source
    "console/markdown.py": {"style"},  # of a token
    "console/rows.py": {"actor", "amount", "currency", "text"},  # roles, and parts of a line
    "console/search.py": {"cursor"},
    "console/streams.py": {"cursor"},
    "evidence/aggregate.py": {"limit"},  # an argument of the next call, as in those below
    # a reference to a blob inside of a record, and what stands for bytes; no module of `wire` may be loaded here
    "evidence/binary.py": {"binary", "blob_id", "fetch_url", "mime_type", "sha256", "size_bytes"},
    "evidence/calls.py": {
        *(
            "around",
            "changes_since",
            "connection_id",
            "cursor",
            "detail",
            "field_path",
            "fields",
            "filter",
            "id",
            "list",
        ),
        *("offset_chars", "query", "stream", "streams"),
    },
    # what a document says of its record, in words, within its budget
    "evidence/fetch.py": {
        *("authored_at", "connection_id", "connector_key", "display_name", "expanded", "field_path", "fields", "id"),
        *("record_id", "stream"),
    },
    # what a long id is made of; no module of `wire` may be loaded here
    "evidence/handles.py": {"connection_id", "kind", "record_id", "stream"},
    "evidence/query_records.py": {"changes_since", "connection_id", "cursor", "limit", "stream"},
    "evidence/refusals.py": {"connection_id"},
    "evidence/remarks.py": {"filter", "streams"},
    "evidence/schema.py": {"connection_id", "query", "streams"},
    "evidence/search.py": {"cursor", "limit"},
    # ASGI: what a request is made of
    "http/bodies.py": {"body", "type"},
    "http/headers.py": {"headers", "path", "type"},
    "http/hosts.py": {"path", "type"},
    "http/kernel.py": {
        "headers",
        "host",
        "path",
        "scheme",
        "total",
        "type",
    },  # of a message between server and app
    # members of an access line
    "http/logs.py": {"accepted", "at", "code", "kind", "rejected", "request_id", "status", "stream"},
    "http/visitors.py": {"client", "type"},
    # JSON Schema of arguments, and MCP itself, which `mcp` is there to know
    "mcp/arguments.py": {
        *("description", "enum", "expand_limit", "items", "maximum", "minimum", "properties", "required", "type"),
    },
    "mcp/generate.py": {"capabilities", "description", "name", "resources", "title", "version"},
    "mcp/http.py": {"method", "params"},
    "mcp/resources.py": {"arguments", "connection_id", "id", "kind", "name", "stream", "total", "type", "value"},
    "mcp/server.py": {"content", "name", "properties", "text", "type"},
    "mcp/session.py": {
        *("arguments", "code", "cursor", "data", "error", "id", "jsonrpc", "message", "method", "name", "params"),
        *("result", "supported"),
    },
    # arguments of the tools, by the names that they are declared with
    "mcp/tools/aggregate.py": {"stream"},
    "mcp/tools/fetch.py": {"connection_id", "description", "id", "type"},
    "mcp/tools/query_records.py": {"around", "connection_id", "limit", "stream"},
    "mcp/tools/read_record_field.py": {
        *("connection_id", "cursor", "description", "field_path", "id", "limit_chars", "offset_chars", "pattern"),
        *("record_id", "stream", "type"),
    },
    "mcp/tools/schema.py": {"connection_id", "detail", "stream"},
    "mcp/tools/search.py": {"description", "limit", "query", "type"},
    "owner/desk.py": {"grant_id"},  # an argument by its name
    # what was counted
    "owner/doctor.py": {
        *("blobs", "extensions", "home", "lines", "live", "port", "records", "role", "schema", "version"),
    },
    "port/bridge.py": {"query"},  # an argument of another server's tool
    # read before `wire` may be loaded
    "port/credentials.py": {
        *("access_token", "credential", "expires_at", "grant_id", "provider_url", "refresh_token", "resource"),
        "token_endpoint",
    },
    "reads/query_records.py": {"count", "expand", "filter", "order", "sort", "window"},  # what a refusal names
    "reads/services.py": {"log"},  # a stage
    "resource_server/asked.py": {"key", "path", "stream"},  # a part of a path, and of a request
}

# In the store a word in quotes is first of all the name of a value that a statement is given; these are not.
IN_STORE = {
    "store/engines/postgres/connecting.py": {"password"},  # a part of an address
    "store/engines/postgres/db.py": {"bytes"},  # what an owner has used of a limit
    "store/engines/postgres/tables.py": {"whole"},  # what is shown of a stream, as in the next
    "store/engines/sqlite/tables.py": {"whole"},
    "store/engines/tables.py": {"order"},  # a part of a statement
    "store/keeping.py": {"created_at"},  # a line of the log, which the store alone writes and reads, as in the next
    "store/log.py": {"bytes", "created_at", "query", "streams", "token_kind"},
    "store/engines/logged.py": {"client", "grant", "record"},  # what lines are asked for by
    "store/moving.py": {"data"},  # a column
    "store/records/conditions.py": {"eq"},  # an operator
    "store/records/dates.py": {"a", "next", "number"},  # words of a question, and a part of a pattern
}

# An importer names the fields that its source declares, and what a file that is not ours calls things; of the latter
# these are words of `wire/` too.
IN_IMPORTERS = {
    "importers/formats/bank_csv_mapping.py": {"enum", "maximum", "minimum"},  # JSON Schema of a file in TOML
    "importers/formats/content_blocks.py": {"content", "url"},  # chats of Claude and ChatGPT, as in those below
    "importers/formats/whatsapp_words.py": {"document"},  # what was attached
    "importers/live/adding.py": {"host", "port", "security"},  # settings of a live source, as in the next two
    "importers/live/dav.py": {"token", "url"},  # and where it was left
    "importers/live/imap.py": {"host", "next", "port", "run", "security"},
    "importers/sources/chatgpt.py": {"message", "parts", "prompt"},
    "importers/sources/claude.py": {"content", "files"},
    "importers/sources/claude_code.py": {"content", "summary"},
    "importers/sources/codex.py": {"arguments", "content", "summary", "type"},
    "importers/sources/mt940.py": {"entry"},  # a part of a pattern
    "importers/sources/slack.py": {"deleted"},
    "importers/sources/telegram.py": {"actor", "type"},
    "importers/uploads.py": {"place"},  # what one process wishes of another
}
BOUND = re.compile(r"(?<![:\w]):([a-z_]+)\b")


def _texts(*nodes: ast.expr | None) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
            yield node.value


def quoted_members(tree: ast.Module) -> Iterator[str]:
    """Texts that name a member: of a dictionary that is written, asked or looked into."""
    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=keys) | ast.MatchMapping(keys=keys):
                yield from _texts(*keys)
            case ast.Subscript(slice=key):
                yield from _texts(key)
            case ast.Call(func=ast.Attribute(attr="get" | "pop" | "setdefault"), args=[key, *_]):
                yield from _texts(key)
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()]):
                yield from _texts(key)
            case _:
                pass


def _members_in(package: str) -> dict[str, set[str]]:
    return {
        path.relative_to(PACKAGE).as_posix(): set(quoted_members(ast.parse(path.read_text("utf-8"))))
        for path in sorted((PACKAGE / package).rglob("*.py"))
    }


def _words_of_pages() -> set[str]:
    """What templates are given, what their forms and links send, and what addresses name."""
    templates = [path.read_text("utf-8") for path in (PACKAGE / "console" / "templates").glob("*.html")]
    given = [meta.find_undeclared_variables(environment("en").parse(template)) for template in templates]
    sent = re.findall(r'\bname="([a-z_]+)"|[?;]([a-z_]+)=|\basked\.([a-z_]+)', "\n".join(templates))
    named = re.findall(r"\{([a-z_]+)", " ".join(address.path for address in ADDRESSES))
    return set[str]().union(*given, *sent, named)


def test_the_packages_of_a_call_quote_no_member_of_json() -> None:
    wire = set[str]().union(*_members_in("wire").values())
    found = {module: names & wire for package in UNQUOTED for module, names in _members_in(package).items()}
    ours = {module: names for module, names in found.items() if not module.startswith(OTHER_FORMATS)}
    pages = {module: names & wire - _words_of_pages() for module, names in _members_in("console").items()}

    quoted = {module: names for module, names in (ours | pages).items() if names}

    assert quoted == OTHERS


def test_the_store_quotes_no_member_of_json_but_names_what_its_statements_are_given() -> None:
    wire = set[str]().union(*_members_in("wire").values())
    texts = [path.read_text("utf-8") for path in (PACKAGE / "store").rglob("*") if path.suffix in {".py", ".sql"}]
    bound = set(BOUND.findall("\n".join(texts)))
    quoted = {module: names & wire - bound for module, names in _members_in("store").items()}

    assert {module: names for module, names in quoted.items() if names} == IN_STORE


def _declared(declaration: Declaration) -> set[str]:
    """Its streams and fields, and what is inside of them."""
    inside = [schema for stream in declaration.streams.values() for schema in _schemas(stream.schema)]
    return {*declaration.streams}.union(*(schema["properties"] for schema in inside))


def _schemas(schema: object) -> Iterator[dict[str, Any]]:
    match schema:
        case {"properties": {**properties}}:
            yield {"properties": properties}
            for each in properties.values():
                yield from _schemas(each)
        case {"items": items}:
            yield from _schemas(items)
        case _:
            pass


def _declared_by_module() -> dict[str, set[str]]:
    """What a source may name is declared for it; formats and live sources serve several."""
    by_source = {importer.read.__module__: _declared(declaration_of(importer.key)) for importer in IMPORTERS}
    by_module = {f"{module.partition('.')[2].replace('.', '/')}.py": names for module, names in by_source.items()}
    every = set[str]().union(*by_module.values())
    shared = [path for folder in ("formats", "live") for path in _members_in(f"importers/{folder}")]
    return by_module | dict.fromkeys(shared, every)


def test_importers_quote_no_member_of_json_but_name_what_their_sources_declare() -> None:
    wire = set[str]().union(*_members_in("wire").values())
    declared = _declared_by_module()
    quoted = {module: names & wire - declared.get(module, set()) for module, names in _members_in("importers").items()}

    assert {module: names for module, names in quoted.items() if names} == IN_IMPORTERS


def test_every_way_to_quote_a_member_is_seen() -> None:
    source = """a = {"one": 1}; a["two"]; a.get("three"); a.pop("four", 0); "five" in a; print("six"); x = "seven"
match a:
    case {"eight": 1}: pass
"""
    assert set(quoted_members(ast.parse(source))) == {"one", "two", "three", "four", "five", "eight"}
