"""Notes as they are meant to look.

What stands in one is somebody's text: no tags, no pictures from elsewhere, and links only to addresses that say where
they lead.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_SCHEMES = ("http", "https", "mailto")
_PAGE = 2  # levels of headings that the page itself has


def rendered(text: str, title: str = "") -> Markup:
    """As HTML, which our own stylesheet and policy allow; without a first heading that only repeats the title."""
    reader = _reader()
    tokens = reader.parse(text)
    if tokens and tokens[0].type == "heading_open" and tokens[1].content == title:
        tokens = tokens[3:]
    _settle_headings(tokens)
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # it escapes all that is no Markdown


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    reader.validateLink = _leads_away
    reader.add_render_rule("link_open", _link)
    reader.add_render_rule("th_open", _cell)
    reader.add_render_rule("td_open", _cell)
    return reader


def _leads_away(url: str) -> bool:
    try:
        return urlsplit(url).scheme in _SCHEMES
    except ValueError:
        return False


def _settle_headings(tokens: Sequence[Token]) -> None:
    """Below those of the page, and none more than a level below the one before it."""
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    highest = min((int(token.tag[1:]) for token in headings), default=1)
    level = _PAGE
    for token in headings:
        level = min(6, int(token.tag[1:]) - highest + _PAGE + 1, level + max(token.nesting, 0))
        token.tag = f"h{level}"


def _link(reader: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    tokens[place].attrSet("rel", "noreferrer nofollow")
    return reader.renderToken(tokens, place, options, env)


def _cell(reader: Any, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """Without a style of its own, which the policy of our pages forbids."""
    tokens[place].attrs.pop("style", None)
    return reader.renderToken(tokens, place, options, env)
