"""What the verbs print: prose that a terminal gets wrapped at words, lines to paste that nothing breaks, and JSON."""

import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import click
from rich.cells import cell_len

from pdpp_server.evidence.text import compact_json, visible
from pdpp_server.evidence.words import counted, moment, size_text

__all__ = [
    "NOTHING_HERE",
    "connection_name",
    "counted",
    "json_option",
    "moment",
    "print_columns",
    "print_json",
    "print_line",
    "size_text",
    "wrap_terminals",
]

NAME_CHARS = 80
NOTHING_HERE = "Nothing is here yet. Begin with: pdpp import PATH (`pdpp import --list` shows what it takes)"
_WORD = re.compile(r"\s*\S+")
_MOVES = ("\x1b", "\r")  # whoever sends these places the text itself

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def print_json(document: Any) -> None:
    """One document, one line, in which a terminal finds no command."""
    print_line(compact_json(document))


def print_line(line: str, *, err: bool = False) -> None:
    """A line that is copied and pasted, or read by a program: whole, however narrow the terminal is."""
    stream = sys.stderr if err else sys.stdout
    click.echo(line, file=stream.beneath if isinstance(stream, _Wrapping) else stream)


def wrap_terminals() -> None:
    """From now on a terminal that is too narrow for a line gets it in several, none of which cuts a word."""
    sys.stdout, sys.stderr = _for_people(sys.stdout), _for_people(sys.stderr)


def _for_people(stream: Any) -> Any:
    return _Wrapping(stream) if stream.isatty() else stream


class _Wrapping:
    """A terminal's stream, with line breaks at words. Everything else is the stream's own."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)

    def write(self, text: str) -> int:
        if any(move in text for move in _MOVES):
            return self.beneath.write(text)
        width = shutil.get_terminal_size().columns
        return self.beneath.write("".join(wrapped(line, width) for line in text.splitlines(keepends=True)))


def wrapped(line: str, width: int) -> str:
    """What follows a break is indented by two more than the line was; a word that is longer than a line stays whole."""
    if cell_len(line.rstrip("\n")) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
    rows = [""]
    for word in _WORD.findall(line.rstrip("\n")):
        if rows[-1].strip() and cell_len(rows[-1] + word) > width:
            rows.append(indent + word.lstrip())
        else:
            rows[-1] += word
    return "\n".join(rows) + ("\n" if line.endswith("\n") else "")


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
