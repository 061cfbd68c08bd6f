"""Every sentence of the pages, as templates and code say it; another language is a file with the same sentences in it.

`python -m pdpp_server.console.language` writes `sentences/en.json`, the list of them; with `--check` it only compares.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import orjson
from jinja2 import Environment
from jinja2.ext import Extension

from pdpp_server.evidence.said import Sentences
from pdpp_server.evidence.words import counted_patterns, many_patterns
from pdpp_server.wire.declarations import decode_declaration

_FOLDER = Path(__file__).parent
_PACKAGE = _FOLDER.parent
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
def catalogue(language: str) -> Sentences:
    """Sentence to sentence; what is missing in a language is said in English."""
    path = FILES / f"{language}.json"
    known: dict[str, str] = {}
    if language != "en" and path.is_file():
        for each in orjson.loads(path.read_bytes()).values():
            known |= each
    return Sentences(known)


def languages() -> list[str]:
    return sorted(path.stem for path in FILES.glob("*.json"))


class Spoken(Extension):
    """Templates in the language of their environment."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.known: Mapping[str, str] = {}

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return said(source, lambda sentence: self.known.get(sentence, sentence)) if self.known else source


# What comes to a page as a text from below it: all that importers say, and of everybody else what is raised.
_ELSEWHERE = frozenset({"cli", "mcp", "meaning", "port"})
_HANDS_OVER = frozenset({"console", "evidence"})
_SAYS_ALL = (
    *("errors.py", "importers/", "authorization_server/errors.py", "http/refusals.py", "owner/sign_in.py"),
    "wire/clients.py",
)
# Words that others write, which an importer reads.
_READ_NOT_SAID = frozenset({"bank_csv_proposal.py", "html_text.py", "mail_text.py", "mime.py", "whatsapp_words.py"})
_SENTENCE = re.compile(r"[ \w,.;:()'`/&~�-]*")
_DECLARED = frozenset({"label", "detail", "description"})


def patterns() -> dict[str, list[str]]:
    """By module, what code hands to `say`, and what it says below the pages."""
    paths = sorted(path.relative_to(_PACKAGE) for path in _PACKAGE.rglob("*.py"))
    trees = {path: ast.parse((_PACKAGE / path).read_text("utf-8")) for path in paths if path.parts[0] not in _ELSEWHERE}
    return {path.as_posix(): [*_handed(tree), *_from_below(path, tree)] for path, tree in trees.items()}


def _handed(tree: ast.AST) -> Iterator[str]:
    """What is given to `say`, and what is counted: by its singular and its plural."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    for call in calls:
        texts = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        match call.func, texts:
            case ast.Name("say"), [pattern, *_]:
                yield pattern
            case ast.Name("counted"), [noun]:
                yield from counted_patterns(noun)
            case _:
                pass


def _from_below(path: Path, tree: ast.AST) -> Iterator[str]:
    if path.parts[0] in _HANDS_OVER or path.name in _READ_NOT_SAID:
        return
    says_all = path.as_posix().startswith(_SAYS_ALL)
    raised = [node for node in ast.walk(tree) if isinstance(node, ast.Raise)]
    spoken = [each for node in ([tree] if says_all else raised) for each in ast.walk(node)]
    joined = [each for each in spoken if isinstance(each, ast.JoinedStr)]
    inner = {id(part) for each in joined for part in ast.walk(each)} - {id(each) for each in joined}
    about = {id(each.value) for each in spoken if isinstance(each, ast.Expr)}
    for each in spoken:
        text = _pattern(each) if id(each) not in inner | about else None
        if text and _reads_like_a_sentence(text):
            yield text


def _pattern(node: ast.AST) -> str | None:
    """A text as it is written, with the names of its values; none of one that has braces of its own."""
    match node:
        case ast.Constant(str() as text) if "{" not in text:
            return text
        case ast.JoinedStr(parts):
            still = [each.value for each in parts if isinstance(each, ast.Constant)]
            return None if any("{" in str(each) for each in still) else _with_names(parts)
        case _:
            return None


def _with_names(parts: list[ast.expr]) -> str:
    """Each value by the last word of what is put there, and a number where that is taken."""
    written, taken = "", list[str]()
    for part in parts:
        if isinstance(part, ast.Constant):
            written += str(part.value)
            continue
        words = re.findall(r"[A-Za-z_]\w*", ast.unparse(part).partition("!")[0].partition(":")[0])
        name = words[-1].strip("_") if words else "value"
        taken.append(name)
        written += f"{{{name}{taken.count(name) if taken.count(name) > 1 else ''}}}"
    return written


def _reads_like_a_sentence(text: str) -> bool:
    bare = re.sub(r"\{\w+\}", "", text)
    words = [word for word in bare.split() if re.search(r"[a-z]{2}", word)]
    return len(words) > 1 and _SENTENCE.fullmatch(bare) is not None


def declared() -> dict[str, list[str]]:
    """What the declarations of our importers call their streams, fields and presets, and the service."""
    paths = sorted((_PACKAGE / "importers" / "declarations").glob("*.json"))
    return {path.relative_to(_PACKAGE).as_posix(): _declared(orjson.loads(path.read_bytes())) for path in paths}


def _declared(document: Mapping[str, Any]) -> list[str]:
    declaration = decode_declaration(document)
    names = [name.replace("_", " ") for name in declaration.streams]
    amounts = [pattern for name in names for pattern in many_patterns(name)]
    return [*dict.fromkeys([declaration.name, *_labels(document), *amounts])]


def _labels(value: Any) -> Iterator[str]:
    match value:
        case dict():
            members = cast("dict[str, Any]", value)
            for name, member in members.items():
                if name in _DECLARED and isinstance(member, str):
                    yield member
                else:
                    yield from _labels(member)
        case list():
            for each in cast("list[Any]", value):
                yield from _labels(each)
        case _:
            pass


def _counted(source: str) -> list[str]:
    """In a template."""
    return [each for noun in re.findall(r"counted\([^()]*, \"([^\"]+)\"\)", source) for each in counted_patterns(noun)]


def listed() -> bytes:
    """Every template with its sentences, each beside itself: a copy of it is where another language begins."""
    found: dict[str, list[str]] = {}
    for path in sorted((_FOLDER / "templates").glob("*.html")):
        source = path.read_text("utf-8")
        found[path.name] = [*sentences(source), *_counted(source)]
    named = _each_once(found | patterns() | declared())
    said = {name: those for name, those in named.items() if those}
    return orjson.dumps(said, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _each_once(found: Mapping[str, list[str]]) -> dict[str, dict[str, str]]:
    """Where it is said first."""
    known: set[str] = set()
    named: dict[str, dict[str, str]] = {}
    for name, those in found.items():
        named[name] = {each: each for each in those if each not in known}
        known |= {*those}
    return named


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
