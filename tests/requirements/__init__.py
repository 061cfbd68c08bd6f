"""Every promise of this server by id, and the mark with which a test says that it proves one."""

import pytest

from tests.requirements import (
    activity,
    authorization_server,
    command,
    console,
    evidence,
    grants,
    importers,
    mcp_adapter,
    port,
    resource_server,
    store,
)
from tests.requirements.promise import Promise

ROLES: dict[str, dict[str, Promise]] = {
    "rs": resource_server.PROMISES,
    "grants": grants.PROMISES,
    "store": store.PROMISES,
    "log": activity.PROMISES,
    "ev": evidence.PROMISES,
    "port": port.PROMISES,
    "mcp": mcp_adapter.PROMISES,
    "as": authorization_server.PROMISES,
    "con": console.PROMISES,
    "imp": importers.PROMISES,
    "cli": command.PROMISES,
}
PROMISES: dict[str, Promise] = {id: promise for role in ROLES.values() for id, promise in role.items()}


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark a test with the promises it proves; a promise that does not exist fails at import."""
    if not ids:
        raise LookupError("A requirement names at least one promise.")
    for id in ids:
        if id not in PROMISES:
            raise LookupError(f"No promise is called {id!r}; `make promises` lists them.")
    return pytest.mark.requirement(*ids)
