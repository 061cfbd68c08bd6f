"""`pdpp grants`: list, show, create, change, name, preview, revoke, explain: who may read what, until when."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import IO, Any, NamedTuple, cast

import click
import orjson

from pdpp_server.cli.home import named_home, now, open_home, shell_line
from pdpp_server.cli.options import arguments_from
from pdpp_server.cli.read import answer_to
from pdpp_server.cli.saved import live_grant, save_credential
from pdpp_server.cli.terminal import json_option, moment, print_columns, print_json, print_line
from pdpp_server.errors import InvalidAuthorizationDetails
from pdpp_server.evidence.grants import stream_line
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.model.grants import Grant
from pdpp_server.model.queries import FetchQuery, Query, RecordsQuery, SchemaQuery, SearchQuery
from pdpp_server.model.selections import Selection
from pdpp_server.model.times import iso
from pdpp_server.owner.desk import IssuedGrant
from pdpp_server.port.credentials import NAME_RULE, is_client_name
from pdpp_server.port.local import LocalReader
from pdpp_server.store.consent.grants import GrantRow
from pdpp_server.wire.command.grants import (
    encode_explanation,
    encode_grants,
    encode_issued,
    encode_preview,
    encode_row,
)
from pdpp_server.wire.envelope import Json
from pdpp_server.wire.grants import decode_selection

DAYS = 90
CLIENT_CHARS = 80


@click.group()
def grants() -> None:
    """Who may read what, until when: make it, see it, end it.

    \b
    Example:
      pdpp grants list
      pdpp grants revoke grt_0123456789abcdef
    """


@grants.command("list")
@json_option
def list_grants(as_json: bool) -> None:
    """Every grant that was ever given, with its state.

    \b
    Example:
      pdpp grants list
    """
    with open_home() as home:
        rows = home.owner.grants()
    if as_json:
        print_json(encode_grants(map(_document, rows)))
    elif rows:
        print_columns([_row(row) for row in rows])
    else:
        click.echo("No grant was given yet. `pdpp connect CLIENT` asks for one; for scripts: `pdpp grants create`.")


@grants.command()
@click.argument("grant")
@json_option
def show(grant: str, as_json: bool) -> None:
    """One grant, or every grant of a package: streams, fields, connections, time.

    \b
    Example:
      pdpp grants show grt_0123456789abcdef
    """
    with open_home() as home:
        rows = home.owner.grant(grant)
    if as_json:
        print_json(encode_grants(map(_document, rows)))
        return
    for row in rows:
        click.echo("  ".join(visible(cell) for cell in _row(row)))
        _print_streams(row.grant)


def _expiry(_: click.Context, __: click.Parameter, value: str) -> str | None:
    if value == "never":
        return None
    try:
        days = re.fullmatch(r"(\d+)d", value, re.ASCII)
        ends = now() + timedelta(days=int(days[1])) if days else datetime.fromisoformat(value)
    except (ValueError, OverflowError):
        raise click.BadParameter("give a date such as 2027-01-31, a number of days such as 30d, or never.") from None
    ends = ends if ends.tzinfo else ends.replace(tzinfo=UTC)
    if ends <= now():
        raise click.BadParameter("that is over already.")
    return iso(ends)


class End(NamedTuple):
    at: str | None  # None for none


def _new_end(context: click.Context, parameter: click.Parameter, value: str | None) -> End | None:
    return None if value is None else End(_expiry(context, parameter, value))


def _client(_: click.Context, __: click.Parameter, value: str) -> str:
    name = value.strip()
    if not name or len(name) > CLIENT_CHARS or not name.isprintable():
        raise click.BadParameter(f"a client's name has 1 to {CLIENT_CHARS} printable characters.")
    return name


@grants.command()
@click.option(
    "--selection", "file", required=True, type=click.File("rb"), help="RFC 9396 authorization_details; - is stdin."
)
@click.option("--client", required=True, callback=_client, help="What you call whoever will read.")
@click.option(
    "--expires",
    default=f"{DAYS}d",
    show_default=True,
    callback=_expiry,
    metavar="DATE|DAYSd|never",
    help="When it ends.",
)
@click.option("--save", "saved", is_flag=True, help="Keep the token for `pdpp mcp --client NAME`.")
@json_option
def create(file: IO[bytes], client: str, expires: str | None, saved: bool, as_json: bool) -> None:
    """Agree to what one client may read, and get its token.

    FILE holds one JSON object, or a list of them; each names a source, and of it streams, and of them fields,
    connections and times. Several sources make a package: one token, one grant for each source.

    \b
    Example:
      pdpp grants create --selection selection.json --client my-agent --expires 30d --save

    \b
    where selection.json is, for instance:
      {"type": "https://pdpp.dev/data-access",
       "source": {"id": "https://registry.pdpp.dev/connectors/commonplace"},
       "purpose_code": "https://pdpp.dev/purpose/assistant",
       "access_mode": "continuous",
       "streams": [{"name": "notes", "fields": ["title", "body", "written_at"],
                    "instance_ids": ["commonplace-7k2qd"]}]}
    \b
    The instance_ids are connections, as `pdpp sources` prints them; needed where a source has several.
    """
    if saved and not is_client_name(client):
        raise click.BadParameter(f"{quoted(client)} cannot be the name of a file. {NAME_RULE}", param_hint="--client")
    selections = decode_selection(_details(file))
    with open_home() as home:
        before = live_grant(home, client) if saved else None
        issued = home.owner.create_grant(selections, client, expires)
        path = save_credential(home, client, issued) if saved else None
    if before:
        end = shell_line(named_home(), "grants", "revoke", before)
        click.echo(f"The credential of {before} is replaced; that grant lives until you end it: {end}", err=True)
    if as_json:
        print_json(encode_issued(issued.grant_id, issued.token, issued.expires_at, issued.grants))
        return
    _print_issued(issued, client, path)


def _details(file: IO[bytes]) -> list[Any]:
    try:
        document: Any = orjson.loads(file.read())
    except orjson.JSONDecodeError as error:
        raise InvalidAuthorizationDetails(f"{file.name} is not JSON: {error}.") from error
    return cast(list[Any], document) if isinstance(document, list) else [document]


def _print_issued(issued: IssuedGrant, client: str, path: str | None) -> None:
    until = f"until {moment(issued.expires_at)}" if issued.expires_at else "without an end"
    click.echo(f"{issued.grant_id} for {quoted(client)}, {until}.")
    for grant in issued.grants:
        click.echo(f"{grant.grant_id} {visible(grant.source.connector_key)}")
        _print_streams(grant)
    click.echo(f"Its token, shown only now:\n{issued.token}")
    if path:
        click.echo(f"It is kept in {path}. Give an agent this command:")
        print_line(shell_line(named_home(), "mcp", "--client", client))
    else:
        click.echo("Give an agent this command (with --save the token need not stand in it):")
        print_line(shell_line(named_home(), "mcp", PDPP_ACCESS_TOKEN=issued.token))


@grants.command()
@click.argument("grant")
@click.option("--stream", help="Only that stream.")
@click.option("--limit", type=click.IntRange(1, 100), default=3, show_default=True, help="Records of each stream.")
@json_option
def preview(grant: str, stream: str | None, limit: int, as_json: bool) -> int:
    """As this client would see it: what it may ask, and the newest records of each stream.

    What is printed is byte for byte what its agent would read, made by the same reads under the same grant. Nobody
    but you is told: `pdpp activity` lists it as your own preview, and the client's last read stays what it was.
    For a search or one record under the grant: `pdpp search WORDS --grant GRANT`, `pdpp fetch ID --grant GRANT`.

    \b
    Example:
      pdpp grants preview grt_0123456789abcdef
      pdpp grants preview grt_0123456789abcdef --stream notes --limit 10
    """
    with open_home() as home:
        rows = home.owner.grant(grant)
        reader = LocalReader(home.services, home.owner.preview_token(grant), home.settings.public_url)
        answers = [answer_to(reader, "schema", arguments_from(SchemaQuery, stream=stream or None))]
        if not answers[0].is_error:
            asked = _listings([row.grant for row in rows], stream, limit)
            answers += [answer_to(reader, "query_records", each) for each in asked]
    if as_json:
        found, *listed = (answer.structured for answer in answers)
        print_json(encode_preview(grant, found, listed))
    else:
        client = quoted(rows[0].grant.client_name or rows[0].grant.client_id)
        click.echo(f"As {client} would see it under {grant}. Listed in `pdpp activity` as your own preview.")
    for answer in answers:
        if not as_json or answer.is_error:
            click.echo(f"\n{answer.text}", err=answer.is_error)
    return 1 if any(answer.is_error for answer in answers) else 0


def _listings(held: list[Grant], stream: str | None, limit: int) -> list[Json]:
    """A listing of each stream; of a package, where a source must be named, one of each connection."""
    wanted = [one for grant in held for one in grant.streams if stream in (None, one.name)]
    asked = partial(arguments_from, RecordsQuery, limit=limit)
    if len(held) == 1:
        return [asked(stream=one.name) for one in wanted]
    return [asked(stream=one.name, connection_id=id) for one in wanted for id in one.connections]


@grants.command()
@click.argument("grant")
@click.option("--expires", callback=_new_end, metavar="DATE|DAYSd|never", help="When it ends from now on.")
@click.option("--selection", "file", type=click.File("rb"), help="What of it stays: authorization_details; - is stdin.")
@json_option
def change(grant: str, expires: End | None, file: IO[bytes] | None, as_json: bool) -> None:
    """Let a client read less, or until another day. It keeps its token.

    A grant never changes once it is given: a successor takes its place, in one step for everything that the client
    holds. Cursors from before are refused. It is never wider than the grant was; for more the client asks again.
    FILE names one source, and of it the streams, fields, connections and times that stay; for a grant of a package
    give the grant's own id.

    \b
    Example:
      pdpp grants change grt_0123456789abcdef --expires 30d
      pdpp grants change grt_0123456789abcdef --selection less.json
    """
    if expires is None and file is None:
        raise click.UsageError("Say what to change: --expires, --selection or both.")
    with open_home() as home:
        rows = home.owner.grant(grant)
        ends = expires.at if expires else {row.grant.grant_id: row.grant.expires_at for row in rows}
        kept = _kept(rows, file) if file else None
        changed = home.owner.change_grant(grant, ends, kept)
    if as_json:
        print_json(encode_grants(map(_document, changed)))
        return
    for row in changed:
        took = f"takes the place of {row.earlier[0].grant_id}" if row.earlier else "stays as it was"
        click.echo(f"{row.grant.grant_id} {took}; {_row(row)[2]}.")
        _print_streams(row.grant)


def _kept(rows: list[GrantRow], file: IO[bytes]) -> dict[str, Selection]:
    selections = decode_selection(_details(file))
    if len(rows) != 1 or len(selections) != 1:
        raise click.UsageError("A selection narrows one grant of one source: name the grant, not its package.")
    (grant,) = (row.grant for row in rows)
    selection = replace(
        selections[0],
        purpose_code=grant.purpose_code,
        purpose_description=grant.purpose_description,
        access_mode=grant.access_mode,
    )
    return {grant.grant_id: selection}


@grants.command()
@click.argument("grant")
@click.argument("name", default="")
@click.option("--note", default=None, help="A note of yours about it; empty takes it away.")
@json_option
def name(grant: str, name: str, note: str | None, as_json: bool) -> None:
    """Call whoever holds a grant something of your own, with a note. Nobody else is told; no NAME takes it away.

    \b
    Example:
      pdpp grants name grt_0123456789abcdef "Claude on the laptop" --note "for the tax return"
    """
    with open_home() as home:
        was = home.owner.grant(grant)[0].note or ""
        home.owner.note_grant(grant, name, was if note is None else note)
        rows = home.owner.grant(grant)
    if as_json:
        print_json(encode_grants(map(_document, rows)))
    else:
        click.echo(f"{grant} is called {quoted(rows[0].name)} here.")


@grants.command()
@click.argument("grant")
@json_option
def revoke(grant: str, as_json: bool) -> None:
    """Take a grant back, or every grant of a package. The very next read with it is refused.

    \b
    Example:
      pdpp grants revoke grt_0123456789abcdef
    """
    with open_home() as home:
        rows = home.owner.revoke(grant)
    if as_json:
        print_json(encode_grants(map(_document, rows)))
        return
    for row in rows:
        click.echo(
            f"{row.grant.grant_id} is revoked since {moment(row.state.revoked_at)}; the next read with it is refused."
        )


@grants.command()
@click.argument("grant")
@click.option("--stream", help="The stream that would be read.")
@click.option("--field", help="One field of it.")
@click.option("--connection", metavar="ID", help="Only that connection.")
@click.option("--search", "searching", is_flag=True, help="A search, instead of reading one record.")
@json_option
def explain(
    grant: str, stream: str | None, field: str | None, connection: str | None, searching: bool, as_json: bool
) -> None:
    """Say in sentences whether a read would be permitted, and of what.

    \b
    Example:
      pdpp grants explain grt_0123456789abcdef --stream notes --field body
    """
    query = _query(stream, field, connection, searching=searching)
    with open_home() as home:
        sentences = home.owner.explain(grant, query)
    if as_json:
        print_json(encode_explanation(grant, sentences))
    else:
        click.echo("\n".join(visible(sentence) for sentence in sentences))


def _query(stream: str | None, field: str | None, connection: str | None, *, searching: bool) -> Query:
    if searching and field:
        raise click.UsageError("A search looks at every granted field: leave --field out.")
    if searching:
        return SearchQuery("words", (stream,) if stream else None, connection)
    if stream is None:
        raise click.UsageError("Say what would be read: --stream STREAM, or --search.")
    return FetchQuery(stream, "any", connection, (field,) if field else None)


def _document(row: GrantRow) -> Json:
    return encode_row(
        row.grant,
        state=row.word(iso(now())),
        revoked_at=row.state.revoked_at,
        package_id=row.package_id,
        successor=row.successor,
        name=row.called,
        note=row.note,
    )


def _row(row: GrantRow) -> tuple[str, ...]:
    grant, state = row.grant, row.word(iso(now()))
    until = f"until {moment(grant.expires_at)}" if grant.expires_at else "no end"
    when = f"since {moment(row.state.revoked_at)}" if row.state.revoked_at else until
    package = f"in {row.package_id}" if row.package_id else ""
    return (
        grant.grant_id,
        state,
        when,
        quoted(row.name),
        grant.source.connector_key,
        package,
    )


def _print_streams(grant: Grant) -> None:
    for stream in grant.streams:
        click.echo(f"  {visible(stream_line(stream))}")
