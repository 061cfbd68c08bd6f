"""The chats, with an owner's tools that write to them."""

from typing import Any

import orjson
from httpx2 import Response

from tests.engine.beneath import bytes_beside_log
from tests.scenarios.resource_server.chats import Api

NDJSON = "application/x-ndjson"


class OwnersTools:
    """Requests that change something, as a collector sends them."""

    def __init__(self, api: Api) -> None:
        self.api, self.chats = api, api.chats
        self.work = f"connector_id=chats&connection_id={self.chats.work}"
        self.mine = f"connector_id=chats&connection_id={self.chats.mine}"

    def send(
        self, method: str, path: str, body: Any = b"", *, token: str | None = "tok_owner", **headers: str
    ) -> Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["Authorization"] = f"Bearer {token}"
        return self.api.client.request(method, path, content=body, headers=named)

    def post(self, stream: str, *lines: bytes | dict[str, Any], to: str | None = None, **headers: str) -> Response:
        """Lines for a stream of the work account, unless told otherwise."""
        body = b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
        headers = {"Content_Type": NDJSON, **headers}
        return self.send("POST", f"/v1/ingest/{stream}?{self.work if to is None else to}", body, **headers)

    def refusal(self, method: str, path: str, body: Any = b"", **headers: str) -> tuple[int, str, str | None]:
        response = self.send(method, path, body, **headers)
        error = response.json()["error"]
        return response.status_code, error["code"], error.get("param")

    def has(self, key: str, connection_id: str | None = None) -> bool:
        """Whether a client sees that message."""
        path = f"/v1/streams/messages/records/{key}?connection_id={connection_id or self.chats.work}"
        return self.api.get(path).status_code == 200

    def bytes_of_home(self) -> bytes:
        """Without the log, which names records by design."""
        return bytes_beside_log(self.chats.home)


def envelope(key: str, subject: str = "New", **more: Any) -> dict[str, Any]:
    data = {"id": key, "subject": subject, "sent_at": "2026-11-10T08:00:00Z", **more}
    return {"key": key, "data": data, "emitted_at": "2026-11-10T09:00:00Z"}


def deletion(key: str) -> dict[str, Any]:
    return {"key": key, "op": "delete", "emitted_at": "2026-11-11T09:00:00Z"}
