"""`pdpp mcp` as a process of its own, on a reader that holds nothing, prints where it must not, and breaks to order."""

import os
import sys

from pdpp_server.mcp import stdio
from pdpp_server.port.credentials import Credential, refuse_kind
from pdpp_server.port.reader import Reader

KINDS = {"scoped": "client", "owners": "owner"}


def open_reader(credential: Credential) -> Reader:
    from pdpp_server.errors import GrantRevoked
    from pdpp_server.model.catalogue import Catalogue
    from pdpp_server.model.pending import Pending
    from pdpp_server.model.queries import FetchQuery, SchemaQuery, SearchQuery

    class EmptyReader:
        public_url = None

        def schema(self, query: SchemaQuery) -> Pending[Catalogue]:
            print("a dependency prints")
            os.write(1, b"and a library writes\n")
            return Pending(Catalogue("client", credential.token, ("grt_1",), ()), "req_1", lambda *_: None)

        def search(self, query: SearchQuery) -> object:
            raise GrantRevoked("The grant was revoked.")

        def fetch(self, query: FetchQuery) -> object:
            raise KeyError(query.key)

    return EmptyReader()  # pyright: ignore[reportReturnType]


def open_provider(address: str, credential: Credential) -> Reader:
    """A server that calls one of its tokens an owner's, once it is asked."""
    refuse_kind(KINDS.get(credential.token))
    return open_reader(credential)


if __name__ == "__main__":
    home = os.environ.get("PDPP_HOME", "")
    sys.exit(
        stdio.main(
            sys.argv[1:],
            os.environ,
            home=home,
            token_kind=KINDS.get,
            open_reader=open_reader,
            open_provider=open_provider,
        )
    )
