"""The same decision as `permit`, as sentences."""

from collections.abc import Iterator

from pdpp_server.errors import PdppError
from pdpp_server.evidence.said import say
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
        told = say("Refused: {code}. {message}", code=refusal.code, message=refusal.message)
        return [f"{told} {refusal.remedy}".strip()]
    if not permitted.scopes:
        return [say("Permitted, but no granted stream fits, so nothing would be read.")]
    return [say("Permitted.")] + [sentence for scope in permitted.scopes for sentence in _sentences(scope)]


def _sentences(scope: Scope) -> Iterator[str]:
    name = scope.stream.name
    connections, fields = _listed(scope.connections), _listed(sorted(scope.fields))
    yield say(
        "{name}: from {connections}, by grant {grant_id}.", name=name, connections=connections, grant_id=scope.grant_id
    )
    hidden = [field for field in scope.stream.fields if field not in scope.fields]
    if hidden:
        yield say("{name}: fields {fields}; hidden: {hidden}.", name=name, fields=fields, hidden=_listed(hidden))
    else:
        yield say("{name}: fields {fields}; none is hidden.", name=name, fields=fields)
    if scope.since is not None or scope.until is not None:
        since = say("the beginning") if scope.since is None else iso_micros(scope.since)
        until = "" if scope.until is None else say(" and before {time}", time=iso_micros(scope.until))
        time = scope.stream.consent_time_field
        yield say(
            "{name}: only records whose {time} is from {since}{until}.", name=name, time=time, since=since, until=until
        )
    if scope.resources is not None:
        yield say("{name}: only {count} named records.", name=name, count=len(scope.resources))


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:12])
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")
