"""How files that do not explain themselves are read: asked once, and kept in the home for the next of the same form."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from pdpp_server.evidence.text import quoted, visible
from pdpp_server.importers.registry import FoundAccount, with_mapping
from pdpp_server.importers.source import Proposal

FOLDER = "mappings"


def kept_mapping(home: Path, proposal: Proposal | None) -> bytes | None:
    """What the owner said about files of this form, if this one can be meant so: else it is asked again."""
    path = home / FOLDER / f"{proposal.key}.toml" if proposal else None
    if proposal is None or path is None or not path.is_file():
        return None
    mapping = path.read_bytes()
    return mapping if mapping in [choice.mapping for choice in proposal.choices] else None


def keep(home: Path, proposal: Proposal, mapping: bytes) -> None:
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / f"{proposal.key}.toml").write_bytes(mapping)


def settled(found: FoundAccount, home: Path, *, yes: bool) -> FoundAccount:
    """Read as it was agreed before or is agreed now; as it is where the owner has still to say."""
    proposal = found.account.proposal
    if proposal is None:
        return found
    mapping = kept_mapping(home, proposal)
    if mapping is not None:
        click.echo(
            f"{visible(found.where)} is read as you said before ({home / FOLDER / proposal.key}.toml).", err=True
        )
        return with_mapping(found, mapping)
    mapping = _agreed(found, proposal, yes=yes)
    if mapping is None:
        return found
    keep(home, proposal, mapping)
    return with_mapping(found, mapping)


def _agreed(found: FoundAccount, proposal: Proposal, *, yes: bool) -> bytes | None:
    is_asked = sys.stdin.isatty() and sys.stderr.isatty()
    if len(proposal.choices) == 1:
        agrees = yes or (is_asked and _confirmed(found))
        return proposal.choices[0].mapping if agrees else None
    return _chosen(found, proposal) if is_asked else None


def _confirmed(found: FoundAccount) -> bool:
    _show(found.account.notes)
    return click.confirm(f"Import {quoted(found.account.name)} like this?", err=True)


def _chosen(found: FoundAccount, proposal: Proposal) -> bytes | None:
    """Dates, signs and thousands are asked where the file leaves them open, never guessed."""
    _show(found.account.notes)
    number = click.prompt(
        f"Which is right for {quoted(found.account.name)}? 0 imports nothing",
        type=click.IntRange(0, len(proposal.choices)),
        err=True,
    )
    return proposal.choices[number - 1].mapping if number else None


def _show(notes: Sequence[str]) -> None:
    for line in notes:
        click.echo(f"  {visible(line)}", err=True)


def how_to_say(proposal: Proposal) -> str:
    """Where nobody was asked: in a script, or without a terminal."""
    if len(proposal.choices) == 1:
        return "--yes imports it so; --mapping FILE says otherwise."
    return "Run it in a terminal to choose, or save the mapping that is right and name it with --mapping FILE."
