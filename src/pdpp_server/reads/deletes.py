"""What the owner erases: one record, or a whole stream of one connection."""

from pdpp_server.errors import InvalidRecordIdentity
from pdpp_server.model.ingest import Incoming, Target
from pdpp_server.reads.services import Call, Services
from pdpp_server.reads.writes import desk_for, writing
from pdpp_server.store.records.ingest import deliver
from pdpp_server.store.records.sources import resolve_connection
from pdpp_server.store.upkeep.erasure import empty_stream


def delete_record(services: Services, call: Call, target: Target, stream: str, key: str) -> None:
    """Nothing changes where there is no such record."""
    with writing(services, call) as write:
        connection = resolve_connection(write.layout, *target)
        desk = desk_for(write, connection, stream)
        receipt = deliver(write, desk, [Incoming("here", stream, key, None, None)], write.now)
        if receipt.rejected:
            reason = receipt.rejected[0].reason
            raise InvalidRecordIdentity(f"The id cannot be one of this stream: {reason}.", param="id")
    services.database.forget_erased()
    services.forget_asked(connection.origin.connection_id)


def delete_records(services: Services, call: Call, target: Target, stream: str) -> None:
    """Other connections keep theirs."""
    with writing(services, call) as write:
        connection = resolve_connection(write.layout, *target)
        desk = desk_for(write, connection, stream)
        empty_stream(write, desk)
    services.database.forget_erased()
    services.forget_asked(connection.origin.connection_id)
