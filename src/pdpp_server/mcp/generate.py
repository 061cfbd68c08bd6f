"""Writes front.json: every answer that never changes, so that the first ones leave before the tools are imported."""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pdpp_server.mcp.resources import TEMPLATES, Template
from pdpp_server.mcp.session import HANDSHAKE, MODERN, SERVER_KEY
from pdpp_server.mcp.surface import INSTRUCTIONS, TOOLS
from pdpp_server.mcp.tool import Tool

FRONT = Path(__file__).with_name("front.json")
FRESH_MS = 300_000
HINTS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}

Answers = dict[str, dict[str, Any]]


def front() -> dict[str, Answers]:
    """Results by era and method. `initialize` lacks its version, and what is live in the later era its content."""
    server = {"name": "pdpp", "title": "Personal data", "version": version("pdpp-server")}
    capabilities: dict[str, Any] = {"tools": {}, "resources": {}, "completions": {}}
    about: dict[str, Any] = {"capabilities": capabilities, "instructions": INSTRUCTIONS}
    lists: Answers = {
        "tools/list": {"tools": [listing(tool) for tool in TOOLS]},
        "resources/list": {"resources": []},
        "resources/templates/list": {"resourceTemplates": [template_listing(each) for each in TEMPLATES]},
    }
    handshake: Answers = {"initialize": {"serverInfo": server, **about}, "ping": {}, **lists}
    complete = {"resultType": "complete", "_meta": {SERVER_KEY: server}}
    cached = {**complete, "ttlMs": FRESH_MS, "cacheScope": "public"}
    modern: Answers = {
        "server/discover": {**cached, "supportedVersions": [MODERN], **about},
        "tools/call": complete,
        "resources/read": {**complete, "ttlMs": 0, "cacheScope": "private"},  # each read is a line in the log
        "completion/complete": complete,
    }
    modern |= {method: {**cached, **result} for method, result in lists.items()}
    return {HANDSHAKE: handshake, MODERN: modern}


def listing(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": HINTS,
    }


def template_listing(template: Template) -> dict[str, Any]:
    return {
        "name": template.name,
        "title": template.title,
        "uriTemplate": template.uri,
        "description": template.description,
        "mimeType": template.media_type,
    }


def front_text() -> str:
    return json.dumps(front(), ensure_ascii=False, indent=1) + "\n"


def main(argv: list[str]) -> None:
    if "--check" not in argv:
        FRONT.write_text(front_text(), "utf-8")
    elif not FRONT.exists() or FRONT.read_text("utf-8") != front_text():
        raise SystemExit(f"{FRONT.name} is out of date: run make fix.")


if __name__ == "__main__":
    main(sys.argv[1:])
