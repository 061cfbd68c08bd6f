"""What the verbs print: plain lines that nothing wraps, and JSON for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.cells import cell_len

from pdpp_server.evidence.text import compact_json, visible
from pdpp_server.evidence.words import counted, moment, size_text

__all__ = ["connection_name", "counted", "json_option", "moment", "print_columns", "print_json", "size_text"]

NAME_CHARS = 80

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def print_json(document: Any) -> None:
    """One document, one line, in which a terminal finds no command."""
    click.echo(compact_json(document))


def print_columns(rows: Iterable[Sequence[str]], *, indent: str = "", err: bool = False) -> None:
    """Rows in columns as wide as their widest cell; an id or a path is never cut."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        click.echo((indent + "  ".join(cells)).rstrip(), err=err)


def connection_name(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """What the owner may call a connection; a callback of click."""
    if value is None:
        return None
    name = value.strip()
    if not name or len(name) > NAME_CHARS or not name.isprintable():
        raise click.BadParameter(f'a name has 1 to {NAME_CHARS} printable characters, such as "Work mail".')
    return name
