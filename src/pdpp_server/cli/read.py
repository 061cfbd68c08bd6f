"""`pdpp schema|query|aggregate|search|fetch|read`: the same answers an agent gets, in a terminal."""

import os
import re
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, TypeVar

import click
import orjson

from pdpp_server.cli.home import Home, now, open_home, read_settings
from pdpp_server.cli.terminal import json_option, print_json
from pdpp_server.evidence.activity import COMMAND_CLIENT
from pdpp_server.mcp.server import BOTH_CHANNELS, STRUCTURED, TEXT, Channels, McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.times import iso
from pdpp_server.owner.own_reader import OwnReads
from pdpp_server.port.bridge import Bridge
from pdpp_server.port.credentials import find_credential
from pdpp_server.port.local import LocalReader
from pdpp_server.port.reader import Reader
from pdpp_server.wire.address import server_address

PROVIDER, CLIENT, OWNER = "--provider-url", "--client", "--owner"

Verb = TypeVar("Verb", bound=Callable[..., Any])


def _elsewhere_option(name: str, metavar: str, says: str) -> Callable[[Verb], Verb]:
    return click.option(name, metavar=metavar, help=says, expose_value=False, callback=_keep)


def _keep(context: click.Context, parameter: click.Parameter, value: str | bool | None) -> None:
    """Beside the verb's own arguments: who reads, and whose records, does not change what is asked of them."""
    context.meta[parameter.opts[0]] = value


def grant_option(verb: Verb) -> Verb:
    says = "Read as that grant's client would; needed only where there are several grants."
    everything = "Read everything, as yourself.  [default where there is no grant]"
    verb = click.option(OWNER, is_flag=True, help=everything, expose_value=False, callback=_keep)(verb)
    with_provider = _elsewhere_option(PROVIDER, "URL", "Read from that server instead of this home.")(json_option(verb))
    with_client = _elsewhere_option(CLIENT, "NAME", "The saved client of that server whose token is used.")(
        with_provider
    )
    return click.option("--grant", metavar="ID", help=says)(with_client)


connection_option = partial(click.option, "--connection", metavar="ID", help="Only that connection.")
filter_option = partial(
    click.option,
    "--filter",
    "filters",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only records with that value; also FIELD>=VALUE, >, <=, <. May be given several times.",
)
_FILTER = re.compile(r"([^=<>]+)(=|>=|>|<=|<)(.*)", re.DOTALL)
_OPERATORS = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}


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
@click.argument("stream")
@filter_option()
@click.option("--sort", metavar="[-]FIELD", help="By that field; with a minus before it from the last to the first.")
@click.option("--fields", metavar="A,B", help="Only these fields.")
@click.option("--view", metavar="NAME", help="The fields of a declared view.")
@click.option("--expand", metavar="A,B", help="Related records too; A:3 for at most three of them.")
@click.option("--count", is_flag=True, help="Say how many there are in all.")
@click.option("--limit", type=int, help="At most so many records.")
@click.option("--cursor", help="Go on where an earlier answer ended.")
@click.option("--changes-since", metavar="MARK", help="What changed since `beginning`, or since a kept mark.")
@connection_option()
@grant_option
def query(
    stream: str,
    filters: tuple[str, ...],
    sort: str | None,
    fields: str | None,
    view: str | None,
    expand: str | None,
    count: bool,
    limit: int | None,
    cursor: str | None,
    changes_since: str | None,
    connection: str | None,
    grant: str | None,
    as_json: bool,
) -> int:
    """As an agent sees it: the records of one stream.

    \b
    Example:
      pdpp query notes --filter "written_at>=2026-01-01" --limit 5
      pdpp query notes --changes-since beginning
    """
    relations = [name.partition(":") for name in _listed(expand) or ()]
    arguments = {
        "stream": stream,
        "filter": _typed(filters),
        "sort": sort,
        "fields": _listed(fields),
        "view": view,
        "expand": [name for name, _, _ in relations] or None,
        "expand_limit": {name: int(most) if most.isdecimal() else most for name, _, most in relations if most} or None,
        "count": "exact" if count else None,
        "limit": limit,
        "cursor": cursor,
        "changes_since": changes_since,
        "connection_id": connection,
    }
    return _show("query_records", arguments, grant, as_json=as_json)


@click.command()
@click.argument("stream")
@click.option("--metric", default="count", help="count (unless told), sum, min, max or count_distinct.")
@click.option("--field", help="Of which field; for every metric but count.")
@filter_option()
@click.option("--group-by", metavar="FIELD", help="Count for each value of that field.")
@click.option("--group-by-time", metavar="FIELD", help="Count for each period, by that field.")
@click.option("--granularity", metavar="PERIOD", help="minute, hour, day, week, month, quarter or year.")
@click.option("--time-zone", metavar="ZONE", help="Whose clock the periods follow; UTC unless told.")
@click.option("--limit", type=int, help="At most so many groups.")
@connection_option()
@grant_option
def aggregate(
    stream: str,
    metric: str,
    field: str | None,
    filters: tuple[str, ...],
    group_by: str | None,
    group_by_time: str | None,
    granularity: str | None,
    time_zone: str | None,
    limit: int | None,
    connection: str | None,
    grant: str | None,
    as_json: bool,
) -> int:
    """As an agent sees it: numbers about the records of one stream.

    \b
    Example:
      pdpp aggregate notes
      pdpp aggregate notes --group-by-time written_at --granularity month
    """
    arguments = {
        "stream": stream,
        "metric": metric,
        "field": field,
        "group_by": group_by,
        "group_by_time": group_by_time,
        "granularity": granularity,
        "time_zone": time_zone,
        "limit": limit,
        "filter": _typed(filters),
        "connection_id": connection,
    }
    return _show("aggregate", arguments, grant, as_json=as_json)


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
    arguments = {"id": id, "fields": _listed(fields), "connection_id": connection}
    return _show("fetch", arguments, grant, as_json=as_json)


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


def _listed(names: str | None) -> list[str] | None:
    return [name.strip() for name in names.split(",")] if names is not None else None


def _typed(filters: tuple[str, ...]) -> dict[str, Any] | None:
    """`a=1` and `b>=2` as the typed filter that the tool takes; two bounds of one field are one range."""
    typed: dict[str, Any] = {}
    for given in filters:
        found = _FILTER.fullmatch(given)
        if found is None:
            raise click.UsageError("--filter is FIELD=VALUE, or FIELD with >=, >, <= or < and VALUE.")
        field, operator, value = found[1].strip(), found[2], found[3].strip()
        bounds = {_OPERATORS[operator]: value} if operator in _OPERATORS else value
        known = typed.get(field)
        typed[field] = {**known, **bounds} if isinstance(known, dict) and isinstance(bounds, dict) else bounds
    return typed or None


def answer_to(
    reader: Reader | Bridge, tool: str, arguments: dict[str, Any], channels: Channels = BOTH_CHANNELS
) -> dict[str, Any]:
    """The result of one tool call, as an agent receives it, in the channels that will be shown; a refusal in both."""
    return orjson.loads(McpServer(TOOLS).call(lambda: reader, tool, arguments, channels))


def _show(tool: str, arguments: dict[str, Any], grant: str | None, *, as_json: bool) -> int:
    given = {name: value for name, value in arguments.items() if value is not None}
    with _reader(grant) as reader:
        result = answer_to(reader, tool, given, frozenset({STRUCTURED if as_json else TEXT}))
    refused = result.get("isError", False)
    if as_json:
        print_json(result["structuredContent"])
    if refused or not as_json:
        click.echo(result["content"][0]["text"], err=refused)
    error: dict[str, Any] = result.get("structuredContent", {}).get("error", {})
    if refused and (request_id := error.get("request_id")):
        click.echo(f"request id: {request_id}", err=True)
    return 1 if refused else 0


@contextmanager
def _reader(grant: str | None) -> Generator[Reader | Bridge, None, None]:
    """This home's records as that grant shows them, or another server's as its token shows them."""
    settings, meta = read_settings(), click.get_current_context().meta
    url: str | None = meta[PROVIDER] or (None if grant or meta[OWNER] else settings.provider_url)
    if grant and meta[OWNER]:
        raise click.UsageError(f"--grant shows what its client sees, {OWNER} everything: choose one of them.")
    if url is None:
        with open_home(settings) as home:
            yield _reader_here(home, grant, as_owner=meta[OWNER])
        return
    if grant or meta[OWNER]:
        given = "--grant names a grant" if grant else f"{OWNER} means the owner"
        raise click.UsageError(f"{given} of this home; it does not go with {PROVIDER}.")
    try:
        address = server_address(url, plain_http=settings.provider_plain_http)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    from pdpp_server.cli.provider import open_provider  # noqa: PLC0415 - this home's records need no HTTP client

    found = find_credential(str(settings.home), os.environ, meta[CLIENT], now=iso(now()), provider=address)
    with closing(open_provider(settings, address, found)) as reader:
        yield reader


def _reader_here(home: Home, grant: str | None, *, as_owner: bool) -> Reader:
    chosen = None if as_owner else grant or _only_grant(home)
    if chosen is not None:
        return LocalReader(home.services, home.owner.preview_token(chosen), home.settings.public_url)
    if not as_owner:
        click.echo("No grant is live, so this is read as you: all that is here.", err=True)
    return OwnReads(home.services, home.settings.public_url, COMMAND_CLIENT).reader()


def _only_grant(home: Home) -> str | None:
    """The only live grant or package; a grant inside a package is not asked for by itself. None where none lives."""
    moment = iso(now())
    live = [row for row in home.owner.grants() if row.state.word(moment) == "active"]
    match list(dict.fromkeys(row.package_id or row.grant.grant_id for row in live)):
        case [only]:
            return only
        case []:
            return None
        case several:
            raise click.UsageError(
                f"There are several live grants; choose one with --grant, or {OWNER} to read as yourself: "
                f"{', '.join(several)}"
            )
