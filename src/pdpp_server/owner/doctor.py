"""Try every part of a home once: what is well, what is wrong, and mend what can be made anew."""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.client import HTTPConnection, HTTPException
from io import BufferedReader
from pathlib import Path
from urllib.parse import urlsplit

import orjson

from pdpp_server.errors import PdppError, ServerTrouble
from pdpp_server.meaning.loading import Meaning
from pdpp_server.model.health import DatabaseHealth, Fault, Finding, PartLooked
from pdpp_server.model.times import iso
from pdpp_server.owner.meaning import MeaningDesk
from pdpp_server.port import credentials
from pdpp_server.port.connect import BOUNDS, discover
from pdpp_server.port.exchange import Exchange
from pdpp_server.settings import Settings
from pdpp_server.store import files, log
from pdpp_server.store.consent import owner
from pdpp_server.store.consent.grants import grant_state
from pdpp_server.store.engine import Database, Reading
from pdpp_server.store.engines.sqlite import activity
from pdpp_server.store.engines.sqlite.migrations import migration_files
from pdpp_server.store.opened import DATABASE_FILE, database_of, open_owners, token_kind
from pdpp_server.store.records.blobs import lost_blobs, stored_blobs, stray_blobs
from pdpp_server.store.upkeep import check
from pdpp_server.store.upkeep.check_index import index_faults
from pdpp_server.store.upkeep.meanings import differing_meanings
from pdpp_server.store.upkeep.rebuild import rebuild_words
from pdpp_server.store.upkeep.recount import recount
from pdpp_server.wire.address import ANYWHERE, is_loopback, server_address
from pdpp_server.wire.credentials import decode_saved, granted_id
from pdpp_server.wire.cursors import KEY_BYTES
from pdpp_server.wire.discovery import MCP, is_health

DEADLINE_SECONDS = 86_400.0
FREE_BYTES_MIN = 256 * 1024 * 1024
WAL_BYTES_MAX = 64 * 1024 * 1024
BEHIND_BYTES_MAX = 64 * 1024 * 1024
DEAD_ROWS_MIN = 100_000  # fewer are no trouble, however many live
PORT_SECONDS = 3.0
DRAFT_AGE = timedelta(hours=1)  # whoever delivers a blob has finished it by then
KEY_FILES = ("activity.key", "cursors.key")


@dataclass
class Patient:
    """One home under examination. `database` is open once it was found to be usable."""

    settings: Settings
    now: datetime
    database: Database | None = None
    health: DatabaseHealth | None = None  # of a database that others share

    @property
    def home(self) -> Path:
        return self.settings.home

    def open(self) -> None:
        self.database = database_of(self.settings, read_seconds=DEADLINE_SECONDS)

    @contextmanager
    def reading(self) -> Generator[Reading, None, None]:
        assert self.database is not None
        with self.database.reading() as reading:
            yield reading


Look = Callable[[Patient], PartLooked]
Mend = Callable[[Patient], None]


@dataclass(frozen=True, slots=True)
class DoctorPart:
    """`mends` says which faults can be mended, and how. `needs_database`: not tried where that cannot be opened."""

    name: str
    look: Look
    mends: Mapping[str, Mend] = field(default_factory=dict[str, Mend])
    needs_database: bool = False


def examine(settings: Settings, *, now: datetime, repair: bool) -> Iterator[Finding]:
    """One finding for each part, in order, as soon as it is known."""
    patient = Patient(settings, now)
    try:
        for part in PARTS if settings.database_url is None else SHARED_PARTS:
            if _can_try(part, patient):
                yield tried(part, patient, repair=repair)
    finally:
        if patient.database:
            patient.database.close()


def tried(part: DoctorPart, patient: Patient, *, repair: bool) -> Finding:
    found = _looked(part, patient)
    mends = {part.mends[fault.code] for fault in found.faults if fault.code in part.mends}
    if not mends or not repair:
        return Finding(part.name, found.faults, (), found.facts)
    for mend in mends:
        mend(patient)
    after = _looked(part, patient)
    left = {fault.code for fault in after.faults}
    mended = tuple(fault for fault in found.faults if fault.code not in left)
    return Finding(part.name, after.faults, mended, after.facts)


def _looked(part: DoctorPart, patient: Patient) -> PartLooked:
    try:
        return part.look(patient)
    except PdppError as refusal:
        return PartLooked((Fault("refused", places=(refusal.message.removesuffix("."),), remedy=refusal.remedy),))
    except PermissionError as refusal:
        return PartLooked((Fault("not_ours", places=(str(refusal.filename),)),))
    except Exception as trouble:  # noqa: BLE001 - whatever ails one part, the others are tried too
        return PartLooked((Fault("failed", places=(f"{type(trouble).__name__}: {trouble}",)),))


def _can_try(part: DoctorPart, patient: Patient) -> bool:
    if part.needs_database:
        return patient.database is not None
    if part.name in WITHOUT_HOME or patient.settings.database_url is not None:
        return True
    try:
        return _has_home(patient)
    except PermissionError:
        return False


def _has_home(patient: Patient) -> bool:
    """Raises: PermissionError."""
    return (patient.home / DATABASE_FILE).is_file()


# The parts --------------------------------------------------------------------------------------------------------


def _home(patient: Patient) -> PartLooked:
    """The folder, or the nearest one that is there, in which it would be made."""
    facts = {"home": str(patient.home)}
    nearest = next(path for path in (patient.home, *patient.home.parents) if path.exists())
    if not nearest.is_dir():
        return PartLooked((Fault("home_no_folder", places=(str(nearest),)),), facts)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return PartLooked((Fault("not_ours", places=(str(nearest),)),), facts)
    return PartLooked((), {**facts, "made": int(_has_home(patient))})


def _permissions(patient: Patient) -> PartLooked:
    places = tuple(_relative(patient, path) for path in _open_to_others(patient))
    return PartLooked((Fault("open_to_others", len(places), places),) if places else ())


def _close_to_others(patient: Patient) -> None:
    for path in _open_to_others(patient):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _open_to_others(patient: Patient) -> list[Path]:
    if sys.platform == "win32":  # what its modes say is not who can read
        return []
    every = (patient.home, *sorted(patient.home.rglob("*")))
    plain = [path for path in every if not path.is_symlink() and path.exists()]
    return [path for path in plain if path.stat().st_mode & 0o077]


def _space(patient: Patient) -> PartLooked:
    free = shutil.disk_usage(patient.home).free
    return PartLooked((Fault("little_space"),) if free < FREE_BYTES_MIN else (), {"free_bytes": free})


def _keys(patient: Patient) -> PartLooked:
    """A key is made at first use; one that was used and is gone is a loss."""
    folder = patient.home / "keys"
    there = [name for name in KEY_FILES if (folder / name).is_file()]
    broken = tuple(f"keys/{name}" for name in there if (folder / name).stat().st_size != KEY_BYTES)
    faults: list[Fault] = []
    if broken:
        faults.append(Fault("key_broken", len(broken), broken))
    if "activity.key" not in there and log.segment_paths(patient.home / "activity"):
        faults.append(Fault("key_missing", places=("keys/activity.key",)))
    return PartLooked(tuple(faults), {"keys": len(there)})


def _clients(patient: Patient) -> PartLooked:
    home = str(patient.home)
    wrong: dict[str, list[str]] = {}
    renewable = 0
    names = credentials.client_names(home)
    for name in names:
        try:
            found = credentials.read_credential(home, name, now=iso(patient.now))
            code = _unusable(patient, name, found)
            renewable += found.client is not None
        except credentials.CredentialError as refusal:
            code = "client_expired" if refusal.code == "credential_expired" else "client_unreadable"
        if code:
            wrong.setdefault(code, []).append(name)
    faults = tuple(Fault(code, len(places), tuple(places)) for code, places in wrong.items())
    return PartLooked(faults, {"clients": len(names), "renewable": renewable})


def _unusable(patient: Patient, name: str, found: credentials.Credential) -> str | None:
    """Why that client cannot read. Another server is not asked, and nothing is renewed: both would be a use of it."""
    home = str(patient.home)
    document = credentials.read_document(home, name)
    saved, grant_id = decode_saved(document), granted_id(document)
    kind = token_kind(patient.settings, found.token)
    if kind == "owner":
        return "client_owner"
    if saved and saved.token_endpoint:
        return None
    with patient.reading() as reading:
        state = grant_state(reading, grant_id) if grant_id else None
    if state and state.word(iso(patient.now)) != "active":
        return "client_ended"
    return None if found.client or kind in credentials.SCOPED_KINDS else "client_unusable"


def _password(patient: Patient) -> PartLooked:
    """Whoever reads only by commands needs none; a server that others reach should not wait for its first visitor."""
    with patient.reading() as reading:
        is_set = owner.password(reading) is not None
    is_missed = patient.settings.public_url is not None and not is_set
    return PartLooked((Fault("password_missing"),) if is_missed else (), {"set": int(is_set)})


def _database(patient: Patient) -> PartLooked:
    if patient.database is None:
        patient.open()
    with patient.reading() as reading:
        damage = tuple(check.damage(reading))
        dangling = 0 if damage else check.dangling_rows(reading)
    faults = [Fault("damaged", len(damage), damage)] if damage else []
    faults += [Fault("dangling_rows", dangling)] if dangling else []
    return PartLooked(tuple(faults), {"schema": len(migration_files())})


def _counts(patient: Patient) -> PartLooked:
    with patient.reading() as reading:
        streams, days = tuple(check.miscounted_streams(reading)), check.miscounted_days(reading)
        records = check.live_records(reading)
    faults = [Fault("streams_miscounted", len(streams), streams)] if streams else []
    faults += [Fault("days_miscounted", days)] if days else []
    return PartLooked(tuple(faults), {"records": records})


def _recount(patient: Patient) -> None:
    assert patient.database is not None
    with patient.database.writing() as writer:
        recount(writer)


def _index(patient: Patient) -> PartLooked:
    with patient.reading() as reading:
        if damage := tuple(check.words_damage(reading)):
            return PartLooked((Fault("index_damaged", len(damage), damage),))
        found = index_faults(reading)
    named = zip(INDEX_FAULTS, found, strict=True)
    return PartLooked(tuple(Fault(code, number) for code, number in named if number))


def _rebuild(patient: Patient) -> None:
    assert patient.database is not None
    with patient.database.writing() as writer:
        rebuild_words(writer)
    patient.database.truncate_wal()
    patient.database.close()
    patient.open()  # anew: SQLite's check of the words trusts what a connection remembers of them


def _history(patient: Patient) -> PartLooked:
    with patient.reading() as reading:
        broken, unerased = check.broken_history(reading), check.unerased_versions(reading)
    named = {"history_broken": broken, "history_unerased": unerased}
    return PartLooked(tuple(Fault(code, number) for code, number in named.items() if number))


def _blobs(patient: Patient) -> PartLooked:
    assert patient.database is not None
    with patient.reading() as reading:
        blobs = patient.database.blobs
        lost = {blob.blob_id for blob in lost_blobs(reading, blobs)}
        stored = list(stored_blobs(reading))
        strays = _strays(patient, reading)
        damaged: set[str] = set()
        for blob in stored:
            if blob.blob_id not in lost and _digest(blobs.open(reading, blob)) != blob.sha256:
                damaged.add(blob.blob_id)
    named = {"blob_lost": sorted(lost), "blob_damaged": sorted(damaged), "blob_stray": strays}
    faults = tuple(Fault(code, len(places), tuple(places)) for code, places in named.items() if places)
    return PartLooked(faults, {"blobs": len(stored)})


def _digest(file: BufferedReader) -> str:
    with file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _strays(patient: Patient, reading: Reading) -> list[str]:
    """Files that nothing knows, unless somebody may be writing them just now."""
    assert patient.database is not None
    young = (patient.now - DRAFT_AGE).timestamp()
    found = stray_blobs(reading, patient.database.blobs)
    return [_relative(patient, path) for path in found if path.stat().st_mtime < young]


def _remove_strays(patient: Patient) -> None:
    """While nobody else writes, so that no file is just about to get its row."""
    assert patient.database is not None
    with patient.database.writing(), patient.reading() as reading:
        for name in _strays(patient, reading):
            (patient.home / name).unlink()
    files.forget_empty_folders(patient.home / "blobs")


def _grants(patient: Patient) -> PartLooked:
    with patient.reading() as reading:
        unreadable, idle = tuple(check.unreadable_grants(reading)), check.idle_tokens(reading)
    faults = [Fault("grant_unreadable", len(unreadable), unreadable)] if unreadable else []
    faults += [Fault("token_idle", idle)] if idle else []
    return PartLooked(tuple(faults))


def _log(patient: Patient) -> PartLooked:
    """Compared with what the index has seen of it, where the index can be read."""
    folder = patient.home / "activity"
    seen = activity.seen_of_log(patient.home / "activity.sqlite")
    verdicts = log.verify(folder, seen)
    changed = tuple(verdict.segment for verdict in verdicts if not verdict.is_sound)
    lines = sum(verdict.lines for verdict in verdicts)
    return PartLooked((Fault("log_changed", len(changed), changed),) if changed else (), {"lines": lines})


def _meaning(patient: Patient) -> PartLooked:
    """Without a model there is nothing to look at, beyond vectors that it may have left."""
    with patient.reading() as reading:
        differing = differing_meanings(reading)
    own = Meaning(patient.home)
    faults = [Fault("meaning_damaged")] if own.is_installed and own.encoder() is None else []
    faults += [Fault("meaning_differs", differing)] if differing else []
    return PartLooked(tuple(faults), {"models": int(own.is_installed)})


def _make_meanings_anew(patient: Patient) -> None:
    assert patient.database is not None
    MeaningDesk(patient.database, patient.home).make_anew()


def _log_index(patient: Patient) -> PartLooked:
    if not log.segment_paths(patient.home / "activity"):
        return PartLooked()
    trouble = activity.trouble(patient.home / "activity.sqlite", patient.home / "activity")
    return PartLooked((Fault("log_index_damaged", places=(trouble,)),) if trouble else ())


def _derive_log_index(patient: Patient) -> None:
    """Set the damaged one aside: the next look derives it anew from the segments."""
    for path in patient.home.glob("activity.sqlite*"):
        if ".damaged-" not in path.name:
            path.rename(path.with_name(f"{path.name}.damaged-{iso(patient.now).replace(':', '')}"))


def _wal(patient: Patient) -> PartLooked:
    path = patient.home / "pdpp.sqlite-wal"
    size = path.stat().st_size if path.exists() else 0
    return PartLooked((Fault("wal_large", size >> 20),) if size > WAL_BYTES_MAX else (), {"wal_bytes": size})


def _fold_wal(patient: Patient) -> None:
    assert patient.database is not None
    patient.database.truncate_wal()


def _port(patient: Patient) -> PartLooked:
    """Nobody there, or our own server: both are well."""
    host, port = ANYWHERE.get(patient.settings.host, patient.settings.host), patient.settings.port
    place = f"{host}:{port}"
    connection = HTTPConnection(host, port, timeout=PORT_SECONDS)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        body, status = orjson.loads(answer.read(65_536)), answer.status
    except ConnectionRefusedError:
        return PartLooked((), {"port": port, "served": 0})
    except (OSError, HTTPException, orjson.JSONDecodeError):
        return PartLooked((Fault("port_taken", places=(place,)),))
    finally:
        connection.close()
    if not is_health(body):
        return PartLooked((Fault("port_taken", places=(place,)),))
    unwell = (Fault("server_unwell", places=(place,)),) if status != 200 else ()
    return PartLooked(unwell, {"port": port, "served": 1})


def _address(patient: Patient) -> PartLooked:
    """Asked as a client would ask it: first whether anybody is there, then what it says of itself."""
    public = patient.settings.public_url
    if public is None:
        return PartLooked()
    facts = {"public": public}
    parts = urlsplit(public)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        return PartLooked((Fault("address_plain", places=(public,)),), facts)
    try:
        _require_health(public)
    except PdppError as trouble:
        return PartLooked((Fault("address_silent", places=(trouble.message,)),), facts)
    try:
        discover(server_address(f"{public}{MCP}", plain_http=True))
    except PdppError as trouble:
        return PartLooked((Fault("address_other", places=(trouble.message,)),), facts)
    return PartLooked((), facts)


def _require_health(address: str) -> None:
    exchange = Exchange(f"{address}/healthz", "", BOUNDS, plain_http=True)
    try:
        exchange.answer()
    finally:
        exchange.close()


def _relative(patient: Patient, path: Path) -> str:
    return "." if path == patient.home else path.relative_to(patient.home).as_posix()


# A database that many share --------------------------------------------------------------------------------------


def _server(patient: Patient) -> PartLooked:
    """Whoever is refused here (too old, above row security, away) is told why by the refusal."""
    with closing(open_owners(patient.settings)) as owners:
        patient.health = health = owners.health()
    faults = [Fault("standby")] if health.is_standby else []
    return PartLooked(tuple(faults), {"version": health.version, "extensions": health.extensions or "none"})


def _role(patient: Patient) -> PartLooked:
    health = _known(patient)
    faults = [Fault("tables_of_others", health.tables_of_others)] if health.tables_of_others else []
    return PartLooked(tuple(faults), {"role": health.role, "tables": health.tables})


def _row_security(patient: Patient) -> PartLooked:
    open_ones = _known(patient).unguarded
    return PartLooked((Fault("unguarded", len(open_ones), open_ones),) if open_ones else ())


def _replicas(patient: Patient) -> PartLooked:
    health = _known(patient)
    faults = [Fault("replica_behind", health.bytes_behind >> 20)] if health.bytes_behind > BEHIND_BYTES_MAX else []
    facts = {"replicas": health.replicas, "seen": health.replicas_seen, "behind_bytes": health.bytes_behind}
    return PartLooked(tuple(faults), facts)


def _word_blocks(patient: Patient) -> PartLooked:
    health = _known(patient)
    is_bloated = health.words_dead > max(DEAD_ROWS_MIN, health.words_live)
    facts = {"live": health.words_live, "dead": health.words_dead, "words_bytes": health.words_bytes}
    return PartLooked((Fault("words_dead", health.words_dead),) if is_bloated else (), facts)


def _erased(patient: Patient) -> PartLooked:
    """What is left of erased rows, as far as the database itself knows."""
    health = _known(patient)
    archived = "is archived too, for as long as you keep it" if health.is_archived else "is not archived"
    return PartLooked((), {"dead": health.dead, "archived": archived, "slots": health.slots})


def _share(patient: Patient) -> PartLooked:
    """One owner's, by PDPP_OWNER where there are several."""
    patient.open()
    assert patient.database is not None
    with patient.reading() as reading:
        return PartLooked((), {"records": check.live_records(reading)})


def _wrapped_keys(patient: Patient) -> PartLooked:
    """Whether they can be opened here; the doctor makes none."""
    assert patient.database is not None
    keys = patient.database.keys
    return PartLooked((), {"keys": sum(keys.find(name) is not None for name in keys.names())})


def _shared_log(patient: Patient) -> PartLooked:
    assert patient.database is not None
    verdicts = patient.database.activity.verify()
    changed = tuple(verdict.segment for verdict in verdicts if not verdict.is_sound)
    lines = sum(verdict.lines for verdict in verdicts)
    return PartLooked((Fault("log_changed", len(changed), changed),) if changed else (), {"lines": lines})


def _known(patient: Patient) -> DatabaseHealth:
    if patient.health is None:
        raise ServerTrouble("The database was not reached.")
    return patient.health


INDEX_FAULTS = ("index_missing", "index_surplus", "index_differs")
WITHOUT_HOME = frozenset({"home", "port", "address"})
MEANING = DoctorPart("meaning", _meaning, {"meaning_differs": _make_meanings_anew}, needs_database=True)
PARTS = (
    DoctorPart("home", _home),
    DoctorPart("permissions", _permissions, {"open_to_others": _close_to_others}),
    DoctorPart("space", _space),
    DoctorPart("keys", _keys),
    DoctorPart("database", _database),
    DoctorPart("counts", _counts, {"streams_miscounted": _recount, "days_miscounted": _recount}, needs_database=True),
    MEANING,
    DoctorPart("index", _index, dict.fromkeys(("index_damaged", *INDEX_FAULTS), _rebuild), needs_database=True),
    DoctorPart("history", _history, needs_database=True),
    DoctorPart("blobs", _blobs, {"blob_stray": _remove_strays}, needs_database=True),
    DoctorPart("grants", _grants, needs_database=True),
    DoctorPart("clients", _clients, needs_database=True),
    DoctorPart("password", _password, needs_database=True),
    DoctorPart("log", _log),
    DoctorPart("log index", _log_index, {"log_index_damaged": _derive_log_index}),
    DoctorPart("wal", _wal, {"wal_large": _fold_wal}, needs_database=True),
    DoctorPart("port", _port),
    DoctorPart("address", _address),
)
SHARED_PARTS = (
    DoctorPart("server", _server),
    DoctorPart("role", _role),
    DoctorPart("row security", _row_security),
    DoctorPart("replicas", _replicas),
    DoctorPart("word blocks", _word_blocks),
    DoctorPart("erased", _erased),
    DoctorPart("share", _share),
    DoctorPart("keys", _wrapped_keys, needs_database=True),
    DoctorPart("counts", _counts, {"streams_miscounted": _recount, "days_miscounted": _recount}, needs_database=True),
    MEANING,
    DoctorPart("history", _history, needs_database=True),
    DoctorPart("blobs", _blobs, needs_database=True),
    DoctorPart("grants", _grants, needs_database=True),
    DoctorPart("clients", _clients, needs_database=True),
    DoctorPart("password", _password, needs_database=True),
    DoctorPart("log", _shared_log, needs_database=True),
    DoctorPart("port", _port),
    DoctorPart("address", _address),
)
