"""Numbers about the records of one stream."""

from dataclasses import replace

from pdpp_server.evidence.remarks import several_currencies
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.activity import Shown
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import AggregateQuery
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.records.aggregate import aggregate
from pdpp_server.wire.envelope import sources_skipped


def serve(services: Services, call: Call, query: AggregateQuery) -> Pending[Aggregation]:
    with services.reading(call, "aggregate") as read:
        permitted = read.permit(query)
        numbers = aggregate(read.store, permitted)
        numbers = replace(numbers, warnings=(*sources_skipped(permitted.missing), *several_currencies(numbers)))
        return read.pending(permitted, numbers, _about(permitted))


def _about(permitted: Permitted[AggregateQuery]) -> Shown:
    """A number names no connection, and tells of all that it was made from."""
    connections = [name for scope in permitted.scopes for name in scope.connections]
    return Shown(tuple(dict.fromkeys(connections)), (permitted.query.stream,))
