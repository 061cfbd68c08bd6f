"""A connection that the owner's tools declare and name, to deliver into it."""

from pdpp_server.model.grants import SUBJECT
from pdpp_server.model.sources import Declaration
from pdpp_server.reads.services import Call, Services
from pdpp_server.reads.writes import writing
from pdpp_server.store.records.sources import connect
from pdpp_server.store.upkeep.rebuild import rebuild_words


def declare(services: Services, call: Call, declaration: Declaration, name: str) -> str:
    """The id of the connection of that name, made where it is new; the same one as an import here would make.

    Raises:
        InvalidDeclaration: what is there already does not fit it.
    """
    with writing(services, call) as write:
        connected = connect(write, declaration, name, subject=SUBJECT, now=write.now)
        if connected.is_stale:
            rebuild_words(write)
    return connected.connection_id
