"""What a newer export of a collection has lost."""

import pytest

from pdpp_server.model.runs import Coverage, Covered, FoundCollection, Loss, Mark


def loss(missing: int, before: int, follows: str = "") -> Loss:
    return Loss(Mark(2, 1), "events", before, before, missing, missing, Coverage(follows=follows))


@pytest.mark.parametrize(
    ("missing", "before", "is_large"), [(0, 0, False), (1, 2, False), (2, 3, True), (50, 100, False), (51, 100, True)]
)
def test_more_than_half_is_large(missing: int, before: int, is_large: bool) -> None:
    assert loss(missing, before).is_large is is_large


def test_what_only_follows_from_other_records_is_never_large() -> None:
    assert not loss(100, 100, follows="events").is_large


def test_what_is_missing_is_counted_over_all_streams() -> None:
    assert FoundCollection(1, Covered({}, None), False, "", (loss(2, 9), loss(3, 9))).missing == 5
    assert FoundCollection(1, Covered({}, None), True, "", ()).missing == 0
