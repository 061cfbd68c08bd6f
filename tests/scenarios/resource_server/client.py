"""One bearer's requests to a world's server."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.settings import Settings
from tests.worlds.world import World


@contextmanager
def served(world: World, **settings: Any) -> Generator[TestClient, None, None]:
    app = create_app(Settings(home=world.home, **settings), world.services)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


class Client:
    """What one bearer asks, and how it is refused."""

    def __init__(self, http: TestClient, token: str) -> None:
        self.http, self.token = http, token

    def get(self, path: str) -> dict[str, Any]:
        response = self.http.get(path, headers={"Authorization": f"Bearer {self.token}"})
        assert response.status_code == 200, response.text
        return response.json()

    def refusal(self, path: str) -> tuple[int, str, str | None]:
        response = self.http.get(path, headers={"Authorization": f"Bearer {self.token}"})
        error = response.json()["error"]
        return response.status_code, error["code"], error.get("param")

    def keys(self, path: str) -> list[str]:
        return [record["id"] for record in self.get(path)["data"]]
