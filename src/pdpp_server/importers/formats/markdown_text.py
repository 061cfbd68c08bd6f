"""What a Markdown note says of itself: front matter, title, tags, links."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

import yaml

from pdpp_server.wire.envelope import Json

FRONT_MATTER_CHARS = 64 * 1024
FRONT_MATTER_VALUES = 2000  # names that stand for others can make a small text grow without end
FRONT_MATTER_BRACKETS = 200  # the parser takes a long time over brackets inside brackets
LINKS_MAX = 2000
HEADING_CHARS = 1000

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# None of these can look at the same stretch twice: a hostile note takes no longer than a long one.
_CODE_SPAN = re.compile(r"(?<!`)(`++)[^`\n]++\1(?!`)")
_REMARK = re.compile(r"%%[^%]*+%%")
_HEADING = re.compile(r" {0,3}#[ \t]++(.*)")
_TAG = re.compile(r"(?<![^\s(\[,;])#([\w/-]*[^\W\d][\w/-]*)")
_WIKI = re.compile(r"(!?)\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|([^\[\]\n]*))?\]\]")
_INLINE = re.compile(
    r"(!?)\[([^\[\]\n]*)\]\([ \t]{0,4}+(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))"
    r"""(?:[ \t]{1,4}+["'(][^\n]{0,200}?)?\)"""
)
_BARE = re.compile(r"(?<![(<\w])<?(https?://[^\s<>\[\]()]+)")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")
_SEPARATORS = re.compile(r"[,\s]+")


class BrokenFrontMatter(ValueError):
    """The front matter cannot be read; it says why."""


class Link(NamedTuple):
    kind: str  # wiki, markdown, embed or web
    target: str  # as it is written, without the heading
    heading: str
    words: str


def split(text: str) -> tuple[str, str]:
    """The front matter, empty where there is none, and the note itself."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return "", text
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return "", text


def properties(front_matter: str) -> Json:
    """Every value is the text that stands there: a version is no number and 12:30 no count of minutes.

    Raises: Broken.
    """
    if len(front_matter) > FRONT_MATTER_CHARS:
        raise BrokenFrontMatter(f"it has more than {FRONT_MATTER_CHARS >> 10} KiB")
    if front_matter.count("[") + front_matter.count("{") > FRONT_MATTER_BRACKETS:
        raise BrokenFrontMatter(f"it has more than {FRONT_MATTER_BRACKETS} brackets")
    try:
        found: Any = yaml.load(front_matter, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        raise BrokenFrontMatter(f"line {mark.line + 2} is no YAML" if mark else "it is no YAML") from error
    if found is None or found == "":
        return {}
    if not isinstance(found, dict):
        raise BrokenFrontMatter("it has no names and values")
    budget = iter(range(FRONT_MATTER_VALUES))
    return {str(name): _plain(value, budget) for name, value in cast(dict[Any, Any], found).items()}


def _plain(value: object, budget: Iterator[int], depth: int = 0) -> Any:
    if next(budget, None) is None or depth > 20:
        raise BrokenFrontMatter(f"it holds more than {FRONT_MATTER_VALUES} values, or is nested too deep")
    if isinstance(value, dict):
        named = cast(dict[Any, Any], value)
        return {str(name): _plain(one, budget, depth + 1) for name, one in named.items()}
    if isinstance(value, list):
        return [_plain(one, budget, depth + 1) for one in cast(list[Any], value)]
    return str(value).replace("\0", "\ufffd")


def prose(text: str) -> str:
    """Without code and remarks, in which nothing is a tag or a link."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not line[mark.end() :].strip() else fence
        elif mark:
            fence = mark[1]
        else:
            kept.append(_CODE_SPAN.sub(" ", line))
    return _REMARK.sub(" ", _without_comments("\n".join(kept)))


def _without_comments(text: str) -> str:
    first, *others = text.split("<!--")
    return first + " ".join(rest if end else piece for piece in others for _, end, rest in (piece.partition("-->"),))


def heading(words: str) -> str:
    """A heading of the highest level, if it stands before any other text."""
    for line in words.split("\n"):
        if line.strip():
            found = _HEADING.fullmatch(line[:HEADING_CHARS])
            return found[1].rstrip(" \t").rstrip("#").rstrip(" \t") if found else ""
    return ""


def tags(words: str, named: Json) -> list[str]:
    """Each once, as first written; Obsidian does not tell capitals apart either."""
    given = [*_listed(named.get("tags")), *_listed(named.get("tag")), *_TAG.findall(words)]
    found: dict[str, str] = {}
    for tag in given:
        if name := tag.strip().lstrip("#").strip("/"):
            found.setdefault(name.lower(), name)
    return list(found.values())


def _listed(value: object) -> list[str]:
    if isinstance(value, list):
        return [one for one in cast(list[Any], value) if isinstance(one, str)]
    return _SEPARATORS.split(value) if isinstance(value, str) else []


def links(words: str) -> list[Link]:
    """Each target once, in the order of the note; of many the first."""
    found: dict[tuple[str, str], Link] = {}
    for link in _links(words):
        found.setdefault((link.kind, link.target), link)
        if len(found) >= LINKS_MAX:
            break
    return list(found.values())


def _unquoted(text: str) -> str:
    """No record can hold a NUL character."""
    return unquote(text, errors="replace").replace("\0", "\ufffd")


def _links(words: str) -> Iterator[Link]:
    for mark, target, part, shown in _WIKI.findall(words):
        if target.strip():
            yield Link("embed" if mark else "wiki", target.strip(), part.strip(), shown.strip())
    for mark, shown, angled, plain in _INLINE.findall(words):
        address = (angled or plain).strip()
        if _ADDRESS.match(address):
            yield Link("web", address, "", shown.strip())
            continue
        path, _, part = address.partition("#")
        if path:
            yield Link("embed" if mark else "markdown", _unquoted(path), _unquoted(part), shown.strip())
    for address in _BARE.findall(words):
        yield Link("web", address.rstrip(".,;:!?*_'\""), "", "")
