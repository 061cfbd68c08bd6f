"""People and programs."""

import pytest
from starlette.datastructures import Headers

from pdpp_server.http.people import wants_page


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}, True),
        ({"accept": "*/*"}, False),
        ({"accept": "application/json"}, False),
        ({}, False),
        ({"accept": "text/html", "authorization": "Bearer t1"}, False),
    ],
)
def test_a_page_is_for_browsers_that_show_no_token(headers: dict[str, str], expected: bool) -> None:
    assert wants_page(Headers(headers)) is expected
