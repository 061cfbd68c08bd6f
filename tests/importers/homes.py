"""A home, and exports that are brought into it one after another."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import orjson

from pdpp_server.importers import registry
from pdpp_server.importers.missing import Doubt, MissingChoice
from pdpp_server.importers.registry import FoundAccount, look_into
from pdpp_server.importers.run import Tally, fingerprint_of, import_account
from tests.worlds.world import World

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LAST_MONTH, TODAY = "20261001T080000Z", "20261114T080000Z"

Text = str | bytes
Agree = Callable[[Doubt], bool]


class Home:
    """A home, and exports that are brought into it."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self._folder = world, folder
        folder.mkdir()

    def found(self, name: str, text: Text, *, now: datetime = NOW) -> FoundAccount:
        path = self._folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        (found,) = look_into(path, UTC, None, registry.IMPORTERS, now).found
        return found

    def packed(self, name: str, files: dict[str, Text]) -> FoundAccount:
        with ZipFile(self._folder / name, "w") as archive:
            for inner, text in files.items():
                archive.writestr(inner, text)
        return self.found(name, (self._folder / name).read_bytes())

    def folder(self, files: dict[str, str], *, now: datetime) -> FoundAccount:
        top = self._folder / "notes"
        for old in top.rglob("*.md"):
            old.unlink()
        for name, text in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text, "utf-8")
        (found,) = look_into(top, UTC, None, registry.IMPORTERS, now).found
        return found

    def bring(self, found: FoundAccount, *, keep: bool = False, agree: Agree = lambda _: False) -> Tally:
        writer = self.world.owner.writer(found.declaration, "mine")
        return import_account(found, writer, fingerprint=fingerprint_of(found), missing=MissingChoice(keep, agree))

    def path(self, name: str) -> Path:
        return self._folder / name

    def everything(self) -> dict[tuple[str, str], dict[str, Any]]:
        """By stream and key, all records that are there."""
        with self.world.services.database.reading() as reading:
            statement = """
            select name, key, data from records join streams using(sid) join connections using(connection)
            where display_name = 'mine' and data is not null
            """
            return {(name, key): orjson.loads(data) for name, key, data in reading.rows(statement)}

    def live(self, stream: str) -> list[str]:
        return [key for key, data in self._records(stream) if data is not None]

    def gone(self, stream: str) -> list[str]:
        return [key for key, data in self._records(stream) if data is None]

    def data(self, stream: str) -> list[dict[str, Any]]:
        return [orjson.loads(data) for _, data in self._records(stream) if data is not None]

    def _records(self, stream: str) -> list[tuple[str, str | None]]:
        with self.world.services.database.reading() as reading:
            statement = """
            select key, data from records join streams using(sid) join connections using(connection)
            where name = ? and display_name = 'mine' order by key
            """
            return [(row[0], row[1]) for row in reading.rows(statement, (stream,))]


def ics(*events: str, stamp: str = LAST_MONTH, end: str = "END:VCALENDAR\r\n", name: str = "Home") -> str:
    stamped = "".join(f"BEGIN:VEVENT\r\nDTSTAMP:{stamp}\r\n{one}\r\nEND:VEVENT\r\n" for one in events)
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nX-WR-CALNAME:{name}\r\n{stamped}{end}"


def event(uid: str, day: str = "20261120", rule: str = "") -> str:
    repeated = f"\r\nRRULE:{rule}" if rule else ""
    return f"UID:{uid}\r\nSUMMARY:{uid}\r\nDTSTART:{day}T090000Z{repeated}"
