"""Numbers about the records of one stream."""

from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.aggregates import Aggregation
from pdpp_server.model.queries import AggregateQuery
from pdpp_server.reads.disclosure import Disclosed, json_bytes
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.aggregate import aggregate


def serve(services: Services, call: Call, query: AggregateQuery) -> Aggregation:
    with services.reading(call, "aggregate") as read:
        permitted = read.permit(query)
        aggregation = aggregate(read.store, permitted)
        read.disclose(permitted, _disclosed(permitted, aggregation))
        return aggregation


def _disclosed(permitted: Permitted[AggregateQuery], aggregation: Aggregation) -> Disclosed:
    """The fields that the numbers tell of; records are counted, not shown."""
    query = permitted.query
    asked = (query.field, query.group_by, query.group_by_time, *(condition.field for condition in query.conditions))
    told = aggregation.value if aggregation.groups is None else aggregation.groups
    return Disclosed(
        tuple(name for scope in permitted.scopes for name in scope.connections),
        (query.stream,),
        tuple(dict.fromkeys(name for name in asked if name is not None)),
        bytes=json_bytes(told),
    )
