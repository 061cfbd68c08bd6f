"""The text of a Slack message as people see it."""

import pytest

from pdpp_server.importers.formats.slack_text import readable
from tests.requirements import requirement


@requirement("imp.slack.messages")
@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<@U1> &lt;b&gt; &amp;amp;", "@Ann <b> &amp;"),
        ("<@U9|bo> <@U8>", "@bo @U8"),
        ("<#C1> <#C9|other> <#C8>", "#general #other #C8"),
        ("<!here> <!subteam^S1|@crew> <!date^1^{date}|1 May>", "@here @crew 1 May"),
        ("<https://a.example/?x=1&amp;y=2>", "https://a.example/?x=1&y=2"),
        ("<https://a.example|the page>", "the page (https://a.example)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a <unclosed", "a <unclosed"),
        ("<>", "<>"),
    ],
)
def test_marks_of_slack_are_shown_as_people_see_them(raw: str, text: str) -> None:
    assert readable(raw, {"U1": "Ann"}, {"C1": "general"}) == text
