"""How an export stands to those before it: newer, the same, or in doubt."""

from typing import Any
from unittest.mock import Mock

import pytest

from pdpp_server.model.runs import AsOf
from pdpp_server.store.records.runs import standing

LAST = "2026-03-02"


@pytest.mark.parametrize(
    ("as_of", "doubt"),
    [
        (AsOf("2026-03-03"), ""),
        (AsOf(LAST, is_varied=True), ""),
        (AsOf(LAST), "nothing in it is newer"),
        (AsOf("2026-03-01", is_varied=True), "older"),
        (AsOf("2026-03-01"), "older"),
        (None, "do not say when"),
    ],
)
def test_an_export_is_newer_by_what_it_holds(as_of: AsOf | None, doubt: str) -> None:
    session: Any = Mock()
    session.one.return_value = (LAST, "known", None)

    told = standing(session, 1, as_of, "another")

    assert not told.is_first
    assert doubt in told.doubt and bool(told.doubt) == bool(doubt)
