"""What a cursor continues: one query, in its scopes, for its holder."""

import hashlib
from typing import Any

from pdpp_server.grants.permitted import Permitted


def binding(permitted: Permitted[Any], *asked: object) -> bytes:
    """`asked` is what must stay the same from page to page."""
    scopes = [
        (scope.grant_id, scope.stream.name, scope.connections, sorted(scope.fields)) for scope in permitted.scopes
    ]
    holder = (permitted.holder.kind, permitted.holder.client_id)
    return hashlib.sha256(repr((asked, scopes, holder)).encode("utf-8", "surrogatepass")).digest()
