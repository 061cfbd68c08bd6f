"""The OpenAPI document: what is routed, asked and answered, printed from the tables that route, check and refuse."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from pdpp_server.errors import PdppError, RateLimited, Unauthenticated
from pdpp_server.wire.bodies import SCHEMAS, ref
from pdpp_server.wire.envelope import VERSION, Json
from pdpp_server.wire.params import ParameterRow

JSON = "application/json"
PATH_PARAMETERS = {
    "stream": "The name of a stream.",
    "key": "The key of a record, percent-encoded; a compound key is a JSON array of texts.",
    "blob_id": "The id of a blob, as a record refers to it.",
    "connector_id": "A connector: its key, or its registry address percent-encoded.",
}

_IN_BRACES = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class DocumentedAnswer:
    """`body` names one of SCHEMAS; bytes of another type than JSON have none."""

    says: str
    body: str | None = None
    media_type: str | None = JSON
    status: int = 200


@dataclass(frozen=True, slots=True)
class DocumentedBody:
    """What a request carries."""

    says: str
    media_type: str
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    name: str
    says: str
    answers: tuple[DocumentedAnswer, ...]
    parameters: tuple[ParameterRow, ...] = ()
    refusals: tuple[type[PdppError], ...] = ()
    sends: DocumentedBody | None = None

    @property
    def needs_token(self) -> bool:
        return Unauthenticated in self.refusals


def encode_document(operations: Iterable[Operation]) -> Json:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pdpp-server: the resource server",
            "version": VERSION,
            "description": "HEAD answers like GET, without a body. Every answer has a "
            "Request-Id, the caller's own if it sent one. Parameters that are not listed are refused.",
        },
        "servers": [{"url": "/"}],
        "paths": _encode_paths(operations),
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "headers": {"RequestId": {"description": "Names this request in every log.", "schema": {"type": "string"}}},
        },
    }


def _encode_paths(operations: Iterable[Operation]) -> Json:
    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _encode_operation(operation)
    return paths


def _encode_operation(operation: Operation) -> Json:
    return {
        "operationId": operation.name,
        "summary": operation.says,
        "security": [{"bearer": []}] if operation.needs_token else [],
        "parameters": [
            *(_encode_path_parameter(name) for name in _IN_BRACES.findall(operation.path)),
            *(encode_parameter(parameter) for parameter in operation.parameters),
        ],
        **({"requestBody": _encode_sent(operation.sends)} if operation.sends else {}),
        "responses": {
            **{str(answer.status): _encode_answer(answer) for answer in operation.answers},
            **{str(status): response for status, response in _encode_refusals(operation.refusals)},
        },
    }


def _encode_path_parameter(name: str) -> Json:
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "description": PATH_PARAMETERS[name], "schema": schema}


def encode_parameter(parameter: ParameterRow) -> Json:
    """A list is a repeated parameter; an object has its members in brackets."""
    schema: Json = dict(parameter.schema)
    style: Json = {}
    if parameter.repeats:
        schema, style = {"type": "array", "items": schema, "minItems": 1}, {"style": "form", "explode": True}
    elif parameter.nested:
        schema, style = {"type": "object", "additionalProperties": schema}, {"style": "deepObject", "explode": True}
    shared = {"name": parameter.name, "in": "query", "required": parameter.required}
    return {**shared, "description": parameter.says, **style, "schema": schema}


def _encode_sent(sent: DocumentedBody) -> Json:
    return {"description": sent.says, "required": True, "content": _encode_content(sent.media_type, sent.body)}


def _encode_answer(answer: DocumentedAnswer) -> Json:
    content = {"content": _encode_content(answer.media_type, answer.body)} if answer.media_type else {}
    return {"description": answer.says, "headers": _encode_headers(), **content}


def _encode_content(media_type: str, body: str | None) -> Json:
    return {media_type: {"schema": ref(body)} if body else {}}


def _encode_refusals(refusals: Iterable[type[PdppError]]) -> Iterator[tuple[int, Json]]:
    ordered = sorted(set(refusals), key=lambda refusal: (refusal.status, refusal.code))
    for status, group in groupby(ordered, key=lambda refusal: refusal.status):
        yield status, _encode_refusal(list(group))


def _encode_refusal(refusals: list[type[PdppError]]) -> Json:
    codes = [refusal.code for refusal in refusals]
    has_such_a_code = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    headers = _encode_headers()
    if Unauthenticated in refusals:
        headers["WWW-Authenticate"] = {"required": True, "schema": {"type": "string"}}
    if RateLimited in refusals:
        headers["Retry-After"] = {"required": True, "schema": {"type": "integer", "minimum": 1}}
    return {
        "description": " ".join(f"`{refusal.code}`: {says(refusal)}" for refusal in refusals),
        "headers": headers,
        "content": {JSON: {"schema": {"allOf": [ref("Error"), has_such_a_code]}}},
    }


def says(refusal: type[PdppError]) -> str:
    """The sentence of its class."""
    return " ".join((refusal.__doc__ or "").split())


def _encode_headers() -> dict[str, Any]:
    return {"Request-Id": {"$ref": "#/components/headers/RequestId"}}
