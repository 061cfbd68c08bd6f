"""What others install us by: the package, the entry of the registry, the bundle."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from pdpp_server.mcp.surface import TOOLS
from pdpp_server.settings import variables
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tools import mcpb
from tools.tree import ROOT

SERVER: dict[str, Any] = json.loads(ROOT.joinpath("server.json").read_text("utf-8"))
MANIFEST: dict[str, Any] = json.loads(mcpb.SOURCES.joinpath("manifest.json").read_text("utf-8"))
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}

# What the registry demands of an entry for a package on PyPI that is run over stdio, in our own words.
TEXT = {"type": "string", "minLength": 1}
SHORT = {**TEXT, "maxLength": 100}
EXACT = {"type": "string", "pattern": r"^\d+\.\d+\.\d+([.-]?[0-9A-Za-z.]+)?$", "maxLength": 255}
INPUT = {
    "description": TEXT,
    "value": TEXT,
    "default": TEXT,
    "isRequired": {"type": "boolean"},
    "isSecret": {"type": "boolean"},
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
}
ARGUMENT = {
    "oneOf": [
        {
            "required": ["type"],
            "properties": {**INPUT, "type": {"const": "positional"}, "valueHint": TEXT},
            "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
            "additionalProperties": False,
        },
        {
            "required": ["type", "name"],
            "properties": {**INPUT, "type": {"const": "named"}, "name": TEXT},
            "additionalProperties": False,
        },
    ]
}
VARIABLE = {
    "required": ["name"],
    "properties": {**INPUT, "name": {"type": "string", "pattern": "^[A-Z_]+$"}},
    "additionalProperties": False,
}
PACKAGE = {
    "required": ["registryType", "identifier", "version", "transport"],
    "properties": {
        "registryType": {"const": "pypi"},
        "identifier": TEXT,
        "version": EXACT,
        "runtimeHint": {"const": "uvx"},
        "transport": {"const": {"type": "stdio"}},
        "packageArguments": {"type": "array", "items": ARGUMENT},
        "environmentVariables": {"type": "array", "items": VARIABLE},
    },
    "additionalProperties": False,
}
ENTRY = {
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": SHORT,
        "description": SHORT,
        "version": EXACT,
        "packages": {"type": "array", "minItems": 1, "items": PACKAGE},
    },
    "additionalProperties": False,
}


@requirement("cli.install.registry")
def test_the_entry_for_the_registry_is_as_the_registry_demands() -> None:
    faults = [f"{fault.instance_path}: {fault.message}" for fault in jsonschema_rs.iter_errors(ENTRY, SERVER)]

    assert faults == []
    assert SERVER["packages"][0]["packageArguments"][0] == {"type": "positional", "value": "mcp"}


@requirement("cli.install.registry")
def test_the_readme_carries_the_name_by_which_the_registry_knows_us() -> None:
    marks = re.findall(r"<!-- mcp-name: (\S+) -->", ROOT.joinpath("README.md").read_text("utf-8"))

    assert marks == [SERVER["name"]]


@requirement("cli.install.registry")
def test_the_variables_of_the_entry_are_read_by_the_command() -> None:
    known = {variable.name for variable in variables()} | {"PDPP_ACCESS_TOKEN"}

    assert {each["name"] for each in SERVER["packages"][0]["environmentVariables"]} <= known


@requirement("cli.install.names")
def test_every_version_that_is_stated_is_the_same() -> None:
    (package,) = SERVER["packages"]
    front = json.loads(ROOT.joinpath("src/pdpp_server/mcp/front.json").read_text("utf-8"))
    greeted = front["handshake"]["initialize"]["serverInfo"]
    stated = {each["version"] for each in (SERVER, package, MANIFEST, greeted)}

    assert stated == {mcpb.project()["version"]}


@requirement("cli.install.names")
def test_the_package_brings_the_command_under_its_own_name_too() -> None:
    scripts = mcpb.project()["scripts"]

    assert scripts["pdpp-server"] == scripts["pdpp"]
    assert SERVER["packages"][0]["identifier"] == MANIFEST["name"] == mcpb.project()["name"]


@requirement("cli.install.bundle")
def test_the_manifest_lists_the_tools_that_there_are() -> None:
    assert [tool["name"] for tool in MANIFEST["tools"]] == [tool.name for tool in TOOLS]


@requirement("cli.install.bundle")
def test_what_the_bundle_starts_answers_with_the_package_inside_of_it(tmp_path: Path) -> None:
    notes = Command(tmp_path / "home", tmp_path)
    assert notes.import_notes().code == 0
    notes.grant("--save", client=MANIFEST["user_config"]["client"]["default"])
    (tmp_path / "gathered").mkdir()
    mcpb.gather(tmp_path / "gathered")
    mcpb.pack(tmp_path / "gathered", tmp_path / "made.mcpb")
    mcpb.mcpb("unpack", tmp_path / "made.mcpb", tmp_path / "bundle")

    listed, found = _answers(notes, tmp_path / "bundle")

    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in TOOLS]
    assert "walrus" in found["content"][0]["text"]
    assert (tmp_path / "bundle" / "src" / "pdpp_server" / "mcp" / "__pycache__").is_dir()


@requirement("cli.install.bundle")
def test_a_manifest_that_its_makers_would_refuse_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({**MANIFEST, "server": {"type": "uv"}}), "utf-8")

    with pytest.raises(SystemExit, match="server"):
        mcpb.pack(tmp_path, tmp_path / "made.mcpb")


@requirement("cli.install.deploy")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    judge = shutil.which("systemd-analyze")
    program = tmp_path / ".local" / "bin" / "pdpp"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    command = [judge or "true", "verify", "--user", "--man=no", str(ROOT / "deploy" / "pdpp.service")]
    surroundings = {**os.environ, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}

    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@requirement("cli.install.deploy")
def test_what_the_image_is_built_from_is_in_the_tree() -> None:
    steps = ROOT.joinpath("deploy", "Containerfile").read_text("utf-8")
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", steps, re.MULTILINE) for name in line.split()]

    assert [name for name in copied if not ROOT.joinpath(name).exists()] == []
    assert {"pyproject.toml", "requirements/postgres.txt", "src"} <= set(copied)


def _answers(notes: Command, bundle: Path) -> list[Any]:
    """Its command as a client runs it, but with the packages that are installed here: nothing is fetched."""
    config = MANIFEST["server"]["mcp_config"]
    filled = {"${__dirname}": str(bundle), "${user_config.client}": MANIFEST["user_config"]["client"]["default"]}
    installed = Path(sys.executable).parent
    asked = [
        {"id": 0, "method": "initialize", "params": GREETING},
        {"id": 1, "method": "tools/list"},
        {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "walrus"}}},
    ]
    done = subprocess.run(
        [config["command"], *(filled.get(word, word) for word in config["args"])],
        input="".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked),
        env=notes.environment(
            PATH=f"{installed}{os.pathsep}{os.environ['PATH']}",
            UV_PROJECT_ENVIRONMENT=str(installed.parent),
            UV_NO_SYNC="1",
            UV_OFFLINE="1",
            PYTHONDONTWRITEBYTECODE="",
        ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["result"] for line in done.stdout.splitlines()][1:]
