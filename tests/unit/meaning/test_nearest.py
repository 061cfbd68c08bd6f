"""Vectors as they are kept: taken out without a trace, found by their signs, compared in whole numbers."""

import numpy as np
import pytest

from pdpp_server.meaning import nearest
from pdpp_server.meaning.blocks import block_of, new_block, passages_of_bytes, places, without
from pdpp_server.meaning.nearest import AskedVector, kept, marked

DIMENSIONS = 32
FIELD = 7


def vectors(count: int, seed: int = 1) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def alike(blocks: list[tuple[int, bytes]], question: np.ndarray) -> list[tuple[int, int]]:
    asked = AskedVector("tiny", question)
    return asked.alike([asked.seen(blocks, [FIELD], (0, 1 << 40), [])])


def similarities(packed: list[bytes], question: np.ndarray) -> list[float]:
    return AskedVector("tiny", question).similarities(packed)


def block(rids: list[int], made: np.ndarray) -> bytes:
    lines = [kept(rid, [(FIELD, 0, 5)], made[i : i + 1], DIMENSIONS).lines for i, rid in enumerate(rids)]
    return b"".join((new_block(DIMENSIONS), *lines))


def test_a_record_is_taken_out_of_its_block_and_the_others_stay() -> None:
    made = vectors(3)
    whole = block([1, 2, 3], made)

    assert without(whole, [2]) == block([1, 3], made[[0, 2]])
    assert without(whole, [1, 2, 3]) == b""
    assert places(without(whole, [1, 3])) == [2]


def test_the_nearest_is_found_among_many_and_ties_with_the_last_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    made = np.repeat(vectors(50), 2, axis=0)
    rids = list(range(100))
    monkeypatch.setattr(nearest, "LOOKED_AT", 5)

    found = alike([(block_of(0), block(rids, made))], made[8])

    assert {8, 9} <= {rid for rid, _ in found}
    assert len(found) >= 6
    assert len({rid // 2 for rid, _ in found}) * 2 == len(found)


def test_a_block_of_another_size_has_no_lines() -> None:
    blocks = [(0, new_block(64) + bytes(160)), (1, b""), (2, new_block(DIMENSIONS) + b"odd")]

    assert marked(blocks, DIMENSIONS).records == 0
    assert alike(blocks, vectors(1)[0]) == []


@pytest.mark.parametrize("dimensions", [DIMENSIONS, 64, 384])
def test_signs_differ_in_as_many_places_as_the_numbers_do(monkeypatch: pytest.MonkeyPatch, dimensions: int) -> None:
    made = np.random.default_rng(2).standard_normal((40, dimensions)).astype(np.float32)
    lines = [kept(rid, [(FIELD, 0, 5)], made[rid : rid + 1], dimensions).lines for rid in range(40)]
    asked = AskedVector("tiny", -made[0])
    monkeypatch.setattr(nearest, "LOOKED_AT", 7)

    seen = asked.seen([(0, b"".join((new_block(dimensions), *lines)))], [FIELD], (0, 40), [])

    differing = np.count_nonzero((made > 0) != (-made[0] > 0), axis=1)
    most = sorted(differing)[6]
    assert asked.alike([seen]) == [(rid, 0) for rid in range(40) if differing[rid] <= most]
    assert seen.size == 40 * (8 + 2 + dimensions // 8)


def test_what_is_seen_are_visible_records_and_granted_fields() -> None:
    other, made = FIELD + 1, vectors(2)
    lines = [kept(rid, [(FIELD, 0, 5), (other, 0, 5)], made, DIMENSIONS).lines for rid in (1, 2, 3)]
    blocks = [(0, b"".join((new_block(DIMENSIONS), *lines)))]
    asked = AskedVector("tiny", made[1])

    seen = asked.seen(blocks, [other], (2, 3), [1])

    assert seen.records == 2
    assert asked.alike([seen]) == [(1, 1), (2, 1)]


def test_similarities_are_the_same_in_whatever_company() -> None:
    made = vectors(300)
    packed = [
        passages_of_bytes(kept(1, [(FIELD, 0, 5)], made[i : i + 1], DIMENSIONS).passages, DIMENSIONS)[0].vector
        for i in range(300)
    ]

    together = similarities(packed, made[0])

    assert together == [similarities([one], made[0])[0] for one in packed]
    assert np.abs(np.array(together) - made @ made[0]).max() < 0.06
    assert together[0] > 0.99


def test_a_record_without_a_text_is_known_to_have_none() -> None:
    told = kept(9, [], np.empty((0, DIMENSIONS), np.float32), DIMENSIONS)

    marks = marked([(0, new_block(DIMENSIONS) + told.lines)], DIMENSIONS)

    assert (marks.records, marks.lines["field"].tolist()) == (1, [0])
    assert passages_of_bytes(told.passages, DIMENSIONS) == []
