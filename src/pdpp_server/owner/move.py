"""Move an owner from a home to a PostgreSQL database, and back: all of it is compared before it counts."""

import shutil
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from pdpp_server.errors import Conflict, InvalidRequest
from pdpp_server.held import held
from pdpp_server.model.owners import is_owner_name
from pdpp_server.owner.copying import metered, require_alone
from pdpp_server.settings import Settings
from pdpp_server.store import files
from pdpp_server.store.engine import Database
from pdpp_server.store.engines.sqlite.described import plain_tables
from pdpp_server.store.moving import Moved, MoveDiffers, Moving
from pdpp_server.store.opened import DATABASE_FILE, chosen_owner, open_database, open_owners

DEADLINE_SECONDS = 86_400.0

RowsDone = Callable[[int, int], None]  # rows done, rows in all


class MoveReport(NamedTuple):
    owner: str
    was_there: bool  # all of it, since an earlier run
    moved: Moved


def move_to_database(settings: Settings, name: str, progress: RowsDone) -> MoveReport:
    """From the home to the database that the settings name. What an interrupted run left is gone on with.

    Raises:
        InvalidRequest: there is no home, or that is no name.
        Conflict: another process uses the home, or that owner has other data there.
        MoveDiffers: what arrived is not what was sent, so it does not count.
    """
    _require_still(settings.home)
    if not is_owner_name(name):
        raise InvalidRequest(f"{name} is no name of an owner.", remedy="Use lower-case letters, digits, dots, dashes.")
    with closing(open_owners(settings, read_seconds=DEADLINE_SECONDS)) as owners:
        with _opened(settings.home) as source:
            if (there := owners.named(name)) and (was_there := _compared(source, owners.database(there.number))):
                return MoveReport(name, was_there=True, moved=was_there)
            is_left_over = any(owner.name == name for owner in owners.arriving())
            arriving = owners.expect(name)
            try:
                moved = _moved(source, owners.database(arriving.number), progress)
            except MoveDiffers:
                if not is_left_over:
                    raise
                owners.remove(arriving.number)  # the home was changed since that was left
                arriving = owners.expect(name)
                moved = _moved(source, owners.database(arriving.number), progress)
        _require_still(settings.home)
        owners.welcome(arriving.number)
    return MoveReport(name, was_there=False, moved=moved)


def move_to_home(settings: Settings, name: str | None, home: Path, progress: RowsDone) -> MoveReport:
    """From the database to a home that is not there yet; the share in the database stays.

    Raises:
        NotFound: there is no such owner.
        Conflict: the home holds other data.
        MoveDiffers: as above.
    """
    home = home.absolute()
    with closing(open_owners(settings, read_seconds=DEADLINE_SECONDS)) as owners:
        owner = chosen_owner(owners, name)
        source = owners.database(owner.number)
        if (home / DATABASE_FILE).is_file():
            _require_still(home)
            with _opened(home) as target:
                if was_there := _compared(source, target):
                    return MoveReport(owner.name, was_there=True, moved=was_there)
        if home.exists() and (not home.is_dir() or any(home.iterdir())):
            raise _in_the_way(str(home))
        laid_out = home.with_name(f".{home.name}.moving")
        files.made_folder(home.parent)
        with _held_beside(laid_out):
            moved = _laid_out(source, laid_out, progress)
            if home.exists():
                home.rmdir()
            laid_out.rename(home)
            files.sync(home.parent)
    return MoveReport(owner.name, was_there=False, moved=moved)


def _laid_out(source: Database, folder: Path, progress: RowsDone) -> Moved:
    is_left_over = folder.exists()
    try:
        with _opened(folder) as target:
            return _moved(source, target, progress)
    except MoveDiffers:
        if not is_left_over:
            raise
    shutil.rmtree(folder)  # the owner's share was changed since that was left
    with _opened(folder) as target:
        return _moved(source, target, progress)


def _moved(source: Database, target: Database, progress: RowsDone) -> Moved:
    with _moving(source, target) as moving:
        heard = metered(moving.total, progress)
        moving.copy(heard)
        return moving.compare(heard)


def _compared(source: Database, target: Database) -> Moved | None:
    """How much is there already; None where there is nothing yet.

    Raises:
        Conflict: something else is.
    """
    with _moving(source, target) as moving:
        if not moving.is_begun():
            return None
        try:
            return moving.compare(lambda _: None)
        except MoveDiffers as differing:
            raise _in_the_way("That owner", differing.message) from differing


@contextmanager
def _moving(source: Database, target: Database) -> Generator[Moving, None, None]:
    """The tables are described by the side that is a home, and its transaction keeps the source as it is."""
    with source.writing() as still:
        if target.is_elsewhere:
            yield Moving(source, still, target, plain_tables(still))
        else:
            with target.reading() as there:
                tables = plain_tables(there)
            yield Moving(source, still, target, tables)


def _opened(home: Path) -> "closing[Database]":
    return closing(open_database(home, read_seconds=DEADLINE_SECONDS))


@contextmanager
def _held_beside(folder: Path) -> Generator[None, None, None]:
    mark = folder.with_name(f"{folder.name}.lock")
    with held(mark):
        yield
        mark.unlink()


def _require_still(home: Path) -> None:
    database = home / DATABASE_FILE
    if not database.is_file():
        raise InvalidRequest(
            f"{home} holds no data, so there is nothing to move.", remedy="PDPP_HOME must name the home."
        )
    require_alone(home)


def _in_the_way(where: str, why: str = "") -> Conflict:
    return Conflict(
        f"{where} holds other data already, and nothing of it is overwritten. {why}".strip(),
        remedy="Choose another name with --owner, or another folder.",
    )
