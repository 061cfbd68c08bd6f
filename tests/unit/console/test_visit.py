"""One request to a page: whether a form of ours sent it, and where it may go on to."""

from dataclasses import replace

import pytest

from pdpp_server.console.visit import Visit, own_path
from pdpp_server.errors import PermissionDenied

BARE = Visit(
    "POST",
    "/x",
    {},
    {},
    (),
    "secret",
    True,
    True,
    "a",
    "https://me.example",
    frozenset({"me.example"}),
    None,
    None,
    "r",
)
OURS = replace(BARE, form=(("form_token", BARE.form_token), ("a", "1"), ("a", "2")))


@pytest.mark.parametrize(
    "visit",
    [OURS, replace(OURS, site="same-origin"), replace(OURS, sent_from="https://ME.example")],
)
def test_a_form_of_our_own_page_is_heard(visit: Visit) -> None:
    visit.require_own_form()


@pytest.mark.parametrize(
    "visit",
    [
        BARE,
        replace(OURS, cookie="another"),
        replace(OURS, has_cookie=False),
        replace(OURS, site="cross-site"),
        replace(OURS, site="same-site"),
        replace(OURS, sent_from="https://evil.example"),
        replace(OURS, sent_from="null"),
        replace(OURS, form=(("form_token", "\u00e4"),)),
    ],
)
def test_any_other_form_is_refused(visit: Visit) -> None:
    with pytest.raises(PermissionDenied, match="did not come from a page of yours"):
        visit.require_own_form()


def test_a_form_is_asked_for_one_value_or_all() -> None:
    assert (OURS.value("a"), OURS.values("a"), OURS.value("b"), OURS.values("b")) == ("1", ("1", "2"), "", ())


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ("/grants?x=1", "/grants?x=1"),
        (None, "/"),
        ("", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/a\\b", "/"),
        ("https://evil.example", "/"),
        ("/a\nb", "/"),
    ],
)
def test_after_signing_in_nobody_is_sent_elsewhere(wanted: str | None, path: str) -> None:
    assert own_path(wanted) == path
