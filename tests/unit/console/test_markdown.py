"""Notes look as they were meant to, and nothing that stands in one can act, load or lead astray."""

import pytest

from pdpp_server.console.markdown import rendered


def test_headings_stand_below_those_of_the_page() -> None:
    assert rendered("# Plan\n\n##### Deep") == "<h3>Plan</h3>\n<h4>Deep</h4>\n"


def test_a_first_heading_that_repeats_the_title_is_not_shown_twice() -> None:
    assert rendered("# Plan\n\nEggs.", "Plan") == "<p>Eggs.</p>\n"
    assert rendered("Eggs.\n\n# Plan", "Plan") == "<p>Eggs.</p>\n<h3>Plan</h3>\n"
    assert rendered("# Plans", "Plan") == "<h3>Plans</h3>\n"
    assert rendered("", "") == ""


def test_lists_emphasis_and_code_look_as_meant() -> None:
    assert rendered("- **milk**\n- `eggs`") == (
        "<ul>\n<li><strong>milk</strong></li>\n<li><code>eggs</code></li>\n</ul>\n"
    )


def test_tags_stay_text() -> None:
    assert rendered("<script>alert(1)</script>") == "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"
    assert "<script" not in rendered("```html\n<script>alert(1)</script>\n```")


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "/sources", "#top", "//evil.example"])
def test_only_whole_addresses_are_links(address: str) -> None:
    assert "<a" not in rendered(f"[words]({address})")


def test_a_link_tells_the_other_side_nothing() -> None:
    assert rendered("[words](https://a.example/?b=1&c=2)") == (
        '<p><a href="https://a.example/?b=1&amp;c=2" rel="noreferrer nofollow">words</a></p>\n'
    )


def test_a_picture_from_elsewhere_is_not_loaded() -> None:
    assert "<img" not in rendered("![seen](https://a.example/pixel.png)")


def test_cells_of_a_table_have_no_style_of_their_own() -> None:
    made = rendered("| a |\n|:-:|\n| 1 |")

    assert "<td>1</td>" in made
    assert "style" not in made
