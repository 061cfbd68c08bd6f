"""Every page in every state in a language that is made up: each sentence of ours is said in it."""

import re
from collections.abc import Iterator
from typing import Any, cast

import orjson
import pytest

from pdpp_server.console import language
from pdpp_server.owner.export import export
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.console.chromium import chromium
from tests.scenarios.console.states import State, Walk, every_state
from tests.worlds.lived import AGENT, FORMER, SCRIPT, empty, lived

VALUE = re.compile(r"(`[^`]*`|\{\{.*?\}\}|\{%.*?%\}|\{\w+(?:![rs])?(?::[^{}]*)?\}|<[^>]*>)")
MARKED = re.compile(r"⟦[^⟦⟧]*⟧")
WORDS = re.compile(r"[A-Za-z]{2,}[ ,;:]+[A-Za-z]{2,}")  # what may be a sentence
# What others wrote beside records: who asks and what for, what the owner typed, files, folders, programs and names.
THEIRS = (
    *(AGENT, FORMER, SCRIPT, "To find what you have forgotten.", "xylophone zeppelin", "lease break option"),
    *("letter came deposit keys", "caldav nora"),
    *("The weekly letter", "Writes me what I noted in the week. Made by Tom; ends with the year."),
    *("Maas Rowing", "Tidewater Charts", "VS Code", "Claude Code"),
)
SHOWN = """() => {
    const spoken = ["placeholder", "aria-label", "alt", "title"];
    const said = [...document.body.querySelectorAll("*")]
        .flatMap(each => spoken.map(name => each.getAttribute(name)).filter(text => text));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
        if (!walker.currentNode.parentElement.closest("code, pre, .id, .exact, script, style"))
            said.push(walker.currentNode.textContent);
    return [document.title, ...said];
}"""


def marked(sentence: str) -> str:
    """Each piece of its own words between marks; values stay outside of them."""
    parts = VALUE.split(sentence)
    return "".join(part if at % 2 or not part.strip() else f"⟦{part}⟧" for at, part in enumerate(parts))


def in_a_line(text: str) -> str:
    return " ".join(text.split())


def unmarked(text: str) -> list[str]:
    """The lines of it that no mark is around."""
    return [in_a_line(line) for line in MARKED.sub(" | ", text).splitlines()]


def texts_of(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, each in cast("dict[str, Any]", value).items():
                yield from (text for part in texts_of(each) for text in (part, f"{name}: {part}"))
        case list():
            for each in cast("list[Any]", value):
                yield from texts_of(each)
        case _:
            pass


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    folder = tmp_path_factory.mktemp("made-up")
    listed: dict[str, dict[str, str]] = orjson.loads(language.ENGLISH.read_bytes())
    words = {each: marked(each) for those in listed.values() for each in those}
    folder.joinpath("xx.json").write_bytes(orjson.dumps({"all": words}))
    with pytest.MonkeyPatch.context() as patched, chromium() as browser:
        patched.setattr(language, "FILES", folder)
        with empty(folder / "empty", "xx") as nothing, lived(folder, "xx") as life:
            page = browser.new_page()
            page.set_default_timeout(60_000)
            yield Walk(page, nothing, life)


@pytest.fixture(scope="module")
def written(walk: Walk, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Everything that others wrote, in one line."""
    folder = tmp_path_factory.mktemp("out") / "export"
    home = walk.full.exports.parent / "home"
    export(Settings(home=home), folder, connection_id=None, readme="", progress=lambda _: None)
    records = [orjson.loads(line) for path in folder.rglob("*.ndjson") for line in path.read_bytes().splitlines()]
    declared = [each for one in walk.full.owner.declarations().values() for each in one.streams.values()]
    fields = {name.replace("_", " ") for stream in declared for name in stream.fields}
    return in_a_line(" ".join([*texts_of(records), *sorted(fields), *THEIRS]))


@requirement("con.pages.one-language-file")
@pytest.mark.parametrize("state", [pytest.param(state, id=name) for name, state in every_state()])
def test_no_sentence_of_ours_is_left_in_english(walk: Walk, written: str, state: State) -> None:
    state(walk)

    lines = [line for text in walk.page.evaluate(SHOWN) for line in unmarked(text)]
    pieces = [piece.strip(' .…·,"') for line in lines for piece in re.split("[|,·]", line)]

    assert [piece for piece in pieces if WORDS.search(piece) and piece not in written] == []
