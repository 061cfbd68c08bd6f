"""The command group: verbs that are loaded when they are called."""

import click
import pytest
from click.exceptions import NoSuchCommand
from click.testing import CliRunner

from pdpp_server.cli.group import VERBS, mcp, pdpp


def test_every_verb_is_a_command_with_a_sentence_about_itself() -> None:
    context = click.Context(pdpp)
    for verb in VERBS:
        command = pdpp.get_command(context, verb)
        assert command is not None
        assert command.get_short_help_str(), verb
    assert pdpp.get_command(context, "nothing") is None


def test_a_verb_that_is_misspelt_is_told_with_what_was_meant() -> None:
    with pytest.raises(NoSuchCommand) as told:
        pdpp.resolve_command(click.Context(pdpp), ["serch"])
    assert "search" in (told.value.possibilities or ())


def test_without_a_verb_the_page_about_all_of_them_is_shown() -> None:
    shown = CliRunner().invoke(pdpp, [])
    assert shown.exit_code == 0
    assert "pdpp import takeout.zip" in shown.output


def test_mcp_behind_other_words_says_how_it_is_written() -> None:
    told = CliRunner().invoke(mcp, ["--client", "me"])
    assert told.exit_code == 2
    assert "`mcp` is the first word: pdpp mcp --client me" in told.output
