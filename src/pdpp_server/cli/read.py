"""`pdpp schema|query|aggregate|search|fetch|read`: the same answers an agent gets, in a terminal."""

import os
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import Any

import click
import orjson

from pdpp_server.cli.home import Home, now, open_home, read_settings
from pdpp_server.cli.options import Verb, arguments_from, options_of
from pdpp_server.cli.terminal import NOTHING_HERE, json_option, print_json
from pdpp_server.evidence.activity import COMMAND_CLIENT
from pdpp_server.mcp.server import BOTH_CHANNELS, STRUCTURED, TEXT, Channels, McpServer
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.queries import AggregateQuery, FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.model.times import iso
from pdpp_server.owner.own_reader import OwnReads
from pdpp_server.port.bridge import Bridge
from pdpp_server.port.credentials import find_credential
from pdpp_server.port.local import LocalReader
from pdpp_server.port.reader import Reader
from pdpp_server.wire.address import server_address
from pdpp_server.wire.envelope import Json, present
from pdpp_server.wire.far_tools import ToolAnswer, decode_result

ALL_HERE = "No grant is live, so this is read as you: all that is here."
PROVIDER, CLIENT, OWNER = "--provider-url", "--client", "--owner"


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


@click.command()
@click.argument("stream", required=False)
@options_of(SchemaQuery, "stream")
@grant_option
def schema(stream: str | None, grant: str | None, as_json: bool, **given: Any) -> int:
    """As an agent sees it: what may be asked.

    \b
    Example:
      pdpp schema
      pdpp schema notes
    """
    return _show("schema", arguments_from(SchemaQuery, stream=stream, **given), grant, as_json=as_json)


@click.command()
@click.argument("stream")
@options_of(RecordsQuery, "stream")
@grant_option
def query(stream: str, grant: str | None, as_json: bool, **given: Any) -> int:
    """As an agent sees it: the records of one stream.

    \b
    Example:
      pdpp query notes --filter "written_at>=2026-01-01" --limit 5
      pdpp query notes --changes-since beginning
    """
    return _show("query_records", arguments_from(RecordsQuery, stream=stream, **given), grant, as_json=as_json)


@click.command()
@click.argument("stream")
@options_of(AggregateQuery, "stream")
@grant_option
def aggregate(stream: str, metric: str | None, grant: str | None, as_json: bool, **given: Any) -> int:
    """As an agent sees it: numbers about the records of one stream.

    \b
    Example:
      pdpp aggregate notes
      pdpp aggregate notes --group-by-time written_at --granularity month
    """
    chosen = "count" if metric is None else metric
    asked = arguments_from(AggregateQuery, stream=stream, metric=chosen, **given)
    return _show("aggregate", asked, grant, as_json=as_json)


@click.command()
@click.argument("words", nargs=-1, required=True)
@options_of(SearchQuery, "text")
@grant_option
def search(words: tuple[str, ...], grant: str | None, as_json: bool, **given: Any) -> int:
    """As an agent sees it: records that hold these words.

    Put two dashes before words that begin with a minus.

    \b
    Example:
      pdpp search walrus clause
      pdpp search -- lease -deposit
    """
    asked = arguments_from(SearchQuery, text=" ".join(words), **given)
    return _show("search", asked, grant, as_json=as_json)


@click.command()
@click.argument("id")
@options_of(FetchQuery)
@grant_option
def fetch(id: str, grant: str | None, as_json: bool, **given: Any) -> int:
    """As an agent sees it: one record, by its id.

    \b
    Example:
      pdpp fetch markdown-k7q2m/notes:n-008 --fields title,written_at
    """
    asked = {**present(id=id), **arguments_from(FetchQuery, **given)}
    return _show("fetch", asked, grant, as_json=as_json)


@click.command()
@click.argument("id")
@click.argument("field")
@options_of(WindowQuery, "field", "connection_id")
@click.option("--cursor", help="Go on where an earlier answer ended.")
@grant_option
def read(id: str, field: str, cursor: str | None, grant: str | None, as_json: bool, **given: Any) -> int:
    """As an agent sees it: a part of one long field.

    \b
    Example:
      pdpp read markdown-k7q2m/notes:n-008 body --q walrus --limit 600
    """
    asked = {**present(id=id), **arguments_from(WindowQuery, field=field, **given), **present(cursor=cursor)}
    return _show("read_record_field", asked, grant, as_json=as_json)


def answer_to(reader: Reader | Bridge, tool: str, arguments: Json, channels: Channels = BOTH_CHANNELS) -> ToolAnswer:
    """The result of one tool call, as an agent receives it, in the channels that will be shown; a refusal in both."""
    return decode_result(orjson.loads(McpServer(TOOLS).call(lambda: reader, tool, arguments, channels)))


def _show(tool: str, arguments: Json, grant: str | None, *, as_json: bool) -> int:
    shown = STRUCTURED if as_json else TEXT
    with _reader(grant) as reader:
        answer = answer_to(reader, tool, arguments, frozenset({shown}))
    if as_json:
        print_json(answer.structured)
    if answer.is_error or not as_json:
        click.echo(answer.text, err=answer.is_error)
    if answer.is_error and answer.refused_as:
        click.echo(f"request id: {answer.refused_as}", err=True)
    return 1 if answer.is_error else 0


@contextmanager
def _reader(grant: str | None) -> Generator[Reader | Bridge, None, None]:
    """This home's records as that grant shows them, or another server's as its token shows them."""
    settings, meta = read_settings(), click.get_current_context().meta
    url: str | None = meta[PROVIDER] or (None if grant or meta[OWNER] else settings.provider_url)
    if grant and meta[OWNER]:
        raise click.UsageError(f"--grant shows what its client sees, {OWNER} everything: choose one of them.")
    if url is None:
        if meta[CLIENT]:
            does = f"{CLIENT} chooses a token for another server, with {PROVIDER}"
            raise click.UsageError(f"{does}; --grant reads this home as a client of it would.")
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
        click.echo(ALL_HERE if home.owner.sources() else NOTHING_HERE, err=True)
    return OwnReads(home.services, home.settings.public_url, COMMAND_CLIENT).reader()


def _only_grant(home: Home) -> str | None:
    """The only live grant or package; a grant inside a package is not asked for by itself. None where none lives."""
    moment = iso(now())
    live = [row for row in home.owner.grants() if row.state.word(moment) == "active"]
    match list(dict.fromkeys(row.standing for row in live)):
        case [only]:
            return only
        case []:
            return None
        case several:
            raise click.UsageError(
                f"There are several live grants; choose one with --grant, or {OWNER} to read as yourself: "
                f"{', '.join(several)}"
            )
