"""The API document and the server are printed from one table: neither knows a route that the other does not."""

from pathlib import Path

import jsonschema_rs
import orjson
import pytest
from click.testing import CliRunner
from starlette.routing import Route
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.cli.openapi import openapi
from pdpp_server.resource_server.endpoint import Endpoint
from pdpp_server.resource_server.endpoints import ENDPOINTS, document
from pdpp_server.settings import Settings
from pdpp_server.wire.bodies import SCHEMAS
from pdpp_server.wire.errors import refusals
from tests.requirements import requirement
from tests.worlds.world import World

OPERATIONS = [row.operation for row in ENDPOINTS]
each_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def documented() -> set[tuple[str, str]]:
    return {(method.upper(), path) for path, methods in document()["paths"].items() for method in methods}


@requirement("rs.openapi.document")
def test_every_route_is_documented_and_every_document_is_routed(world: World) -> None:
    app = create_app(Settings(home=world.home), world.services)
    routed = {
        (method, route.path)
        for route in app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }

    assert documented() == routed


@requirement("rs.openapi.document")
@each_operation
def test_an_operation_says_what_it_does(operation) -> None:
    said = document()["paths"][operation.path][operation.method.lower()]

    assert said["operationId"] == operation.name
    assert said["summary"].endswith(".")
    assert all(parameter["description"].endswith(".") for parameter in said["parameters"])
    assert [parameter["name"] for parameter in said["parameters"] if parameter["in"] == "query"] == [
        parameter.name for parameter in operation.parameters
    ]
    assert all(response["description"].endswith(".") for response in said["responses"].values())
    assert ("401" in said["responses"]) is bool(said["security"])


@requirement("rs.openapi.document")
def test_names_are_given_once_and_only_to_what_is_used() -> None:
    names = [operation.name for operation in OPERATIONS]
    used = str(document()["paths"]) + str(SCHEMAS)

    assert len(set(names)) == len(names)
    assert [name for name in SCHEMAS if f"#/components/schemas/{name}'" not in used] == []


@requirement("rs.openapi.document")
def test_every_refusal_of_the_server_is_documented_somewhere() -> None:
    """Those of tools, of pages, of the command and of importing, and categories that only group others, are not."""
    elsewhere = {
        "approval_conflict",
        "conflict",
        "conflicting_connection_id",
        "invalid_authorization_details",
        "invalid_field_window_selector",
        "invalid_record",
        "package_revoked",
        "source_unavailable",
    }
    documented = {refusal.code for operation in OPERATIONS for refusal in operation.refusals}
    not_raised = {"grant_consumed", "grant_time_range_exceeded", "run_terminal"}

    assert {refusal.code for refusal in refusals()} - documented == elsewhere | not_raised


@requirement("rs.openapi.document")
def test_the_schemas_are_schemas() -> None:
    for name, schema in SCHEMAS.items():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
        assert name[0].isupper()


@requirement("rs.openapi.document")
def test_a_body_has_a_limit_where_one_is_sent() -> None:
    for row in ENDPOINTS:
        assert (row.operation.sends is not None) is (isinstance(row, Endpoint) and row.body_bytes_max > 0)


@requirement("rs.openapi.document")
def test_the_command_and_the_server_give_the_same_document(world: World) -> None:
    with TestClient(create_app(Settings(home=world.home), world.services), base_url="http://127.0.0.1") as client:
        served = client.get("/openapi.json")
    printed = CliRunner().invoke(openapi)

    assert served.status_code == 200
    assert served.json() == orjson.loads(printed.output) == orjson.loads(orjson.dumps(document()))


@requirement("rs.openapi.document")
def test_the_page_of_the_reference_lists_every_operation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text("utf-8")

    assert [f"{method} {path}" for method, path in sorted(documented()) if f"## {method} {path}\n" not in page] == []
