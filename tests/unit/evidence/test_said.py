"""A sentence that remembers how it was made."""

import pytest

from pdpp_server.evidence.said import Sentences, say, say_all

GERMAN = Sentences(
    {"{n} records": "{n} Einträge", "{a} of {b}": "{a} aus {b}", "{first} and {last}": "{first} und {last}"}
)


def test_a_sentence_is_english_and_can_be_said_in_another_language() -> None:
    said = say("{a} of {b}", a=say("{n} records", n=3), b="Mail")
    assert said == "3 records of Mail"
    assert said.in_words_of(GERMAN) == "3 Einträge aus Mail"
    assert said.in_words_of(Sentences()) == "3 records of Mail"


@pytest.mark.parametrize(
    ("parts", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c", "d"], "a, b, c and d")]
)
def test_several_are_listed_with_an_and(parts: list[str], said: str) -> None:
    assert say_all(parts) == said


def test_a_list_is_said_in_another_language_with_what_is_in_it() -> None:
    listed = say_all([say("{n} records", n=1), "b", "c"])
    assert getattr(listed, "in_words_of")(GERMAN) == "1 Einträge, b und c"  # noqa: B009  a list of one is plain text


def test_a_text_finds_the_pattern_that_it_was_made_by() -> None:
    known = Sentences(
        {
            "{name} cannot be opened: {reason}.": "{name}: zu ({reason}).",
            "Have it exported again.": "Noch einmal ausführen.",
            "no such folder": "kein Ordner",
            "{number} lines": "{number} Zeilen",
        }
    )

    assert known.recalled("a. b.zip cannot be opened: no such folder. Have it exported again.") == (
        "a. b.zip: zu (kein Ordner). Noch einmal ausführen."
    )
    assert known.recalled("Nobody said this.") == "Nobody said this."
    assert known.recalled("3 lines") == "3 lines"  # too little of it stands still to know it by
