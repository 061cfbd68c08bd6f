"""What the verbs print, on terminals of any width."""

from typing import cast

import click
import pytest

from pdpp_server.cli.terminal import connection_name, print_columns, print_json, wrapped


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("one two three\n", 20, "one two three\n"),
        ("one two three\n", 13, "one two three\n"),
        ("one two three\n", 8, "one two\n  three\n"),
        ("  one two three", 8, "  one\n    two\n    three"),
        ("averylongword is whole\n", 5, "averylongword\n  is\n  whole\n"),
        ("你好 你好\n", 6, "你好\n  你好\n"),  # as wide as it is drawn
        ("", 5, ""),
    ],
)
def test_a_line_is_broken_at_words_and_goes_on_indented(line: str, width: int, lines: str) -> None:
    assert wrapped(line, width) == lines


def test_columns_are_as_wide_as_their_widest_cell(capsys: pytest.CaptureFixture[str]) -> None:
    print_columns([("a", "one", ""), ("你好", "b\x1b[2J", "c")], indent="  ")
    assert capsys.readouterr().out == "  a     one\n  你好  b\\u001b[2J  c\n"
    print_columns([])
    assert capsys.readouterr().out == ""


def test_json_is_one_line_in_which_a_terminal_finds_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": "\x1b[2J\u202e"})
    assert capsys.readouterr().out == '{"a":"\\u001b[2J\\u202e"}\n'


CONTEXT, OPTION = click.Context(click.Command("x")), cast(click.Parameter, click.Option(["--name"]))


def test_a_name_has_a_few_printable_characters() -> None:
    assert connection_name(CONTEXT, OPTION, "  Work mail ") == "Work mail"
    assert connection_name(CONTEXT, OPTION, None) is None
    assert connection_name(CONTEXT, OPTION, "x" * 80) == "x" * 80
    for bad in ("", "  ", "x" * 81, "a\nb"):
        with pytest.raises(click.BadParameter):
            connection_name(CONTEXT, OPTION, bad)
