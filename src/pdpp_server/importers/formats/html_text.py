"""HTML of mail as readable text: links kept, scripts, styles and tracking pixels gone, quotes marked with `>`."""

import re
from collections.abc import Iterator
from html import unescape

HTML_CHARS = 4_000_000
QUOTES_SHOWN = 5

# A page is turned into text with marks, and the marks into lines, in a few passes that never look back: HTML in mail is
# often broken, and a parser of it that builds elements takes five times as long.
_ALL_MARKS = "\x01\x02\x03\x04\x05\x06\x07"
_LINE, _PARAGRAPH, _QUOTE, _UNQUOTE, _LINK, _WORDS, _END_LINK = _ALL_MARKS
_BREAK = "\n"
_INVISIBLE = re.compile(r"[\xad\u034f\u200b-\u200d\ufeff]+")
_UNSEEN = re.compile(
    r"<(?:[!?]|(script|style|head|title|template|noscript|svg|math|object|select|iframe)\b)", re.IGNORECASE
)
_TAG = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9:]*+)([^<>]*+)>")
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]{1,40}) ?= ?(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_LINKED = re.compile(f"{_LINK}([^{_WORDS}]*){_WORDS}([^{_LINK}{_END_LINK}]*){_END_LINK}?")
_LINE_ENDS = re.compile(f"[{_LINE}{_PARAGRAPH}{_BREAK}][{_LINE}{_PARAGRAPH}{_BREAK} ]*")
_BLANK_LINES = re.compile(r"\n{3,}")
_NO_WORDS = f" {_LINE}{_PARAGRAPH}{_BREAK}"
_LINK_SCHEMES = ("http://", "https://", "mailto:")

_PARAGRAPHS = "p h1 h2 h3 h4 h5 h6 ul ol dl table pre hr form section article header footer".split()
_LINES = "div tr dt dd center address option".split()
_MARKS = {
    **{f"{slash}{name}": _PARAGRAPH for name in _PARAGRAPHS for slash in ("", "/")},
    **{f"{slash}{name}": _LINE for name in _LINES for slash in ("", "/")},
    "br": _BREAK,
    "td": " ",
    "th": " ",
    "li": f"{_LINE}- ",
    "blockquote": f"{_LINE}{_QUOTE}",
    "/blockquote": f"{_LINE}{_UNQUOTE}",
    "/a": _END_LINK,
}


def html_text(html: str) -> str:
    """The text as a reader sees it, in lines."""
    seen = _one_space("".join(_seen(html[:HTML_CHARS])))
    if any(mark in seen for mark in _ALL_MARKS):
        seen = seen.translate(dict.fromkeys(map(ord, _ALL_MARKS)))
    marked = _TAG.sub(_marked, seen)
    linked = _LINKED.sub(_link, marked).replace(_END_LINK, "")
    text = _LINE_ENDS.sub(_line_end, linked)
    if "&" in text:
        text = unescape(text)
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    lines = map(_one_space, text.split("\n"))
    if _QUOTE in text:
        lines = _quoted(lines)
    whole = _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")
    return whole if len(html) <= HTML_CHARS else f"{whole}\n[the rest of the page is left out]"


def _one_space(text: str) -> str:
    return " ".join(text.split())


def _seen(html: str) -> Iterator[str]:
    """What is between comments, scripts, styles and their like; an element without end is looked for only once."""
    at, unclosed = 0, set[str]()
    while found := _UNSEEN.search(html, at):
        name = (found[1] or "").lower()
        behind = None if name in unclosed else _behind(html, found.start(), name)
        if behind is None:
            unclosed.add(name)
            yield html[at : found.end()]
            at = found.end()
        else:
            yield html[at : found.start()]
            at = behind
    yield html[at:]


def _behind(html: str, start: int, name: str) -> int | None:
    """Where it is over. A comment, script or style without end hides the rest; None for other elements without end."""
    if name:
        found = re.compile(rf"</{name}\b[^<>]*>", re.IGNORECASE).search(html, start)
        if found:
            return found.end()
        return len(html) if name in ("script", "style") else None
    closing = "-->" if html.startswith("<!--", start) else ">"
    at = html.find(closing, start)
    return len(html) if at < 0 else at + len(closing)


def _marked(found: re.Match[str]) -> str:
    name = found[1].lower()
    mark = _MARKS.get(name)
    if mark is not None:
        return mark
    if name == "a":
        return f"{_LINK}{_attribute(found[2], 'href')}{_WORDS}"
    # What a picture was to say; a pixel that only watches the reader says nothing.
    return _attribute(found[2], "alt") if name == "img" else ""


def _attribute(attributes: str, name: str) -> str:
    for found in _ATTRIBUTE.finditer(attributes):
        if found[1].lower() == name:
            return found[2] or found[3] or found[4] or ""
    return ""


def _link(found: re.Match[str]) -> str:
    """The words, and where they lead if they do not say that themselves."""
    address, words = found[1], found[2]
    is_told = address.partition(":")[2].strip("/") in words
    if is_told or not address.startswith(_LINK_SCHEMES) or not words.strip(_NO_WORDS):
        return words
    bare = words.rstrip(_NO_WORDS)
    return f"{bare} ({address}){words[len(bare) :]}"


def _line_end(found: re.Match[str]) -> str:
    """Paragraphs are set apart; other ends of lines count once, and a break in an empty line leaves it empty."""
    run = found[0].replace(" ", "")
    if _PARAGRAPH in run:
        return "\n\n"
    ends = run.count(_BREAK) + (run[0] == _LINE)
    return "\n\n" if ends > 1 else "\n"


def _quoted(lines: Iterator[str]) -> Iterator[str]:
    depth = 0
    for line in lines:
        depth = max(0, depth + line.count(_QUOTE) - line.count(_UNQUOTE))
        words = line.strip(f"{_QUOTE}{_UNQUOTE} ")
        if words:
            yield "> " * min(depth, QUOTES_SHOWN) + words
        elif line != _QUOTE and line != _UNQUOTE:
            yield ""
