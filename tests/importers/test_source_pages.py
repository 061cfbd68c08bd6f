"""Every source has a page, and no page is of a source that is not there."""

from pdpp_server.importers.registry import IMPORTERS
from tests.requirements import requirement
from tools.source_pages import FOLDER

HEADINGS = ("**How to get them**", "## What is read", "## What a client can be offered", "## What is left out")


@requirement("imp.sources.pages")
def test_every_source_has_a_page_and_every_page_a_source() -> None:
    pages = {page.stem: page.read_text("utf-8") for page in FOLDER.glob("*.md") if page.name != "README.md"}
    assert sorted(pages) == sorted(importer.key for importer in IMPORTERS)
    for key, text in pages.items():
        assert [heading for heading in HEADINGS if heading not in text] == [], key
        assert "## After which description" in text, key
        assert f'source_pages.facts("{key}")' in text, key
