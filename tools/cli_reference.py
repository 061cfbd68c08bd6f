"""The page of the command: what every verb says of itself with --help. Cog calls this."""

import re
from collections.abc import Iterator

import click

from pdpp_server.cli.group import pdpp

WIDTH = 100
HELP = "  --help "
NO_OPTIONS = re.compile(r"\n\nOptions:(?=\n\n|\Z)")


def pages() -> str:
    """One section for each verb, those of a group below it."""
    root = click.Context(pdpp, info_name="pdpp", terminal_width=WIDTH, max_content_width=WIDTH)
    return "\n".join(["", *_sections(root)])


def _sections(context: click.Context) -> Iterator[str]:
    yield f"## {context.command_path}\n\n```text\n{_help_text(context)}\n```\n"
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            if command is not None:
                yield from _sections(click.Context(command, context, info_name=name))


def _help_text(context: click.Context) -> str:
    """Without the line about --help itself, which every verb has."""
    lines = [line.rstrip() for line in context.get_help().splitlines()]
    others = [line for line in lines if not line.startswith(HELP)]
    return NO_OPTIONS.sub("", "\n".join(others))
