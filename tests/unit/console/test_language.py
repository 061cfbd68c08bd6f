"""Every sentence of the pages is in one place, so that another language is a file."""

import ast
import re
from functools import partial
from pathlib import Path

import pytest

from pdpp_server.console.language import FILES, _literals, catalogue, languages, patterns, said, sentences
from pdpp_server.console.page import _visible, environment
from pdpp_server.evidence.activity import what_was_done, what_was_done_in_all
from pdpp_server.evidence.said import Said, Sentences, say, say_all
from pdpp_server.model.activity import Asked, Disclosure
from tests.requirements import requirement

FOLDER = FILES.parent / "templates"
TEMPLATES = sorted(FOLDER.glob("*.html"))
VALUES = re.compile(r"\{\{.*?\}\}|\{\w+(?:!r)?\}")
CODE = sorted(path for path in FILES.parent.glob("*.py"))
SEARCH = Disclosure("2026-11-01T00:00:00Z", "req_1", "search", "client", "cli_1", (), {}, (), (), (), (), 0)


@requirement("con.pages.one-language-file")
@pytest.mark.parametrize("template", [pytest.param(path, id=path.name) for path in TEMPLATES])
def test_no_sentence_of_a_template_stands_outside_the_list(template: object) -> None:
    """With every sentence taken out, no word is left between tags, nor in a statement."""
    source = getattr(template, "read_text")("utf-8")  # noqa: B009
    rest = said(source, lambda _: "")
    statements = re.findall(r"\{%.*?%\}", source, re.DOTALL)

    bare = re.sub(r"<[^>]*>", " ", re.sub(r"\{\{.*?\}\}|\{%.*?%\}", " ", rest, flags=re.DOTALL))

    assert re.findall(r"[A-Za-z]{2,}", bare) == []
    assert [each for each in statements if re.search(r"[\"'][A-Z][a-z]+[^\"']* [^\"']*[\"']", each)] == []


@requirement("con.pages.one-language-file")
def test_no_word_hides_in_an_expression() -> None:
    """Another language has the same values as English, so a word inside of one could never be said in it."""
    values = [value for path in TEMPLATES for value in re.findall(r"\{\{.*?\}\}", path.read_text("utf-8"))]

    assert [value for value in values if "counted(" not in value and [*_literals(value)]] == []


@requirement("con.pages.one-language-file")
def test_a_template_is_the_same_where_every_sentence_is_said_as_it_stands() -> None:
    for path in TEMPLATES:
        source = path.read_text("utf-8")
        assert "".join(said(source, lambda sentence: sentence).split()) == "".join(source.split()), path.name


@requirement("con.pages.one-language-file")
def test_a_sentence_is_said_in_another_language_with_its_values_in_place() -> None:
    source = '<p>It read <b>{{ n }}</b> mails.</p><input placeholder="Search">{% if x %}Yes{% endif %}'

    assert sentences(source) == ["It read <b>{{ n }}</b> mails.", "Search", "Yes"]
    other = {"It read <b>{{ n }}</b> mails.": "Es las <b>{{ n }}</b> Mails.", "Search": "Suche", "Yes": "Ja"}
    assert said(source, other.__getitem__) == (
        '<p>Es las <b>{{ n }}</b> Mails.</p><input placeholder="Suche">{% if x %}Ja{% endif %}'
    )


@requirement("con.pages.one-language-file")
def test_every_language_has_the_values_of_each_sentence() -> None:
    known = {each for path in TEMPLATES for each in sentences(path.read_text("utf-8"))}
    known |= {each for those in patterns().values() for each in those}
    for language in languages():
        for english, other in catalogue(language).items():
            assert english in known, (language, english)
            assert sorted(VALUES.findall(english)) == sorted(VALUES.findall(other)), (language, english)
    assert environment("en").get_template("home.html")


@requirement("con.pages.one-language-file")
@pytest.mark.parametrize("module", [pytest.param(path, id=path.name) for path in CODE])
def test_no_sentence_of_the_code_of_the_pages_stands_outside_the_list(module: Path) -> None:
    """Whatever reads like a sentence and is no documentation is handed to `say`."""
    tree = ast.parse(module.read_text("utf-8"))
    spoken = {id(each) for call in ast.walk(tree) if isinstance(call, ast.Call) for each in _spoken(call)}
    documents = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    texts = [each for each in ast.walk(tree) if isinstance(each, ast.Constant) and isinstance(each.value, str)]

    loose = [str(each.value) for each in texts if id(each) not in spoken | documents]

    assert [text for text in loose if re.match(r"[A-Z][a-z]* [a-z]", text)] == []


def _spoken(call: ast.Call) -> list[ast.expr]:
    return call.args[:1] if isinstance(call.func, ast.Name) and call.func.id == "say" else []


@requirement("con.pages.one-language-file")
def test_what_code_says_is_said_in_another_language_down_to_its_parts() -> None:
    known = {
        "searched{what} and saw {found}": "suchte{what} und sah {found}",
        "{within} for “{words}”": "{within} nach „{words}“",
        "nothing": "nichts",
    }
    searched = what_was_done(SEARCH, Asked("lease {found}", (), ()))

    assert searched == "searched for “lease {found}” and saw nothing"
    assert isinstance(searched, Said)
    assert searched.in_words_of(Sentences(known)) == "suchte nach „lease {found}“ und sah nichts"
    assert searched.in_words_of(Sentences()) == searched


@requirement("con.pages.one-language-file")
def test_a_page_says_it_so_and_leaves_alone_what_only_reads_like_it() -> None:
    """A record that holds the words of a sentence of ours is nobody's sentence."""
    made = environment("en").overlay(finalize=partial(_visible, known=Sentences({"nothing": "nichts"})))

    assert made.from_string("{{ ours }} {{ theirs }}").render(ours=say("nothing"), theirs="nothing") == "nichts nothing"


@requirement("con.pages.one-language-file")
def test_what_is_for_a_terminal_looks_so_and_stays_text() -> None:
    made = environment("en")

    shown = [made.from_string("{{ said | told }}").render(said=each) for each in ("Run `pdpp a<b`.", "It`s <b>.")]

    assert shown == ["Run <code>pdpp a&lt;b</code>.", "It`s &lt;b&gt;."]


def test_several_are_said_in_one_breath() -> None:
    assert [say_all(parts) for parts in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert what_was_done_in_all([SEARCH, SEARCH]) == "searched twice"
