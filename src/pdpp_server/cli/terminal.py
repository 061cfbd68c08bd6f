"""What the verbs print: plain lines that nothing wraps, and JSON for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

import click
import orjson
from rich.cells import cell_len

from pdpp_server.evidence.text import visible

NAME_CHARS = 80

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def print_json(document: Any) -> None:
    """One document, one line."""
    click.echo(orjson.dumps(document).decode())


def print_columns(rows: Iterable[Sequence[str]], *, indent: str = "", err: bool = False) -> None:
    """Rows in columns as wide as their widest cell; an id or a path is never cut."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        click.echo((indent + "  ".join(cells)).rstrip(), err=err)


def moment(time: str | None) -> str:
    """A stored time, to the minute."""
    return f"{time[:10]} {time[11:16]} UTC" if time else "never"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_text(size: int) -> str:
    if size < 1000:
        return counted(size, "byte")
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def connection_name(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """What the owner may call a connection; a callback of click."""
    if value is None:
        return None
    name = value.strip()
    if not name or len(name) > NAME_CHARS or not name.isprintable():
        raise click.BadParameter(f'a name has 1 to {NAME_CHARS} printable characters, such as "Work mail".')
    return name
