"""Hits, and which places around one are kept."""

from dataclasses import replace

import pytest

from pdpp_server.model.records import Excerpt, Hit, RecordId, nearest
from pdpp_server.model.sources import Origin

MATCH = Excerpt("text", "the lease", 0, ((4, 9),), 9)
PASSAGE = Excerpt("text", "the lease", 0, (), 9)
MEANT = PASSAGE._replace(is_meant=True)


def hit(*excerpts: Excerpt, also: tuple[str, ...] = ()) -> Hit:
    id = RecordId("post", "letters", "l1")
    return Hit(id, Origin("post", "post"), "A letter", "2026", None, excerpts, also_matched=also)


@pytest.mark.parametrize(
    ("found", "matched", "is_meant", "is_beside"),
    [
        (hit(MATCH), ["text"], False, False),
        (hit(MATCH, MATCH, also=("from", "text")), ["text", "from"], False, False),
        (hit(PASSAGE), [], False, True),
        (hit(MEANT), [], True, False),
        (hit(MEANT, MATCH), ["text"], False, False),
        (hit(), [], False, False),
        (hit(also=("from",)), ["from"], False, False),
    ],
)
def test_a_hit_knows_how_it_was_found(found: Hit, matched: list[str], is_meant: bool, is_beside: bool) -> None:
    assert (found.matched_fields, found.is_meant, found.is_beside) == (matched, is_meant, is_beside)


def test_and_knows_it_anew_when_something_of_it_is_taken_away() -> None:
    shorter = replace(hit(MATCH, PASSAGE), excerpts=(PASSAGE,))

    assert (shorter.matched_fields, shorter.is_beside) == ([], True)
    assert replace(shorter, excerpts=(MATCH,)) == hit(MATCH)


@pytest.mark.parametrize(
    ("center", "count", "kept"),
    [(5, 3, [4, 5, 6]), (5, 4, [3, 4, 5, 6]), (0, 3, [0, 1, 2]), (9, 3, [7, 8, 9]), (5, 1, [5])],
)
def test_half_stand_before_and_the_rest_is_filled_from_the_other_side(center: int, count: int, kept: list[int]) -> None:
    assert [*range(10)][nearest(center, count, 10)] == kept
