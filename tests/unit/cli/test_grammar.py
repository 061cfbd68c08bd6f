"""Sentences of the sample life, out of templates."""

from random import Random

from pdpp_server.cli.life.grammar import Grammar

WORDS = {"dish": ["soup", "stew", "pie"], "meal": ["{dish} for two"]}


def test_a_blank_becomes_one_of_its_words_and_blanks_in_it_are_filled_too() -> None:
    text = Grammar(WORDS, Random(1)).text("We ate {meal}")
    assert text in {f"We ate {dish} for two" for dish in WORDS["dish"]}


def test_a_blank_with_a_key_is_the_same_word_wherever_it_stands() -> None:
    grammar, told = Grammar(WORDS, Random(1)), dict[str, str]()
    first = grammar.text("{dish:a}", told)
    assert {grammar.text("{dish:a}", told) for _ in range(20)} == {first}
    assert told == {"dish:a": first}


def test_what_is_told_beforehand_stands_for_its_blank() -> None:
    assert Grammar(WORDS, Random(1)).text("Dear {to}, {dish:a}.", {"to": "Sam", "dish:a": "pie"}) == "Dear Sam, pie."


def test_a_sentence_that_begins_with_a_blank_begins_with_a_capital() -> None:
    grammar = Grammar({"dish": ["soup"]}, Random(1))
    assert grammar.text("{dish}, said {dish}.") == "Soup, said soup."
    assert grammar.text("{dish} {dish}") == "soup soup"


def test_some_of_many_are_different_and_in_their_order() -> None:
    templates = [str(number) for number in range(9)]
    chosen = Grammar({}, Random(1)).some_of(templates, 4)
    assert len(chosen) == 4
    assert chosen == sorted(set(chosen))
    assert Grammar({}, Random(1)).some_of(templates, 99) == templates
