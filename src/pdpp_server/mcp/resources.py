"""The pdpp:// resources: addresses of what three of the tools show, each read by a call of its tool."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from pdpp_server.errors import InvalidRecordId, InvalidRequest
from pdpp_server.evidence.budgets import COMPLETIONS_MAX
from pdpp_server.evidence.handles import HANDLE_BYTES_MAX, mint, unpacked
from pdpp_server.evidence.text import byte_len, visible
from pdpp_server.mcp.session import INVALID_PARAMS, ProtocolFault, is_object
from pdpp_server.model.activity import NOTHING, Shown
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.records import RecordId

URI_CHARS_MAX = 8192

_NUMBERS = frozenset({"offset_chars", "limit_chars", "before_chars", "after_chars"})
_NUMBER_DIGITS_MAX = 15
_ID = "{connection_id}/{stream}:{record_id}"


class Template(NamedTuple):
    """One kind of address (RFC 6570), and the tool that reads it."""

    name: str
    title: str
    uri: str
    description: str
    media_type: str
    tool: str

    @property
    def start(self) -> str:
        return self.uri.partition("{")[0]


STREAM = Template(
    "stream",
    "What a stream holds",
    "pdpp://stream/{name}{?connection_id}",
    "The text of schema(stream): its fields and what each can do.",
    "text/plain",
    "schema",
)
RECORD = Template(
    "record",
    "One record",
    f"pdpp://record/{_ID}",
    "The document of fetch(id): the address is pdpp://record/ and the id.",
    "application/json",
    "fetch",
)
FIELD_WINDOW = Template(
    "field-window",
    "Part of a field",
    f"pdpp://field-window/{_ID}{{?field_path,offset_chars,limit_chars,q,before_chars,after_chars}}",
    "The text of read_record_field: one bounded window of one field.",
    "text/plain",
    "read_record_field",
)
TEMPLATES = (STREAM, RECORD, FIELD_WINDOW)


# Reading ------------------------------------------------------------------------------------------------------------


def template_of(uri: str) -> Template | None:
    return next((template for template in TEMPLATES if uri.startswith(template.start)), None)


def resource_call(uri: str) -> tuple[Template, dict[str, Any]]:
    """The template that an address was made from, and the arguments that its tool takes for it.

    Raises: InvalidRecordId where it names nothing, InvalidRequest where it says something twice.
    """
    template = template_of(uri)
    if template is None or len(uri) > URI_CHARS_MAX:
        raise InvalidRecordId(f"There is no such resource. Addresses begin with {_STARTS}.", param="uri")
    path = uri.removeprefix(template.start)
    if template is RECORD:
        return template, {"id": _record_id(path)}
    # Whatever a template put in is encoded; only an id as tools print it may have a question mark of its own.
    path, _, query = path.rpartition("?") if "?" in path else (path, "", "")
    selectors = dict(_selectors(query))
    if template is STREAM:
        return template, {"stream": _decoded(path), **selectors}
    if "/" not in path and ":" not in _decoded(path):
        return template, {**_packed_window(path), **selectors}
    return template, {"id": _record_id(path), **selectors}


_STARTS = ", ".join(template.start for template in TEMPLATES)


def _record_id(path: str) -> str:
    """As tools print it, or with each part percent-encoded as the template says, or all of it as one value."""
    if "/" not in path and ":" not in path:
        path = _decoded(path)
    connection, slash, rest = path.partition("/")
    stream, colon, key = rest.partition(":")
    if not (connection and slash and colon):
        return RECORD.start + path
    return mint(RecordId(_decoded(connection), _decoded(stream), _decoded(key)))


def _packed_window(path: str) -> Mapping[str, Any]:
    match unpacked(_decoded(path)):
        case {"v": 1, "kind": "field-window", **selectors}:
            return selectors
        case _:
            raise InvalidRecordId("The address names no field window.", param="uri")


def _selectors(query: str) -> Iterator[tuple[str, str | int]]:
    named: set[str] = set()
    for pair in query.split("&") if query else ():
        name, _, value = (_decoded(part) for part in pair.partition("="))
        if name in named:
            raise InvalidRequest("The address says something twice.", param="uri")
        named.add(name)
        is_number = name in _NUMBERS and value.isdecimal() and len(value) <= _NUMBER_DIGITS_MAX
        yield name, int(value) if is_number else value


def _decoded(part: str) -> str:
    try:
        decoded = unquote(part, errors="strict")
        decoded.encode()
    except UnicodeError:
        raise InvalidRecordId("The address is no text once it is decoded.", param="uri") from None
    return decoded


# Completion ---------------------------------------------------------------------------------------------------------


class Completion(NamedTuple):
    """The argument of a template that is being typed, so far; and what the others hold already."""

    argument: str
    typed: str
    known: Mapping[str, Any]


def completion_of(params: Mapping[str, Any]) -> Completion:
    """Raises: Fault, where no argument of a template of ours is asked for."""
    match params:
        case {"ref": {"type": "ref/resource", "uri": str(uri)}, "argument": {"name": str(name), "value": str(typed)}}:
            if not any(template.uri == uri and name in _arguments(template) for template in TEMPLATES):
                raise ProtocolFault(INVALID_PARAMS, "No resource template of this server has that argument.")
            context: Any = params.get("context")
            known: Any = context.get("arguments") if is_object(context) else None
            return Completion(name, typed, known if is_object(known) else {})
        case _:
            raise ProtocolFault(
                INVALID_PARAMS, "completion/complete needs a ref to a resource template, and an argument."
            )


class Completed(NamedTuple):
    body: dict[str, Any]
    shown: Shown


def completions(asked: Completion, catalogue: Catalogue) -> Completed:
    """The names that the caller may use there, as far as the catalogue knows them."""
    typed = asked.typed.casefold()
    named = [name for name in dict.fromkeys(_names(asked, catalogue)) if _can_be_completed(name)]
    values = [name for name in named if name.casefold().startswith(typed)]
    shown = values[:COMPLETIONS_MAX]
    body = {"completion": {"values": shown, "total": len(values), "hasMore": len(shown) < len(values)}}
    return Completed(body, _told(asked.argument, tuple(shown)))


def _can_be_completed(name: str) -> bool:
    return byte_len(name) <= HANDLE_BYTES_MAX and visible(name) == name


def _told(argument: str, names: tuple[str, ...]) -> Shown:
    """Names of fields are declared, and tell of no data."""
    if argument == "connection_id":
        return Shown(connections=names)
    return Shown(streams=names) if argument in ("name", "stream") else NOTHING


def _names(asked: Completion, catalogue: Catalogue) -> Iterator[str]:
    connection = asked.known.get("connection_id")
    stream = asked.known.get("stream", asked.known.get("name"))
    for entry in catalogue.entries:
        name = entry.stream.name
        held = [holding.origin.connection_id for holding in entry.holdings]
        if asked.argument in ("name", "stream") and (not connection or connection in held):
            yield name
        elif asked.argument == "connection_id" and stream in (None, "", name):
            yield from held
        elif asked.argument == "field_path" and stream == name:
            yield from [field for field in entry.stream.fields if field in entry.granted]


def _arguments(template: Template) -> list[str]:
    groups = [part.partition("}")[0] for part in template.uri.split("{")[1:]]
    return [name for group in groups for name in group.removeprefix("?").split(",")]
