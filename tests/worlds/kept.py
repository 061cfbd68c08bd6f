"""A life that is hard to keep: two accounts, keys of several parts and of emoji, changes, deletions, photos."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from pdpp_server.model.backup import BackupReport, RestoreReport
from pdpp_server.model.catalogue import Catalogue
from pdpp_server.model.queries import FetchQuery, RecordsQuery, SchemaQuery, SearchQuery, WindowQuery
from pdpp_server.owner.backup import back_up
from pdpp_server.owner.restore import restore
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from pdpp_server.store.engine import Database
from pdpp_server.wire.blobs import encode_reference
from tests.engine.beneath import rows_in
from tests.worlds import album, chat
from tests.worlds.told import ToldReader, told
from tests.worlds.world import NOW, Clock, World, build, close

_RECORDS = """
select connection_id, display_name, streams.name, key, data, emitted_at, at from records
join streams using(sid) join connections using(connection) where data is not null order by 1, 3, 4
"""


@dataclass(frozen=True)
class Kept:
    world: World
    photo: str  # the id of its blob

    @property
    def home(self) -> Path:
        return self.world.home

    def records(self) -> list[tuple[Any, ...]]:
        return records_in(self.home)


@contextmanager
def lived(home: Path) -> Generator[Kept, None, None]:
    """That life in an empty folder."""
    world = build(home, Clock())
    world.deliver(chat.WORK, [chat.message("m3", text="Lunch at one!"), chat.message("👩‍🚀 / 🪐", text="An emoji.")])
    world.deliver(chat.WORK, [chat.channel('🎉:"x"', 7, "compound"), chat.deletion("m4")])
    world.deliver(chat.FAMILY, [chat.message("m2", text="Another lake."), chat.deletion("m1")])
    photos = world.owner.writer(album.DECLARATION, album.PHONE)
    blob = photos.keep_blob("photos", "p1", album.BYTES, "image/png")
    reference = encode_reference(blob)
    photos.deliver([album.photo("p1", blob_ref=reference), album.photo("p2", pages=[reference])])
    told(world.reader.search(SearchQuery("lease")))
    yield Kept(world, blob.blob_id)
    close(world.services)


def backed_up(home: Path, target: Path, *, keep: int = 7, after: int = 0) -> BackupReport:
    """`after` so many minutes."""
    return back_up(home, target, now=NOW + timedelta(minutes=after), keep=keep, progress=lambda *_: None)


def restored(source: Path, home: Path, *, at: str | None = None, replace: bool = False) -> RestoreReport:
    return restore(source, home, at=at, replace=replace, now=NOW, progress=lambda *_: None)


def records_in(home: Path) -> list[tuple[Any, ...]]:
    """Every live record with all that an import must give back."""
    return rows_in(home, _RECORDS)


@contextmanager
def reader_in(home: Path, token: str, database: Database | None = None) -> Generator[ToldReader, None, None]:
    services = open_services(home, now=Clock(), database=database)
    yield ToldReader(LocalReader(services, token))
    close(services)


def answers(home: Path, token: str, database: Database | None = None) -> list[Any]:
    """What a client would read in a home: everything that it may, in every way, page by page."""
    with reader_in(home, token, database) as reader:
        catalogue = reader.schema(SchemaQuery()).value
        found: list[Any] = [catalogue]
        for entry in catalogue.entries:
            for holding in entry.holdings:
                found += _stream_answers(reader, entry.stream.name, holding.origin.connection_id)
        found += [_hits(reader, words) for words in ("lease", "walrus lake", "emoji", "京都")]
        window = WindowQuery("messages", "m2", "text", connection_id=_work(catalogue), offset=5000, limit=300)
        return [*found, reader.read_record_field(window).value]


def _work(catalogue: Catalogue) -> str:
    origins = [holding.origin for entry in catalogue.entries for holding in entry.holdings]
    return next(origin.connection_id for origin in origins if origin.label == chat.WORK)


def _stream_answers(reader: ToldReader, stream: str, connection_id: str) -> list[Any]:
    records: list[Any] = []
    cursor: str | None = None
    while cursor is not None or not records:
        query = RecordsQuery(stream, connection_id=connection_id, limit=2, cursor=cursor)
        page = reader.query_records(query).value
        records += page.records
        cursor = page.next_cursor
    changes = reader.query_records(RecordsQuery(stream, connection_id=connection_id, changes_since="beginning")).value
    fetched = [reader.fetch(FetchQuery(stream, record.id.key, connection_id)).value for record in records]
    return [records, changes.records, fetched]


def _hits(reader: ToldReader, words: str) -> list[Any]:
    return [(hit.id, hit.title, hit.excerpts, hit.score) for hit in reader.search(SearchQuery(words)).value.hits]
