"""What is kept of a mailbox that is followed."""

import pytest

from pdpp_server.importers.live.adding import mailbox_settings


@pytest.mark.parametrize(
    ("user", "account", "called"),
    [("ann@example.org", "", "ann@example.org"), ("ann", "", "ann@imap.example"), ("ann", "Work", "Work")],
)
def test_an_account_is_called_by_its_address_so_that_an_export_meets_it(user: str, account: str, called: str) -> None:
    assert mailbox_settings("imap.example", user, account=account)["account"] == called


@pytest.mark.parametrize(
    ("security", "port", "used"), [("tls", None, 993), ("starttls", None, 143), ("tls", 1993, 1993), ("plain", 0, 143)]
)
def test_a_port_that_is_not_named_is_the_usual_one(security: str, port: int | None, used: int) -> None:
    assert mailbox_settings("imap.example", "ann", security=security, port=port)["port"] == used
