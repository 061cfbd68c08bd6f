"""The examples for operators name settings, ports, probes and files that there are."""

import re
from pathlib import Path
from typing import Any

import yaml

from pdpp_server.resource_server.endpoints import ENDPOINTS
from pdpp_server.settings import variables
from tests.requirements import requirement

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CONTAINER = (DEPLOY / "Containerfile").read_text("utf-8")
TOLD = (DEPLOY / "compose.yaml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TOLD)
OBJECTS: list[dict[str, Any]] = [*yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))]
SETTINGS = {variable.name for variable in variables()}
OF_LIBPQ = {"PGPASSFILE"}
PATHS = {endpoint.operation.path for endpoint in ENDPOINTS}
ASIDE = 2  # connections of a process for lines of the log


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = [each for each in OBJECTS if each["kind"] == kind]
    return found


def servers() -> list[dict[str, Any]]:
    return [COMPOSE["services"][name] for name in ("one", "two")]


@requirement("store.engines.deployed")
def test_two_servers_stand_behind_a_balancer_on_one_database() -> None:
    balanced = COMPOSE["configs"]["balancer"]["content"]
    assert "reverse_proxy one:8787 two:8787" in balanced
    assert re.findall(r"health_uri (\S+)", balanced) == ["/readyz"]
    for server in servers():
        assert set(server["environment"]) <= SETTINGS | OF_LIBPQ
        assert {"PDPP_DATABASE_URL", "PDPP_KEY_FILE", "PDPP_PUBLIC_URL"} <= set(server["environment"])
        assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    role = COMPOSE["configs"]["role"]["content"]
    assert "create role pdpp login" in role
    assert "superuser" not in role


@requirement("store.engines.deployed")
def test_everything_that_compose_refers_to_is_declared() -> None:
    for service in COMPOSE["services"].values():
        assert set(service.get("secrets", [])) <= COMPOSE["secrets"].keys()
        assert {each["source"] for each in service.get("configs", [])} <= COMPOSE["configs"].keys()
        assert set(service.get("depends_on", [])) <= COMPOSE["services"].keys()
        named = {volume.partition(":")[0] for volume in service.get("volumes", [])}
        assert named <= COMPOSE["volumes"].keys()
    made = [each["file"].removeprefix("./") for each in COMPOSE["secrets"].values()]
    assert [name for name in made if f"> deploy/{name}" not in TOLD] == []


@requirement("store.engines.deployed")
def test_a_database_has_room_for_the_connections_of_all_servers() -> None:
    each = int(servers()[0]["environment"]["PDPP_DATABASE_CONNECTIONS"]) + ASIDE
    room = next(word for word in COMPOSE["services"]["database"]["command"] if word.startswith("max_connections="))
    assert len(servers()) * each < int(room.partition("=")[2])
    deployed = of_kind("Deployment")["spec"]
    most = deployed["replicas"] + deployed["strategy"]["rollingUpdate"]["maxSurge"]
    assert most * each < int(of_kind("Cluster")["spec"]["postgresql"]["parameters"]["max_connections"])


@requirement("store.engines.deployed")
def test_the_objects_of_kubernetes_fit_together() -> None:
    assert all({"apiVersion", "kind", "metadata", "spec"} <= each.keys() for each in OBJECTS)
    assert {each["metadata"]["namespace"] for each in OBJECTS} == {"pdpp"}
    cluster, deployed = of_kind("Cluster"), of_kind("Deployment")["spec"]
    pod = deployed["template"]["spec"]
    (container,) = pod["containers"]
    assert {each["name"] for each in container["env"]} <= SETTINGS
    assert container["env"][0]["valueFrom"]["secretKeyRef"]["name"] == f"{cluster['metadata']['name']}-app"
    assert of_kind("ScheduledBackup")["spec"]["cluster"] == {"name": cluster["metadata"]["name"]}
    assert {container[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")} <= PATHS
    assert {each["name"] for each in container["volumeMounts"]} == {each["name"] for each in pod["volumes"]}
    labels = deployed["template"]["metadata"]["labels"]
    assert deployed["selector"]["matchLabels"] == labels == of_kind("Service")["spec"]["selector"]
    assert labels == of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"]
    assert f"--uid {pod['securityContext']['runAsUser']}" in CONTAINER
    assert f"EXPOSE {container['ports'][0]['containerPort']}" in CONTAINER


@requirement("store.engines.deployed")
def test_the_image_has_the_driver_of_postgresql_with_its_digests() -> None:
    pinned = (ROOT / "requirements" / "postgres.txt").read_text("utf-8")
    everywhere = (ROOT / "requirements" / "dev.txt").read_text("utf-8")
    assert "-r requirements/postgres.txt" in CONTAINER
    versions = [line.split()[0] for line in pinned.splitlines() if "==" in line]
    assert [version for version in versions if version not in everywhere] == []
    assert [
        name for name in ("psycopg==", "psycopg-binary==") if not any(line.startswith(name) for line in versions)
    ] == []
    assert pinned.count("--hash=sha256:") >= len(versions)
