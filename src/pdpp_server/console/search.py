"""A search over everything of one's own, by the ordinary reads."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from pdpp_server.console.desks import Desks
from pdpp_server.console.page import Page
from pdpp_server.console.visit import Visit
from pdpp_server.evidence.handles import mint
from pdpp_server.evidence.search import unproven
from pdpp_server.evidence.shown import hits_shown
from pdpp_server.evidence.titles import hit_title, label, moment
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import SearchQuery
from pdpp_server.model.records import Excerpt, Hit, SearchPage

LIMIT, EXCERPTS = 20, 2


class Piece(NamedTuple):
    text: str
    is_match: bool


class HitShown(NamedTuple):
    handle: str
    title: str
    where: str
    when: str
    excerpts: list[tuple[str, list[Piece]]]  # field, and its text in pieces
    remark: str


def show(desks: Desks, visit: Visit) -> Page | Pending[Page]:
    words = visit.query.get("q", "").strip()
    if not words:
        return Page("search.html", {"words": "", "page": None, "hits": [], "next": None})
    query = SearchQuery(words, limit=LIMIT, cursor=visit.query.get("cursor") or None)
    return desks.reads.reader(visit.request_id).search(query).shaped(partial(_page, words))


def _page(words: str, page: SearchPage) -> Page:
    hits = [_hit(hit) for hit in page.hits]
    values = {"words": words, "page": page, "hits": hits, "next": page.next_cursor}
    return Page("search.html", values, shown=hits_shown(page.hits))


def _hit(hit: Hit) -> HitShown:
    return HitShown(
        mint(hit.id),
        hit_title(hit),
        f"{label(hit.origin) or hit.origin.connector_key}, {hit.id.stream}",
        moment(hit.authored_at),
        [(excerpt.field, list(_pieces(excerpt))) for excerpt in hit.excerpts[:EXCERPTS]],
        unproven(hit),
    )


def _pieces(excerpt: Excerpt) -> Iterator[Piece]:
    """The text between its marks, and at them."""
    at = excerpt.start
    for start, end in excerpt.marks:
        yield Piece(excerpt.text[at - excerpt.start : start - excerpt.start], is_match=False)
        yield Piece(excerpt.text[start - excerpt.start : end - excerpt.start], is_match=True)
        at = end
    yield Piece(excerpt.text[at - excerpt.start :], is_match=False)
