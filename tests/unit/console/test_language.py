"""Every sentence of the pages is in one place, so that another language is a file."""

import re

import pytest

from pdpp_server.console.language import FILES, catalogue, languages, said, sentences
from pdpp_server.console.page import environment
from tests.requirements import requirement

FOLDER = FILES.parent / "templates"
TEMPLATES = sorted(FOLDER.glob("*.html"))
VALUES = re.compile(r"\{\{.*?\}\}")


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
    for language in languages():
        for english, other in catalogue(language).items():
            assert english in known, (language, english)
            assert sorted(VALUES.findall(english)) == sorted(VALUES.findall(other)), (language, english)
    assert environment("en").get_template("home.html")
