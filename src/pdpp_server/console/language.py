"""Every sentence of the pages, as templates and code say it; another language is a file with the same sentences in it.

`python -m pdpp_server.console.language` writes `sentences/en.json`, the list of them; with `--check` it only compares.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import orjson
from jinja2 import Environment
from jinja2.ext import Extension

_FOLDER = Path(__file__).parent
FILES = _FOLDER / "sentences"
ENGLISH = FILES / "en.json"
# Tags that stand inside of a sentence. All others, and every statement, end it.
INLINE = frozenset({"a", "b", "code", "em", "q", "small", "span"})
_TOKEN = re.compile(
    r"(?P<statement>\{%.*?%\}|\{#.*?#\})|(?P<value>\{\{.*?\}\})"
    r"|(?P<tag></?(?P<name>[a-z][a-z0-9]*)(?:[^<>{]|\{\{.*?\}\}|\{%.*?%\})*>)|(?P<text>[^<{]+|.)",
    re.DOTALL,
)
_SPOKEN = re.compile(r'\b(placeholder|aria-label|alt|title)="([^"]*)"')
_WORD = re.compile(r"[A-Za-z]{2}")
_LITERAL = re.compile(r"\"([^\"]*)\"|'([^']*)'")

Say = Callable[[str], str]


def said(source: str, say: Say) -> str:
    """The template with each of its sentences as `say` gives it; whitespace around them stays."""
    written: list[str] = []
    run = ""
    for token in _TOKEN.finditer(source):
        is_inside = token["name"] in INLINE if token["tag"] else not token["statement"]
        if is_inside:
            run += token[0]
            continue
        written += [_sentence(run, say), _spoken(token[0], say) if token["tag"] else token[0]]
        run = ""
    return "".join([*written, _sentence(run, say)])


def sentences(source: str) -> list[str]:
    """Each once, in the order in which they stand."""
    found: dict[str, None] = {}

    def note(sentence: str) -> str:
        found[sentence] = None
        return sentence

    said(source, note)
    return [*found]


def _sentence(run: str, say: Say) -> str:
    plain = run.strip()
    if not _has_words(plain):
        return run
    start = run.index(plain)
    return f"{run[:start]}{say(' '.join(plain.split()))}{run[start + len(plain) :]}"


def _spoken(tag: str, say: Say) -> str:
    """What a tag says to those who do not see it."""
    return _SPOKEN.sub(lambda part: f'{part[1]}="{say(part[2])}"' if _has_words(part[2]) else part[0], tag)


def _has_words(text: str) -> bool:
    """Words of ours: between tags, or as a text in an expression."""
    bare = re.sub(r"<[^>]*>", " ", re.sub(r"\{\{.*?\}\}", lambda value: " ".join(_literals(value[0])), text))
    return _WORD.search(bare) is not None


def _literals(value: str) -> Iterator[str]:
    """Texts of an expression that somebody reads: not names of attributes, nor formats."""
    for match in _LITERAL.finditer(value):
        literal = match[1] or match[2] or ""
        if " " in literal.strip() or literal[:1].isupper():
            yield literal


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Sentence to sentence; what is missing in a language is said in English."""
    path = FILES / f"{language}.json"
    has_one = language != "en" and path.is_file()
    known: dict[str, dict[str, str]] = orjson.loads(path.read_bytes()) if has_one else {}
    return {english: other for each in known.values() for english, other in each.items()}


def languages() -> list[str]:
    return sorted(path.stem for path in FILES.glob("*.json"))


class Spoken(Extension):
    """Templates in the language of their environment."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.known: Mapping[str, str] = {}

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return said(source, lambda sentence: self.known.get(sentence, sentence)) if self.known else source


def patterns() -> dict[str, list[str]]:
    """By module, what code hands to `say`."""
    package = _FOLDER.parent
    modules = sorted(path for name in ("console", "evidence") for path in (package / name).rglob("*.py"))
    return {path.relative_to(package).as_posix(): _patterns(path.read_text("utf-8")) for path in modules}


def _patterns(source: str) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    spoken = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "say"]
    return [*dict.fromkeys(text.value for text in spoken if isinstance(text, ast.Constant) and type(text.value) is str)]


def listed() -> bytes:
    """Every template with its sentences, each beside itself: a copy of it is where another language begins."""
    templates = sorted((_FOLDER / "templates").glob("*.html"))
    found = {path.name: sentences(path.read_text("utf-8")) for path in templates} | patterns()
    named = {name: {each: each for each in those} for name, those in found.items()}
    return orjson.dumps({name: those for name, those in named.items() if those}, option=orjson.OPT_INDENT_2) + b"\n"


def main(arguments: list[str]) -> int:
    if "--check" not in arguments:
        ENGLISH.write_bytes(listed())
        return 0
    if ENGLISH.read_bytes() == listed():
        return 0
    sys.stderr.write(f"{ENGLISH.name} is out of date: run make fix.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
