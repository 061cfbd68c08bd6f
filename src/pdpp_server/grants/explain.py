"""The same decision as `permit`, as sentences."""

from collections.abc import Iterator

from pdpp_server.errors import PdppError
from pdpp_server.grants.permit import permit
from pdpp_server.grants.permitted import Scope
from pdpp_server.model.grants import Holder
from pdpp_server.model.queries import Query
from pdpp_server.model.times import iso_micros


def explain(holder: Holder, query: Query) -> list[str]:
    """Why a query is permitted, and what of; or why it is not."""
    try:
        permitted = permit(holder, query)
    except PdppError as refusal:
        return [f"Refused: {refusal.code}. {refusal.message} {refusal.remedy}".strip()]
    if not permitted.scopes:
        return ["Permitted, but no granted stream fits, so nothing would be read."]
    return ["Permitted."] + [sentence for scope in permitted.scopes for sentence in _sentences(scope)]


def _sentences(scope: Scope) -> Iterator[str]:
    name = scope.stream.name
    yield f"{name}: from {_listed(scope.connections)}, by grant {scope.grant_id}."
    hidden = [field for field in scope.stream.fields if field not in scope.fields]
    yield f"{name}: fields {_listed(sorted(scope.fields))}" + (
        f"; hidden: {_listed(hidden)}." if hidden else "; none is hidden."
    )
    if scope.since is not None or scope.until is not None:
        since = "the beginning" if scope.since is None else iso_micros(scope.since)
        until = "" if scope.until is None else f" and before {iso_micros(scope.until)}"
        yield f"{name}: only records whose {scope.stream.consent_time_field} is from {since}{until}."
    if scope.resources is not None:
        yield f"{name}: only {len(scope.resources)} named records."


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
