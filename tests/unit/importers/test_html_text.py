"""HTML of mail as a person reads it."""

import pytest

from pdpp_server.importers.formats.html_text import html_text
from tests.requirements import requirement


@requirement("imp.mail.own-words")
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One</p><p>Two<br>Three</p>", "One\n\nTwo\nThree"),
        ("<div>a</div><div>b</div>", "a\nb"),
        ("a<style>p{}</style><script>x<y</script><!-- no --><img src=t.gif width=1>b", "ab"),
        ('<a href="https://x.example/1?a=1&amp;b=2">see</a>', "see (https://x.example/1?a=1&b=2)"),
        ('<a href="https://x.example/">https://x.example</a>', "https://x.example"),
        ('<a href="javascript:alert(1)">x</a><img alt="A map">', "xA map"),
        ("Yes<blockquote>No?<blockquote>Old</blockquote></blockquote>", "Yes\n> No?\n> > Old"),
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("1 < 2 &amp;&nbsp;&euro; <unclosed", "1 < 2 & € <unclosed"),
        ("<style>never closed", ""),
        ("<svg>a</a><a>b\x01c<a href='https://x.example'> </a>", "abc"),
    ],
)
def test_html_is_read_as_a_person_sees_it(html: str, text: str) -> None:
    assert html_text(html) == text


@requirement("imp.files.garbage")
@pytest.mark.parametrize(
    "piece", ["<", "<svg>", "<!--", "<a href='https://x.example'>", "</a>", '<a x="', "x", "<blockquote>x", "&#", " "]
)
def test_a_broken_page_takes_no_longer_than_a_whole_one(piece: str) -> None:
    """Read to its end at all: a pattern that looks back would need hours for this."""
    assert len(html_text("<a " + piece * 200_000 + ">")) <= len(piece) * 200_000 * 6
