"""What the server answers is what its document says, to those who keep to it and to those who do not."""

import copy
import logging
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import GenerationConfig, SchemathesisConfig

from pdpp_server.resource_server.endpoints import ENDPOINTS, document
from pdpp_server.wire.params import ParameterRow
from tests.requirements import requirement
from tests.scenarios.cli.command import DECLARATION
from tests.scenarios.resource_server.shop import Counter, Shop

EXAMPLES = 20
OPERATIONS = {row.operation.name: row.operation for row in ENDPOINTS}
WITH_PARAMETERS = [name for name, operation in OPERATIONS.items() if operation.parameters]

# Requests of the owner that succeed, in this order, at least one for each operation. {first} is a connection of the
# shop, {blob} the blob that was kept, and BILLED a record that refers to it.
O1, ORDERS, SUMS = "/v1/streams/orders/records/o1", "/v1/streams/orders/records", "/v1/streams/orders/aggregate"
FIRST = "connector_id=shop&connection_id={first}"
LAMP = b'{"data":{"id":"o7","placed_at":"2026-07-01T00:00:00Z","total":3,"remark":"A green lamp"}}\nno json'
BILLED = b"BILLED"
DECLARED = orjson.dumps({"declaration": DECLARATION, "display_name": "Notes"})
SPOKEN = [
    ("schema", "/v1/schema", b""),
    ("schema", "/v1/schema?view=compact", b""),
    ("connectors", "/v1/connectors", b""),
    ("streams", "/v1/streams?connector_id=shop", b""),
    ("stream_metadata", "/v1/streams/orders?connection_id={first}", b""),
    ("ingest", f"/v1/ingest/orders?{FIRST}", LAMP),
    ("search", "/v1/search?q=lamp", b""),
    ("search", "/v1/search?q=%C2%AC", b""),  # no word: the newest records
    ("search", "/v1/search?q=lamp&limit=1&streams=orders&filter[state]=paid&connection_id={first}", b""),
    ("query_records", f"{ORDERS}?connector_id=shop", b""),
    ("query_records", f"{ORDERS}?connector_id=shop&limit=1&count=exact&window=exact", b""),
    ("query_records", f"{ORDERS}?connector_id=shop&expand=items&expand=customer&expand_limit[items]=1", b""),
    ("aggregate", f"{SUMS}?connector_id=shop&metric=count&group_by=state", b""),
    ("aggregate", f"{SUMS}?connector_id=shop&metric=count", b""),
    ("aggregate", f"{SUMS}?connector_id=shop&metric=sum&field=total", b""),
    ("aggregate", f"{SUMS}?connector_id=shop&metric=count&group_by_time=placed_at&granularity=month", b""),
    ("fetch", f"{O1}?connector_id=shop", b""),
    ("fetch", f"{O1}?connector_id=shop&expand=items&fields=id", b""),
    ("read_record_field", f"{O1}/field-window?connector_id=shop&field=remark", b""),
    ("declare_connection", "/v1/connections", DECLARED),
    ("put_state", "/v1/state/shop?connection_id={first}", b'{"state":{"orders":{"page":2}}}'),
    ("get_state", "/v1/state/shop?connection_id={first}", b""),
    ("keep_blob", f"/v1/blobs?{FIRST}&stream=orders&record_key=o8", b"bytes"),
    ("ingest", f"/v1/ingest/orders?{FIRST}", BILLED),
    ("read_blob", "/v1/blobs/{blob}", b""),
    ("delete_record", f"{O1}?{FIRST}", b""),
    ("query_records", f"{ORDERS}?{FIRST}&changes_since=beginning", b""),
    ("delete_records", f"/v1/streams/items/records?{FIRST}", b""),
    ("index", "/", b""),
    ("protected_resource", "/.well-known/oauth-protected-resource", b""),
    ("mcp_protected_resource", "/.well-known/oauth-protected-resource/mcp", b""),
    ("openapi", "/openapi.json", b""),
    ("healthz", "/healthz", b""),
    ("livez", "/livez", b""),
    ("readyz", "/readyz", b""),
    ("metrics", "/metrics", b""),
]
# Values that mean something in the shop, for requests that are made up.
KNOWN: dict[str, list[Any]] = {
    "stream": ["orders", "items"],
    "streams": ["orders"],
    "key": ["o1", "o2", "old", "i0"],
    "connector_id": ["shop"],
    "fields": ["id", "total", "remark,state", "customer_id"],
    "field": ["remark", "total"],
    "q": ["lamp", "blue -red", '"red lamp"'],
    "group_by": ["state"],
    "group_by_time": ["placed_at"],
    "expand": ["items", "customer"],
    "expand_limit": [{"items": 1}],
    "filter": [{"state": "paid"}, {"total": "10"}],
    "view": ["short", "compact"],
    "sort": ["placed_at", "-placed_at"],
    "changes_since": ["beginning"],
    "time_zone": ["Europe/Zurich"],
    "record_key": ["o1"],
    "json_path": ["/invoice"],
}
LINES = some.sampled_from([b'{"data":{"id":"o7","total":1}}\n{"key":"o7","op":"delete"}\n', b"{}\n", b"", b"\xff\n"])
BODIES = {"ingest": LINES, "keep_blob": some.binary(max_size=20)}

load_all_checks()
HELD: list[Any] = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "response_headers_conformance",
    ]
)
quick = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@schemathesis.serializer("application/x-ndjson")
def as_it_is(_: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def documented(name: str, said: dict[str, Any]) -> Any:
    """One operation of the document; tokens are ours to send."""
    config = SchemathesisConfig()
    config.projects.default.generation = GenerationConfig(with_security_parameters=False)
    operation = OPERATIONS[name]
    return schemathesis.openapi.from_dict(said, config=config)[operation.path][operation.method]


def with_known_values(shop: Shop) -> dict[str, Any]:
    """The document, with parameters that take the names of the shop."""
    known = {**KNOWN, "connection_id": [shop.first], "connector_instance_id": [shop.first]}
    narrowed = copy.deepcopy(document())
    for operations in narrowed["paths"].values():
        for operation in operations.values():
            for parameter in operation["parameters"]:
                if (values := known.get(parameter["name"])) and parameter["schema"].get("type") == "array":
                    parameter["schema"]["items"] = {"enum": values}
                elif values:
                    parameter["schema"] = {"enum": values}
    return narrowed


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counter]:
    """One shop for all that is made up; what is written to it stays."""
    shop = Shop(tmp_path_factory.mktemp("shop") / "home")
    logging.disable(logging.CRITICAL)
    with shop.serving(rate_per_second=0) as counter:
        yield counter
    logging.disable(logging.NOTSET)
    shop.services.close()


def send(counter: Counter, case: Case, token: str | None) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = case.as_transport_kwargs(base_url="http://127.0.0.1", headers=headers)
    request.pop("cookies", None)
    if isinstance(request.get("data"), bytes):
        request["content"] = request.pop("data")
    return counter.client.request(**request)


def speak(counter: Counter, name: str, path: str, body: bytes = b"", blob: dict[str, Any] | None = None) -> Any:
    reference = blob or {}
    billed = b'{"data":' + orjson.dumps({"id": "o8", "invoice": reference}) + b"}"
    return counter.client.request(
        OPERATIONS[name].method,
        path.format(first=counter.shop.first, blob=reference.get("blob_id")),
        headers={"Authorization": f"Bearer {counter.shop.owner_token}", "Content-Type": "application/x-ndjson"},
        content=billed if body == BILLED else body,
    )


@requirement("rs.openapi.holds")
def test_each_operation_succeeds_as_documented(counter: Counter) -> None:
    blob: dict[str, Any] = {}
    for name, path, body in SPOKEN:
        response = speak(counter, name, path, body, blob)
        assert response.status_code in {200, 204}, (name, response.text)
        documented(name, document()).validate_response(response)
        if name == "keep_blob":
            blob = {key: value for key, value in response.json().items() if key != "object"}

    assert {name for name, *_ in SPOKEN} == set(OPERATIONS)


@requirement("rs.openapi.holds")
@pytest.mark.parametrize("name", OPERATIONS)
def test_requests_that_the_document_allows_are_answered_as_it_says(busy: Counter, name: str) -> None:
    operation = documented(name, with_known_values(busy.shop))
    tokens = some.sampled_from([busy.shop.token, busy.shop.owner_token, busy.shop.owner_token, "nobody", None])
    needed = {parameter.name for parameter in OPERATIONS[name].parameters if parameter.required}
    names = some.sampled_from([parameter.name for parameter in OPERATIONS[name].parameters] or [""])

    @quick
    @given(operation.as_strategy(), tokens, some.sets(names, max_size=3), BODIES.get(name, some.none()))
    def send_and_compare(case: Case, token: str | None, kept: set[str], body: bytes | None) -> None:
        case.query = {name: value for name, value in (case.query or {}).items() if name in needed | kept}
        case.body = case.body if body is None else body
        case.validate_response(send(busy, case, token), checks=HELD)

    send_and_compare()


@requirement("rs.openapi.holds")
@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_requests_that_the_document_forbids_are_refused_as_it_says(busy: Counter, name: str) -> None:
    @quick
    @given(documented(name, document()).as_strategy(GenerationMode.NEGATIVE))
    def send_and_compare(case: Case) -> None:
        case.validate_response(send(busy, case, busy.shop.owner_token), checks=HELD)

    send_and_compare()


def wrong_values(parameter: ParameterRow) -> list[str]:
    schema = parameter.schema
    low, high = schema.get("minimum"), schema.get("maximum")
    return [
        *(["nonsense"] if "enum" in schema or schema.get("type") == "integer" else []),
        *([str(low - 1)] if low is not None else []),
        *([str(high + 1)] if high is not None else []),
    ]


@requirement("rs.openapi.holds", "rs.parameters.unknown-refused")
@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_a_wrong_parameter_is_refused_by_its_name(counter: Counter, name: str) -> None:
    path = next(path for spoken, path, _ in SPOKEN if spoken == name)
    for parameter in OPERATIONS[name].parameters:
        named = f"{parameter.name}[x]" if parameter.nested else parameter.name
        wrong = [f"{named}={value}" for value in wrong_values(parameter)]
        once = [f"{named}=1&{named}=1"] if not parameter.repeats else []
        for added in [*wrong, *once, f"{parameter.name}x=1", f"{parameter.name}[a][b][c]=1"]:
            bare = "&".join(part for part in path.partition("?")[2].split("&") if not part.startswith(f"{named}="))
            response = speak(counter, name, f"{path.partition('?')[0]}?{bare}&{added}")
            blamed = response.json()["error"].get("param")
            assert (response.status_code, blamed) == (400, added.partition("=")[0].partition("[")[0]), added
