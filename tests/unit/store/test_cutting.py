"""Text cut into the terms that are looked for."""

import apsw
import pytest

from pdpp_server.store.engines.sqlite.cutting import Fts5Cutter, cutter_in_memory


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        ("... !", ()),
        ("Ferries, ferry!", ("ferri", "ferri")),
        ("GRÜSSE Größe", ("gruss", "groß")),
        ("ann@example.org", ("ann", "exampl", "org")),
        ("it's", ("it", "s")),
    ],
)
def test_words_are_small_without_accents_and_by_their_stem(text: str, terms: tuple[str, ...]) -> None:
    assert cutter_in_memory().terms(text.encode()) == terms


def test_each_term_is_told_with_the_bytes_that_it_stands_in() -> None:
    assert [tuple(one) for one in cutter_in_memory().placed("Eis für Ferries".encode())] == [
        (0, 3, "ei"),
        (4, 8, "fur"),
        (9, 16, "ferri"),
    ]


def test_a_prefix_is_asked_for_as_it_is_and_not_by_a_stem_of_it() -> None:
    connection = apsw.Connection(":memory:")
    Fts5Cutter(connection).take_prefixes(connection)
    connection.execute('create virtual table words using fts5(t, tokenize="porter unicode61 remove_diacritics 2")')
    connection.execute("insert into words values('gasoline'), ('a gale')")

    def found(asked: str) -> list[str]:
        return [text for (text,) in connection.execute("select t from words where words match ?", (asked,))]

    assert found('"gas" *') == ["gasoline"]
    assert found("gales") == ["a gale"]
