"""How an app is connected: the one address, then the line that each client takes."""

from urllib.parse import urlsplit

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.wire.clients import mcp_json, ways
from pdpp_server.wire.discovery import MCP

NAME = "my-data"


def show(desks: Desks, visit: Visit) -> Page:
    address = f"{visit.origin}{MCP}"
    values = {
        "address": address,
        "ways": ways(NAME, address),
        "file": mcp_json(NAME, address),
        "is_public": urlsplit(address).scheme == "https",
    }
    return Page("connect.html", values)
