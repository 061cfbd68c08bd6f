"""The page of the HTTP API: every operation, its parameters and its answers. Cog calls this."""

from collections.abc import Iterator

from pdpp_server.errors import PdppError
from pdpp_server.resource_server.endpoints import ANYBODY, ENDPOINTS, READ
from pdpp_server.wire.openapi import PATH_PARAMETERS, Operation, says
from pdpp_server.wire.params import ParameterRow


def pages() -> str:
    """One section for each operation, in the order of the table that routes them."""
    common = {refusal.code for refusal in (*ANYBODY, *READ)}
    lines = [line for row in ENDPOINTS for line in _section(row.operation, common)]
    return "\n".join(["", *_common_refusals(), *lines])


def _common_refusals() -> Iterator[str]:
    yield "Any request with a token may be refused with these; a section lists only what it adds.\n"
    yield from _refusals((*ANYBODY, *READ))


def _section(operation: Operation, common: set[str]) -> Iterator[str]:
    yield f"## {operation.method} {operation.path}\n\n{operation.says}\n"
    if not operation.needs_token:
        yield "No token is needed.\n"
    if operation.sends:
        yield f"Send `{operation.sends.media_type}`: {operation.sends.says}\n"
    named = [name for name in PATH_PARAMETERS if f"{{{name}}}" in operation.path]
    if named or operation.parameters:
        yield "| parameter | takes | says |\n|---|---|---|"
        yield from (f"| `{name}` (path) | text | {PATH_PARAMETERS[name]} |" for name in named)
        yield from (_row(parameter) for parameter in operation.parameters)
        yield ""
    yield "".join(f"- {answer.status}: {answer.says}\n" for answer in operation.answers)
    yield from _refusals(refusal for refusal in operation.refusals if refusal.code not in common)


def _row(parameter: ParameterRow) -> str:
    needed = ", needed" if parameter.required else ""
    says = parameter.says.replace("|", "\\|")
    return f"| `{parameter.name}`{needed} | {_takes(parameter)} | {says} |"


def _takes(parameter: ParameterRow) -> str:
    schema = parameter.schema
    low, high = schema.get("minimum"), schema.get("maximum")
    if "enum" in schema:
        one = ", ".join(f"`{value}`" for value in schema["enum"])
    elif schema.get("type") == "integer":
        one = f"{low} to {high}" if high is not None else f"a whole number from {low}"
    else:
        one = "text"
    return f"{one}, repeatable" if parameter.repeats else f"{one} for each name" if parameter.nested else one


def _refusals(refusals: Iterator[type[PdppError]] | tuple[type[PdppError], ...]) -> Iterator[str]:
    rows = sorted({(refusal.status, refusal.code, says(refusal)) for refusal in refusals})
    if rows:
        yield "| status | code | says |\n|---|---|---|"
        yield from (f"| {status} | `{code}` | {sentence} |" for status, code, sentence in rows)
        yield ""
