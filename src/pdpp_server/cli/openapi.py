"""`pdpp openapi`: the HTTP API as a document for programs."""

import click

from pdpp_server.cli.terminal import print_json
from pdpp_server.resource_server.endpoints import document


@click.command()
def openapi() -> None:
    """The HTTP API as an OpenAPI document, as /openapi.json gives it.

    \b
    Example:
      pdpp openapi > openapi.json
    """
    print_json(document())
