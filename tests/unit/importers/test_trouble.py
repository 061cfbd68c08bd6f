"""What is said of a source that could not be added."""

import pytest

from pdpp_server.importers.live.trouble import AGAIN, NOT_YET, SourceTrouble, not_followed_yet


def test_nobody_promises_to_try_a_source_again_that_is_not_followed() -> None:
    with pytest.raises(SourceTrouble) as trouble, not_followed_yet():
        raise SourceTrouble("It is away.", remedy=f"Wait a little. {AGAIN}")
    assert trouble.value.message == "It is away."
    assert trouble.value.remedy == f"Wait a little. {NOT_YET}"


def test_any_other_trouble_is_left_as_it_is() -> None:
    with pytest.raises(KeyError), not_followed_yet():
        raise KeyError
