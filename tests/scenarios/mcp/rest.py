"""The same world over HTTP, to compare what a tool shows with what its endpoint shows."""

from httpx2 import Response
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.settings import Settings
from tests.worlds.world import World


def get(world: World, path: str, token: str | None = None, headers: dict[str, str] | None = None) -> Response:
    app = create_app(Settings(home=world.home), world.services)
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as client:
        return client.get(path, headers={"Authorization": f"Bearer {token or world.token}", **(headers or {})})
