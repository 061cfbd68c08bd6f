"""What `pdpp import` can be asked, and what was."""

from dataclasses import fields
from pathlib import Path

import click

from pdpp_server.cli.import_options import ImportAsked, import_options


def test_everything_that_can_be_given_is_asked() -> None:
    heard: list[ImportAsked] = []

    @click.command()
    @import_options
    def verb(**given: object) -> None:
        heard.append(ImportAsked(**given))  # pyright: ignore[reportArgumentType]

    verb.main(["--undo", "--as", "mail", str(Path(__file__)), "--json"], standalone_mode=False)

    (asked,) = heard
    assert {parameter.name for parameter in verb.params} == {field.name for field in fields(ImportAsked)}
    assert (asked.paths, asked.key, asked.undo, asked.as_json) == ((Path(__file__),), "mail", 0, True)
    assert not (asked.yes or asked.newer or asked.dry_run or asked.watching or asked.kinds)
