"""The tutorial that goes through the pages names what stands on them."""

import re

from pdpp_server.console.language import ENGLISH
from tests.requirements import requirement
from tools.tree import ROOT

TOUR = ROOT / "docs" / "tutorial" / "5-in-the-browser.md"


@requirement("con.pages.tutorial")
def test_what_the_tutorial_tells_to_click_stands_on_a_page() -> None:
    named = {" ".join(label.split()) for label in re.findall(r"\*\*(.+?)\*\*", TOUR.read_text("utf-8"), re.DOTALL)}
    said = ENGLISH.read_text("utf-8")

    assert len(named) > 15
    assert [label for label in sorted(named) if label not in said] == []
