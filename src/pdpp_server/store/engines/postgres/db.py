"""One owner's share of a PostgreSQL database: a snapshot for each read, one writer at a time for each owner."""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, Never, Self

import psycopg
from psycopg.errors import QueryCanceled

from pdpp_server.errors import DatabaseUnavailable, IngestStorageError, OwnerLimit, QueryTimeout, ServerTrouble
from pdpp_server.store.engines.meanings import KeptMeanings
from pdpp_server.store.engines.postgres.aside import Aside
from pdpp_server.store.engines.postgres.asked import PostgresAsked
from pdpp_server.store.engines.postgres.blobs import PostgresBlobs, erase_released
from pdpp_server.store.engines.postgres.connection import PostgresConnection, SentQuestion
from pdpp_server.store.engines.postgres.joined import joined
from pdpp_server.store.engines.postgres.keys import PostgresKeys
from pdpp_server.store.engines.postgres.log import PostgresActivity, PostgresLog
from pdpp_server.store.engines.postgres.pool import Pool, Pools
from pdpp_server.store.engines.postgres.session import (
    PostgresSession,
    PostgresWriting,
    asking,
    holds_nul,
    is_typed,
    sole,
)
from pdpp_server.store.engines.postgres.tables import PostgresTables
from pdpp_server.store.engines.postgres.tries import PostgresTries
from pdpp_server.store.engines.postgres.troubles import refuse, trouble
from pdpp_server.store.engines.postgres.turns import PostgresTurns
from pdpp_server.store.engines.postgres.words import PostgresWords
from pdpp_server.store.engines.sqlite.cutting import cutter_in_memory
from pdpp_server.store.files import made_folder
from pdpp_server.store.keeping import let_go_when_old
from pdpp_server.store.keys import WRAPPING_KEY, KeyFiles
from pdpp_server.store.layout import GENERATION, Layout, LayoutCache
from pdpp_server.store.records.words import Tokenizer
from pdpp_server.store.session import Session, Statement, Values
from pdpp_server.store.upkeep.rebuild import rebuild_words

# What each version of the schema adds to the one before. A new column is a step (`add column if not exists`): databases
# that are there never read the others again.
STEPS = ["schema.sql", "owners.sql", "moving.sql", "rebuilding.sql", "words.sql", "log.sql", "versions.sql", "undo.sql"]
_HAS_SCHEMA = "select to_regclass('records') is not null"
_VERSION = "select version from schema_version"
_NEW_VERSION = "update schema_version set version = ?"
SCHEMA_VERSION = len(STEPS)
NEWEST_VERSION = SCHEMA_VERSION + 1  # a step takes nothing away that the version before needs: both run side by side
_BEGIN_READ = asking("begin isolation level repeatable read read only")
_ROLLBACK = asking("rollback")
_NAME_AND_VERSION = """
select (select version from schema_version), set_config('pdpp.owner', ?, true), set_config('statement_timeout', ?, true)
"""
_BEGIN_WRITE = """
begin;
select set_config('pdpp.owner', ?, true), set_config('statement_timeout', ?, true);
select pg_advisory_xact_lock(named_owner())
"""
_BEGIN_PREPARING = """
begin;
select set_config('pdpp.owner', ?, true), set_config('statement_timeout', ?, true);
select pg_advisory_xact_lock(hashtextextended('pdpp schema', 0))
"""
_WAIT_FOR_NOBODY = "set local lock_timeout = '5s'"  # whoever waits for a table keeps all others waiting behind
# What an owner has of each thing that `Limits` names.
_USED = {
    "records": "select cast(coalesce(sum(live), 0) as bigint) from streams",
    "bytes": """
select cast((select coalesce(sum(octet_length(data)), 0) from records) +
    (select coalesce(sum(size), 0) from blobs) as bigint)
""",
    "connections": "select count(*) from connections",
}
_WORDS_FORM = "select words_form from layout"
_NEW_FORM = "update layout set words_form = ?"
WORDS_FORM = 2
_FIRST_LAYOUT = "insert into layout default values on conflict do nothing"
_FIRST_CLOCK = "insert into clock default values on conflict do nothing"
_MUST_BE_OURS = "The role of the server must be able to write there, and to make tables when it is new."

REMEMBERED = 200  # short answers in a read


class PostgresReading(PostgresSession):
    """One snapshot, in which no rows are there but those of one owner."""

    layout: Layout

    def __init__(self, pool: Pool, layouts: LayoutCache, owner: int, seconds: float) -> None:
        self._pool = pool
        self.layouts = layouts
        self.tokenizer = Tokenizer(cutter_in_memory())
        self.records = PostgresTables(self)
        self._words: PostgresWords | None = None
        self.meanings = KeptMeanings(self, self.records)
        self.is_open = False
        self.ahead: tuple[Statement, ...] = ()
        self.is_all = False  # of what will be asked
        self._answered: dict[Statement, list[Any]] = {}
        self._named = asking(_NAME_AND_VERSION, (str(owner), str(ceil(seconds * 1000))))
        self._seconds = seconds

    def __enter__(self) -> Self:
        self._ends = monotonic() + self._seconds
        try:
            self.connection = self._pool.begun(self._begin)
        except psycopg.Error as error:
            self._refuse(error)
        self.is_open = True
        self._words = None
        try:
            self.layout = self.layouts.of(self)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.is_open = False
        self._pool.let_go(self.connection)
        if isinstance(error, psycopg.Error):
            self._refuse(error)

    def _refuse(self, error: psycopg.Error) -> Never:
        """Whoever is told to end before the time is over was told so by somebody else."""
        if isinstance(error, QueryCanceled) and monotonic() >= self._ends:
            raise self._too_long() from error
        refuse(error)

    @property
    def words(self) -> PostgresWords:
        """Made for each snapshot that is asked for words."""
        self._words = self._words or PostgresWords(self, self.records)
        return self._words

    def _begin(self, connection: PostgresConnection) -> None:
        """What is asked in every read, and what this one said ahead, is answered with the beginning."""
        asked = [GENERATION, *self.ahead]
        try:
            sent = self._sent(asked)
        except psycopg.DataError:  # nothing is under a text with NUL, which cannot be asked for
            asked = [each for each in asked if not holds_nul(each[1])]
            sent = self._sent(asked)
        if self.is_all:
            [(version, *_)], *found = connection.ask_joined(self._named, *sent)
        else:
            _, [(version, *_)], *found = connection.ask(_BEGIN_READ, self._named, *sent)
        _require_known(version)
        self._answered = dict(zip(asked, found, strict=True))

    def _sent(self, asked: Sequence[Statement]) -> Sequence[SentQuestion]:
        """Where it is all, one statement is a snapshot, and nobody has to begin and end one around it."""
        return [joined(asked)] if self.is_all else [asking(*each) for each in asked]

    def _ask(self, *questions: SentQuestion) -> list[list[Any]]:
        """In the snapshot, or where that has ended already, in one that answers the same to all that was said ahead."""
        if not self.is_all:
            return self.connection.ask(*questions)
        before = {each: found for each, found in self._answered.items() if not holds_nul(each[1])}
        again = (asking(*each) for each in before)
        _, _, *found = self.connection.ask(_BEGIN_READ, self._named, *again, *questions)
        if found[: len(before)] != [*before.values()]:
            raise DatabaseUnavailable("What was asked for changed while it was read.", remedy="Try again.")
        self.is_all = False
        return found[len(before) :]

    def rows(self, statement: str, values: Values = ()) -> list[Any]:
        """In one snapshot the same question has the same answer; a short one is remembered."""
        if not isinstance(values, tuple):
            return super().rows(statement, values)
        known = self._answered.get((statement, values))
        if known is None:
            known = super().rows(statement, values)
            if len(known) <= 1 and len(self._answered) < REMEMBERED:
                self._answered[statement, values] = known
        return [*known]

    def one(self, statement: str, values: Values = ()) -> Any:
        known = self._answered.get((statement, values)) if isinstance(values, tuple) else None
        if known is None:
            return super().one(statement, values)
        return sole(known)

    def _found(self, statement: str, values: Values) -> list[Any]:
        """The database ends one statement that takes too long; of many short ones, the next is not begun."""
        if monotonic() > self._ends:
            raise self._too_long()
        if is_typed(values):
            (found,) = self._ask(asking(statement, values))
            return found
        if self.is_all:
            self._ask()
        return super()._found(statement, values)

    def _too_long(self) -> QueryTimeout:
        return QueryTimeout(f"The read took longer than {self._seconds:g} s.")


class Limits(NamedTuple):
    """How much an owner may have; 0 for any number."""

    records: int = 0
    bytes: int = 0
    connections: int = 0

    def used(self, session: Session) -> tuple[int, ...]:
        """Of what is limited. Counted, so that nothing can be forgotten; sizes are read without what they are of."""
        return tuple(session.one(_USED[what]) if most else 0 for what, most in self._asdict().items())

    def require(self, before: tuple[int, ...], after: tuple[int, ...]) -> None:
        """Whoever has too much may still take away.

        Raises:
            OwnerLimit: there would be more than the limit, and more than before.
        """
        for what, most, had, has in zip(self._fields, self, before, after, strict=True):
            if most and has > max(most, had):
                raise OwnerLimit(f"An owner may have {most} {what} here; this would make {has}. Nothing was kept.")


NO_LIMITS = Limits()


class PostgresWrite(PostgresWriting):
    """One transaction of the owner's one writer: where things lie as it began, and when that was."""

    def __init__(self, connection: PostgresConnection, layouts: LayoutCache, now: str) -> None:
        super().__init__(connection)
        self.layouts, self.now = layouts, now
        self.layout = layouts.of(self)


def _unwritten(why: DatabaseUnavailable) -> IngestStorageError:
    refusal = IngestStorageError(f"The database could not be written. {why.message}", remedy=why.remedy)
    refusal.retry_after_seconds = why.retry_after_seconds
    return refusal


def _is_known(version: int) -> bool:
    return SCHEMA_VERSION <= version <= NEWEST_VERSION


def _require_known(version: int) -> None:
    """Somebody may have brought the tables up to date, or back, since this process began.

    Raises:
        DatabaseUnavailable: what is read and written here means something else by now.
    """
    if not _is_known(version):
        raise DatabaseUnavailable(
            f"The database has schema {version}; this pdpp-server knows {SCHEMA_VERSION}.",
            remedy="Whoever runs it must replace this process by one of the version that fits; another may answer now.",
        )


def _prepare_tables(writing: PostgresWriting) -> None:
    """Step by step, where they are of an older version or not there yet."""
    version: int = writing.one(_VERSION) if writing.one(_HAS_SCHEMA) else 0
    if version > NEWEST_VERSION:
        raise ServerTrouble(
            f"The database has schema {version}; this pdpp-server knows {SCHEMA_VERSION}.",
            remedy="Install the newer pdpp-server again.",
        )
    writing.run(_WAIT_FOR_NOBODY)
    for step in STEPS[version:]:
        writing.connection.execute(Path(__file__).with_name(step).read_bytes())
    if version < SCHEMA_VERSION:
        writing.run(_NEW_VERSION, (SCHEMA_VERSION,))


class PostgresDatabase:
    """Nothing in the home is missed when it is lost, but the key that wraps the others where no other is named."""

    is_elsewhere = True

    def __init__(
        self,
        pools: Pools,
        home: Path,
        *,
        owner: int,
        read_seconds: float = 5.0,
        write_seconds: float = 300.0,
        key_file: Path | None = None,
        limits: Limits = NO_LIMITS,
        is_alone: bool = True,
    ) -> None:
        """Alone on its pools, it closes them."""
        wrapping = key_file or home / "keys" / WRAPPING_KEY
        aside = self._aside = Aside(pools.aside, owner)
        self.path = home
        self.log = PostgresLog(aside)
        self.activity = PostgresActivity(aside, self.reading)
        self.asked = PostgresAsked(aside, self.reading)
        self.keys = PostgresKeys(aside, owner, partial(KeyFiles(wrapping.parent).kept, wrapping.name))
        self.log.on_new_day = partial(let_go_when_old, self)
        self.tries = PostgresTries(Aside(pools.work, owner))
        self.turns = PostgresTurns(pools.url, owner, write_seconds)
        self.blobs = PostgresBlobs(home / "drafts", self.reading)
        self.layouts = LayoutCache()
        self._pools, self._owner, self._read_seconds = pools, owner, read_seconds
        self._limits, self._is_alone = limits, is_alone
        self._written = (str(owner), f"{write_seconds * 1000:.0f}")
        self._local = threading.local()
        self._write_lock = threading.Lock()
        made_folder(home)
        try:
            self._prepare()
        except psycopg.Error as error:
            self.close()
            why = trouble(error) or DatabaseUnavailable(f"It says {type(error).__name__}.", remedy=_MUST_BE_OURS)
            raise ServerTrouble(
                f"The database of PDPP_DATABASE_URL cannot be used. {why.message}", remedy=why.remedy
            ) from error
        except ServerTrouble:
            self.close()
            raise

    def _prepare(self) -> None:
        """The tables, once for all owners; then the first rows of this one, and its words as they are kept now."""
        with self._begun(_BEGIN_PREPARING) as connection:
            writing = PostgresWriting(connection)
            _prepare_tables(writing)
            writing.run(_FIRST_LAYOUT)
            writing.run(_FIRST_CLOCK)
            are_words_old = writing.one(_WORDS_FORM) < WORDS_FORM
        if are_words_old:
            self._rebuild_words()

    def _rebuild_words(self) -> None:
        with self.writing() as writing:
            if writing.one(_WORDS_FORM) < WORDS_FORM:  # else another process has made them meanwhile
                rebuild_words(writing)
                writing.run(_NEW_FORM, (WORDS_FORM,))

    def has_schema(self) -> bool:
        with self._aside.writing() as asking:
            return _is_known(asking.one(_VERSION))

    def reading(self, *ahead: Statement, is_all: bool = False) -> PostgresReading:
        """This thread's reader, or another where that one is open; use it as a context manager."""
        reading: PostgresReading | None = getattr(self._local, "reading", None)
        if reading is None or reading.is_open:
            reading = PostgresReading(self._pools.work, self.layouts, self._owner, self._read_seconds)
            self._local.reading = reading
        reading.ahead, reading.is_all = ahead, is_all
        return reading

    @contextmanager
    def _begun(self, begin: str) -> Generator[PostgresConnection, None, None]:
        """A transaction: all of it is kept, or none."""
        pool = self._pools.work
        connection = pool.begun(lambda fresh: PostgresWriting(fresh).run(begin, self._written))
        try:
            yield connection
            connection.execute("commit")
        except BaseException:
            with suppress(psycopg.Error):
                connection.ask(_ROLLBACK)  # said to psycopg, it would drop what is planned
            raise
        finally:
            pool.give_back(connection)

    @contextmanager
    def _transaction(self) -> Generator[PostgresConnection, None, None]:
        try:
            with self._write_lock, self._begun(_BEGIN_WRITE) as connection:
                writing = PostgresWriting(connection)
                _require_known(writing.one(_VERSION))
                before = self._limits.used(writing)
                yield connection
                erase_released(writing)
                self._limits.require(before, self._limits.used(writing))
        except psycopg.Error as error:
            why = trouble(error)
            if why is None:
                raise
            raise _unwritten(why) from error
        except DatabaseUnavailable as why:
            raise _unwritten(why) from why

    @contextmanager
    def writing(self) -> Generator[PostgresWriting, None, None]:
        """The one writer of this owner, inside one transaction: all of it is kept, or none."""
        with self._transaction() as connection:
            yield PostgresWriting(connection)

    @contextmanager
    def write(self, now: str) -> Generator[PostgresWrite, None, None]:
        """The same, with what a change of whole streams and connections needs to know."""
        with self._transaction() as connection:
            yield PostgresWrite(connection, self.layouts, now)

    def forget_erased(self) -> None:
        """Vacuum does."""

    def truncate_wal(self) -> None:
        """Checkpoints do."""

    def close(self) -> None:
        if self._is_alone:
            self._pools.close()
