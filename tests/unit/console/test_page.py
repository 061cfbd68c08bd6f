"""Where a form may lead, as the policy of its page says it."""

import pytest

from pdpp_server.console.page import security_headers


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("https://agent.example/back?x=1", "https://agent.example"),
        ("http://127.0.0.1:7777/callback", "http://127.0.0.1:7777"),
        ("http://[::1]:7777/callback", "http:"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor:"),
        ("https://agent.example;script-src */", "https:"),
    ],
)
def test_the_policy_names_the_origin_and_takes_no_word_of_the_client(address: str, target: str) -> None:
    policy = security_headers(address)["Content-Security-Policy"]

    assert f"; form-action 'self' {target}; frame-ancestors 'none'" in policy
    assert "script-src" not in policy
