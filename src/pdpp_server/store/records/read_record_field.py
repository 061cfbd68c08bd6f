"""One field's text, by window."""

from pdpp_server.evidence.window import window_of
from pdpp_server.grants.permitted import Permitted
from pdpp_server.model.queries import WindowQuery
from pdpp_server.model.records import RecordId
from pdpp_server.model.text import FieldWindow
from pdpp_server.store.engine import Reading
from pdpp_server.store.records.fetch import find


def read_record_field(reading: Reading, permitted: Permitted[WindowQuery]) -> FieldWindow:
    query = permitted.query
    scope, origin, _, row = find(reading, permitted, query.key)
    id = RecordId(origin.connection_id, query.stream, query.key)
    value, stream = row.data.get(query.field), scope.stream
    return window_of(id, value, stream.roles.get(query.field), stream.binary_fields.get(query.field), query)
