"""Tokens of one approval are known by how they begin."""

from pdpp_server.store.consent.families import family_of


def test_a_family_that_was_kept_is_found_by_the_first_24_characters_of_its_tokens() -> None:
    begin = "rt_" + 21 * "a"

    assert family_of(begin + "first") == family_of(begin + "second")
    assert family_of(begin) != family_of(begin[:-1] + "b")
