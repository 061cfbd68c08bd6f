"""The hosted scenarios, as they are, through a balancer that alternates between two servers on one database."""

from types import ModuleType
from typing import Any

from tests.requirements import requirement
from tests.scenarios.authorization_server import test_codes, test_device, test_refresh, test_revoke
from tests.scenarios.authorization_server.flow import Flow
from tests.scenarios.balanced.balancer import Alternating
from tests.scenarios.console import test_sign_in
from tests.scenarios.mcp import test_hosted
from tests.scenarios.mcp.test_hosted import client

__all__ = ["client"]
OF_ONE_PROCESS = {
    "test_calls_are_counted_by_tool_and_code",  # metrics are those of a process
    "test_whoever_was_revoked_called_no_tool",  # so is this count
    "test_a_token_is_settled_once_in_a_call",  # from its second call at the same process on
    "test_calls_are_metered_and_a_client_is_told_so_in_its_session",  # within a second: scenarios/store/test_tries.py
    "test_whoever_has_no_token_that_is_known_has_no_session_to_lose",  # the same
    "test_of_a_token_that_has_nothing_left_to_pay_with_no_long_message_is_heard",  # the same
}


def scenarios(*modules: ModuleType) -> dict[str, Any]:
    named = {name: value for module in modules for name, value in vars(module).items() if name.startswith("test_")}
    return {name: scenario for name, scenario in named.items() if name not in OF_ONE_PROCESS}


globals().update(scenarios(test_codes, test_refresh, test_revoke, test_device, test_sign_in, test_hosted))


@requirement("store.engines.balanced")
def test_each_request_meets_another_server(flow: Flow) -> None:
    app: Any = flow.http._transport.app  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    assert isinstance(app, Alternating)
    token = flow.tokens()["access_token"]
    assert [flow.calls(token) for _ in range(4)] == [200] * 4
