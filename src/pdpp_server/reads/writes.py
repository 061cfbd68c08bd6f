"""The owner's gate: every write over HTTP passes it, and is one transaction."""

from collections.abc import Generator
from contextlib import contextmanager

from pdpp_server.errors import NotFound
from pdpp_server.model.times import iso
from pdpp_server.reads.bearers import OWNER_KINDS, require_live, row_of
from pdpp_server.reads.services import Call, Services
from pdpp_server.store.engine import Write
from pdpp_server.store.layout import ConnectionPlace
from pdpp_server.store.records.ingest import Desk, desk_of


def require_owner(services: Services, call: Call) -> None:
    """The token of the call is the owner's, and alive: asked of a reader, so that nobody else waits for the writer.

    Raises:
        Unauthenticated: it is nobody's.
        PermissionDenied: it is a client's.
    """
    with services.database.reading() as reading:
        _, row = row_of(reading, call.bearer)
        require_live(reading, row, OWNER_KINDS, iso(services.now()))


@contextmanager
def writing(services: Services, call: Call) -> Generator[Write, None, None]:
    """All of it is kept, or none; whatever is refused inside leaves nothing behind."""
    require_owner(services, call)
    with services.database.write(iso(services.now())) as write:
        yield write


def desk_for(write: Write, connection: ConnectionPlace, stream: str) -> Desk:
    """Where records of that stream are laid down.

    Raises:
        NotFound: the connection declares no such stream.
    """
    if stream not in connection.declared:
        raise NotFound("The source declares no such stream.", param="stream")
    return desk_of(write.layouts.declaration(write, connection.declaration), connection, stream)
