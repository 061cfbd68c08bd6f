"""The pages and the deployment files name only what there is."""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest

from pdpp_server.cli.group import pdpp
from pdpp_server.port.credentials import OWNER_VARIABLES, TOKEN_VARIABLE
from pdpp_server.settings import variables
from tests.requirements import requirement
from tools.tree import ROOT

KNOWN = {variable.name for variable in variables()} | {*OWNER_VARIABLES, TOKEN_VARIABLE}
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *(path for path in ROOT.glob("deploy/**/*.*"))])
CODE = re.compile(r"```\w*\n(.*?)```|`([^`]+)`", re.DOTALL)
COMMAND = re.compile(r"(?:^|[\s(/])pdpp(?! +(?:--|pdpp)\s)((?: +[^\s|;&#)]+)+)", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


def commands(text: str) -> Iterator[list[str]]:
    """The words after `pdpp` of every command that stands in code."""
    for block, span in CODE.findall(text):
        for words in COMMAND.findall((block or span).replace("\\\n", " ")):
            yield [*takewhile(lambda word: word != "--", words.split())]


def faults(words: list[str]) -> Iterator[str]:
    """What a command names that the program does not know: a verb, or an option of it."""
    command: click.Command = pdpp
    context = click.Context(pdpp)
    for word in words:
        if isinstance(command, click.Group) and re.fullmatch(r"[a-z-]+", word) and not word.startswith("-"):
            found = command.get_command(context, word)
            if found is None:
                if command is pdpp or not command.invoke_without_command:
                    yield f"pdpp {' '.join(words)}: no {word}"
                return
            command = found
        elif word.startswith("--"):
            options = {option for param in command.params for option in param.opts} | {"--help", "--version"}
            if word.partition("=")[0].rstrip("].,`") not in options:
                yield f"pdpp {' '.join(words)}: no {word}"


@requirement("cli.docs.names")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_only_what_there_is(page: Path) -> None:
    text = page.read_text("utf-8")
    if page.name == "CHANGELOG.md":
        return  # it tells of what was, too

    assert set(re.findall(r"\bPDPP_[A-Z_]*[A-Z]", text)) - KNOWN == set()
    assert [fault for words in commands(text) for fault in faults(words)] == []
    assert [link for link in LINK.findall(text) if page.suffix == ".md" and not (page.parent / link).exists()] == []


@requirement("cli.docs.names")
@pytest.mark.parametrize(
    ("text", "count"),
    [("`pdpp sources`", 0), ("`pdpp sauces`", 1), ("`pdpp owner pasword`", 1), ("```sh\npdpp serve --prot 1\n```", 1)],
)
def test_a_name_that_does_not_exist_is_caught(text: str, count: int) -> None:
    assert len([fault for words in commands(text) for fault in faults(words)]) == count
