"""An album: photos with their bytes, on two devices of one owner, served over HTTP."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.model.ingest import Incoming, Receipt
from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services
from pdpp_server.settings import Settings
from pdpp_server.store.engine import Database
from pdpp_server.wire.blobs import encode_reference
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import DETAIL_TYPE, decode_selection
from tests.worlds.world import Clock, close

SOURCE_ID = "https://registry.pdpp.dev/connectors/album"
PHONE, CAMERA = "Phone", "Camera"
BYTES = b"\x89PNG\r\n" + bytes(range(256)) * 4 + b"walrus at the lake"
LAST_YEAR, THIS_YEAR = "2025-06-01T12:00:00Z", "2026-06-01T12:00:00Z"

DECLARATION = decode_declaration(
    {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": SOURCE_ID},
        "declaration_version": "1",
        "publisher": {"id": "https://registry.pdpp.dev/"},
        "display": {"name": "Album"},
        "streams": [
            {
                "name": "photos",
                "semantics": "mutable_state",
                "schema": {
                    "type": "object",
                    "required": ["id"],
                    "properties": {
                        "id": {"type": "string"},
                        "caption": {"type": "string", "x_pdpp_role": "primary-title"},
                        "taken_at": {"type": "string", "format": "date-time"},
                        "blob_ref": {"type": "object"},
                        "pages": {"type": "array", "x_pdpp_role": "blob-reference"},
                        "likeness": {"type": "object"},
                    },
                },
                "primary_key": ["id"],
                "cursor_field": "taken_at",
                "consent_time_field": "taken_at",
                "selection": {"fields": True, "resources": True},
                "query": {"search": {"lexical_fields": ["caption"]}},
            }
        ],
    }
)


def photo(key: str, *, taken_at: str = THIS_YEAR, **data: Any) -> Incoming:
    return Incoming(f"test:{key}", "photos", None, {"id": key, "taken_at": taken_at, **data}, "2026-11-01T08:00:00Z")


class Album:
    """`token` is a client's, over the photos of this year of both devices, all fields."""

    def __init__(self, home: Path, database: Database | None = None) -> None:
        self.home = home
        self.services = open_services(home, now=Clock(), database=database)
        self.owner = Owner(self.services, home)
        self.devices = {name: self.owner.writer(DECLARATION, name) for name in (PHONE, CAMERA)}
        self.phone, self.camera = (writer.connection_id for writer in self.devices.values())
        self.token = self.grant(time_range={"since": "2026-01-01T00:00:00Z"})
        self.owner_token, _ = self.owner.owner_token(days=30)

    def grant(self, **narrowing: Any) -> str:
        """A new client's token for the photos of both devices; narrow it with fields, time_range or instance_ids."""
        detail = {
            "type": DETAIL_TYPE,
            "source": {"id": SOURCE_ID},
            "purpose_code": "https://pdpp.dev/purpose/assistance",
            "access_mode": "continuous",
            "streams": [{"name": "photos", "instance_ids": [self.phone, self.camera], **narrowing}],
        }
        return self.owner.create_grant(decode_selection([detail]), "Agent", None).token

    def keep(
        self, key: str, data: bytes = BYTES, *, mime_type: str = "image/png", device: str = PHONE, **record: Any
    ) -> str:
        """A photo with its bytes, as an importer delivers both; the blob's id."""
        writer = self.devices[device]
        blob = writer.keep_blob("photos", key, data, mime_type)
        self.deliver(photo(key, blob_ref=encode_reference(blob), **record), device=device)
        return blob.blob_id

    def deliver(self, *records: Incoming, device: str = PHONE) -> Receipt:
        receipt = self.devices[device].deliver(records)
        assert receipt.rejected == ()
        return receipt

    def delete(self, key: str, *, device: str = PHONE) -> None:
        self.deliver(Incoming("test", "photos", key, None, None), device=device)

    def blob_files(self) -> list[Path]:
        return [path for path in (self.home / "blobs").rglob("*") if path.is_file()]

    @contextmanager
    def serving(self) -> Generator["Door", None, None]:
        app = create_app(Settings(home=self.home), self.services)
        with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000)) as client:
            yield Door(client, self)

    def close(self) -> None:
        close(self.services)


class Door:
    """Requests as a client of the album sends them."""

    def __init__(self, client: TestClient, album: Album) -> None:
        self.client, self.album = client, album

    def get(self, path: str, *, token: str | None = None, method: str = "GET", **headers: str) -> Response:
        return self.client.request(method, path, headers=self._headers(token or self.album.token, headers))

    def blob(self, blob_id: str, *, token: str | None = None, **headers: str) -> Response:
        return self.get(f"/v1/blobs/{blob_id}", token=token, **headers)

    def post(self, query: str, body: bytes, *, token: str | None = None, **headers: str) -> Response:
        sent = self._headers(token or self.album.owner_token, headers)
        return self.client.post(f"/v1/blobs?{query}", content=body, headers=sent)

    def _headers(self, token: str, headers: dict[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): said for name, said in headers.items()}}
