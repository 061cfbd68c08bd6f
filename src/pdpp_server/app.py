"""Settings in, one ASGI app out."""

from starlette.applications import Starlette

from pdpp_server.authorization_server.way_out import Fetch
from pdpp_server.http.logs import write_to_stderr
from pdpp_server.many_owners import OwnersApp
from pdpp_server.one_owner import OwnApp, services_of
from pdpp_server.reads.services import Services
from pdpp_server.settings import Settings


def create_app(settings: Settings, services: Services | None = None, fetch: Fetch | None = None) -> Starlette:
    """The whole server. Services that it opened itself it also closes. `fetch` reads what clients say of themselves.

    On a database it serves all owners in it, unless one is named.
    """
    write_to_stderr()
    if services is None and settings.database_url is not None and settings.owner is None:
        return OwnersApp(settings, fetch)
    return OwnApp(settings, services or services_of(settings), fetch, closes=services is None)
