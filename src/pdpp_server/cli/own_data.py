"""Records of the owner's own without a declaration: one is proposed, shown, and taken when they agree."""

import sys
from pathlib import Path

import click
import orjson

from pdpp_server.cli.accounts import Wish
from pdpp_server.cli.home import named_home, read_settings, shell_line
from pdpp_server.cli.receipts import print_receipt
from pdpp_server.cli.recipients import recipient
from pdpp_server.cli.terminal import counted
from pdpp_server.errors import InvalidRequest
from pdpp_server.evidence.text import quoted, visible
from pdpp_server.importers.identity import account_name
from pdpp_server.importers.ndjson import BATCH_RECORDS, REJECTIONS_KEPT
from pdpp_server.importers.own_data import (
    DeclarationProposal,
    ProposedRow,
    UnreadableData,
    is_database,
    proposal_of,
    rows,
)
from pdpp_server.model.ingest import Incoming, Receipt
from pdpp_server.owner.recipient import RecordTaker
from pdpp_server.store.files import written_whole
from pdpp_server.wire.declarations import parse_declaration

FOLDER = "declarations"


def import_own(path: Path, unknown: InvalidRequest, wish: Wish) -> int:
    """What was proposed is shown first. Raises: InvalidRequest where nobody agreed."""
    chosen = wish.name or account_name(path.name)
    try:
        proposal = proposal_of(path, chosen)
    except InvalidRequest as refusal:
        raise (refusal if is_database(path) or isinstance(refusal, UnreadableData) else unknown) from None
    shown = orjson.dumps(proposal.document, option=orjson.OPT_INDENT_2).decode()
    declared = parse_declaration(orjson.dumps(proposal.document))
    kept = read_settings().home / FOLDER / f"{declared.source.connector_key}.json"
    is_agreed = kept.is_file() and kept.read_bytes() == shown.encode()
    if is_agreed and not wish.dry_run:
        click.echo(f"{visible(path.name)} is read as you agreed before: {visible(str(kept))}", err=True)
    else:
        click.echo(f"{visible(path.name)} is no export that is known. As records of your own it could be:", err=True)
        click.echo("\n".join(map(visible, shown.splitlines())), err=not wish.dry_run)
    click.echo(f"  {counted(proposal.records, 'record')}, {len(proposal.rejected)} rejected", err=True)
    for what in proposal.left_out:
        click.echo(f"  left out: {visible(what)}", err=True)
    if wish.dry_run:
        return 0
    if not (wish.yes or is_agreed or _agreed(chosen)):
        again = shell_line(named_home(), "import", str(path), "--name", chosen, "--yes")
        click.echo(f"Import it so with: {again}", err=True)
        raise InvalidRequest(
            f"{visible(path.name)} was not imported: nobody agreed to the declaration above.",
            remedy="Say --yes, or write the declaration as you want it, and give it with --declaration.",
        )
    with recipient(wish.to) as taking:
        kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with written_whole(kept) as file:
            file.write(shown.encode())
        writer = taking.writer(declared, chosen)
        receipt = _delivered(path, proposal, writer)
    print_receipt(
        writer.connection_id, chosen, receipt, len(receipt.rejected), receipt.rejected, to=wish.to, as_json=wish.as_json
    )
    if not is_agreed:
        click.echo(f"  The declaration is kept as {visible(str(kept))}.", err=True)
    return 0


def _agreed(name: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(f"Import it as {quoted(name)}, declared like this?", err=True)


def _delivered(path: Path, proposal: DeclarationProposal, writer: RecordTaker) -> Receipt:
    receipt, batch = Receipt(rejected=proposal.rejected), list[Incoming]()
    seen: dict[str, int] = {}
    for row in rows(path):
        if isinstance(row, ProposedRow):
            batch.append(proposal.record(row, seen))
        if len(batch) >= BATCH_RECORDS:
            receipt += writer.deliver(batch)
            batch = []
    receipt += writer.deliver(batch)
    writer.finish(path.name, receipt.rejected[:REJECTIONS_KEPT])
    return receipt
