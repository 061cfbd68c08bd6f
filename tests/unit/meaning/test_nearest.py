"""Vectors as they are kept: taken out without a trace, found by their signs, compared in whole numbers."""

import numpy as np
import pytest

from pdpp_server.meaning import nearest
from pdpp_server.meaning.blocks import block_of, new_block, passages_of_bytes, places, without
from pdpp_server.meaning.nearest import AskedVector, SeenVectors, kept, marked

DIMENSIONS = 32
FIELD = 7


def vectors(count: int, seed: int = 1) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def alike(marks: nearest.Marked, question: np.ndarray) -> list[tuple[int, int]]:
    return AskedVector("tiny", question).alike([SeenVectors(marks.records, marks)])


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

    found = alike(marked([(block_of(0), block(rids, made))], DIMENSIONS), made[8])

    assert {8, 9} <= {rid for rid, _ in found}
    assert len(found) >= 6
    assert len({rid // 2 for rid, _ in found}) * 2 == len(found)


def test_a_block_of_another_size_has_no_lines() -> None:
    marks = marked([(0, new_block(64) + bytes(160)), (1, b""), (2, new_block(DIMENSIONS) + b"odd")], DIMENSIONS)

    assert marks.records == 0
    assert alike(marks, vectors(1)[0]) == []


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

    assert (marks.records, marks.fields.tolist()) == (1, [0])
    assert passages_of_bytes(told.passages, DIMENSIONS) == []
