"""`pdpp schema|search|fetch|read`: the same answers an agent gets, in a terminal."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click
import orjson

from pdpp_server.cli.home import Home, now, open_home
from pdpp_server.cli.terminal import json_option, print_json
from pdpp_server.errors import Unauthenticated
from pdpp_server.mcp.server import McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.times import iso
from pdpp_server.port.local import LocalReader

Verb = TypeVar("Verb", bound=Callable[..., Any])


def grant_option(verb: Verb) -> Verb:
    says = "Read as that grant's client would; needed only where there are several grants."
    return click.option("--grant", metavar="ID", help=says)(json_option(verb))


connection_option = partial(click.option, "--connection", metavar="ID", help="Only that connection.")


@click.command()
@click.argument("stream", required=False)
@connection_option()
@click.option("--full", is_flag=True, help="Everything that is declared of that stream.")
@grant_option
def schema(stream: str | None, connection: str | None, full: bool, grant: str | None, as_json: bool) -> int:
    """As an agent sees it: what may be asked.

    \b
    Example:
      pdpp schema
      pdpp schema notes
    """
    arguments = {"stream": stream, "connection_id": connection, "detail": "full" if full else None}
    return _show("schema", arguments, grant, as_json=as_json)


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--stream", "streams", multiple=True, help="Only that stream; may be given several times.")
@connection_option()
@click.option("--limit", type=int, help="At most so many hits.")
@click.option("--cursor", help="Go on where an earlier answer ended.")
@grant_option
def search(
    words: tuple[str, ...],
    streams: tuple[str, ...],
    connection: str | None,
    limit: int | None,
    cursor: str | None,
    grant: str | None,
    as_json: bool,
) -> int:
    """As an agent sees it: records that hold these words.

    Put two dashes before words that begin with a minus.

    \b
    Example:
      pdpp search walrus clause
      pdpp search -- lease -deposit
    """
    arguments = {
        "query": " ".join(words),
        "streams": list(streams) or None,
        "connection_id": connection,
        "limit": limit,
        "cursor": cursor,
    }
    return _show("search", arguments, grant, as_json=as_json)


@click.command()
@click.argument("id")
@click.option("--fields", metavar="A,B", help="Only these fields.")
@connection_option()
@grant_option
def fetch(id: str, fields: str | None, connection: str | None, grant: str | None, as_json: bool) -> int:
    """As an agent sees it: one record, by its id.

    \b
    Example:
      pdpp fetch cin_0123456789abcdef01234567/notes:n-008 --fields title,written_at
    """
    named = [name.strip() for name in fields.split(",")] if fields is not None else None
    return _show("fetch", {"id": id, "fields": named, "connection_id": connection}, grant, as_json=as_json)


@click.command()
@click.argument("id")
@click.argument("field")
@click.option("--offset", type=int, help="From that character on.")
@click.option("--q", metavar="TEXT", help="From the first place that holds this text.")
@click.option("--cursor", help="Go on where an earlier answer ended.")
@click.option("--limit", type=int, help="At most so many characters.")
@grant_option
def read(
    id: str,
    field: str,
    offset: int | None,
    q: str | None,
    cursor: str | None,
    limit: int | None,
    grant: str | None,
    as_json: bool,
) -> int:
    """As an agent sees it: a part of one long field.

    \b
    Example:
      pdpp read cin_0123456789abcdef01234567/notes:n-008 body --q walrus --limit 600
    """
    place = {"offset_chars": offset, "q": q, "cursor": cursor, "limit_chars": limit}
    return _show("read_record_field", {"id": id, "field_path": field, **place}, grant, as_json=as_json)


def answer_to(reader: LocalReader, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The result of one tool call, exactly as an agent receives it."""
    return orjson.loads(McpServer(TOOLS).call(lambda: reader, tool, arguments))


def _show(tool: str, arguments: dict[str, Any], grant: str | None, *, as_json: bool) -> int:
    given = {name: value for name, value in arguments.items() if value is not None}
    with open_home() as home:
        token = home.owner.preview_token(grant or _only_grant(home))
        result = answer_to(LocalReader(home.services, token, home.settings.public_url), tool, given)
    refused = result.get("isError", False)
    structured: dict[str, Any] = result["structuredContent"]
    if as_json:
        print_json(structured)
    if refused or not as_json:
        click.echo(result["content"][0]["text"], err=refused)
    if refused and (request_id := structured["error"].get("request_id")):
        click.echo(f"request id: {request_id}", err=True)
    return 1 if refused else 0


def _only_grant(home: Home) -> str:
    """The only live grant or package; a grant inside a package is not asked for by itself."""
    moment = iso(now())
    live = [row for row in home.owner.grants() if row.state.word(moment) == "active"]
    match list(dict.fromkeys(row.package_id or row.grant.grant_id for row in live)):
        case [only]:
            return only
        case []:
            raise Unauthenticated(
                "There is no live grant to read by.",
                remedy="Make one with `pdpp grants create --selection FILE --client NAME`.",
            )
        case several:
            raise click.UsageError(f"There are several live grants; choose one with --grant: {', '.join(several)}")
