"""What the owner's own tools may ask: sources, grants, activity."""

import secrets
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from pathlib import Path
from typing import Unpack

from pdpp_server.errors import ConnectionNotFound, NotFound
from pdpp_server.evidence.activity import PREVIEW_CLIENT, reader_names
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import local_day
from pdpp_server.grants.explain import explain
from pdpp_server.grants.issue import issue
from pdpp_server.model.activity import Asked, ClientDay, Day, Disclosure, Segment, Verdict
from pdpp_server.model.grants import SUBJECT, Grant, Holder
from pdpp_server.model.ingest import Finished, Rejection
from pdpp_server.model.queries import Query
from pdpp_server.model.records import RecordId, Version
from pdpp_server.model.runs import Run, Undone
from pdpp_server.model.selections import Selection
from pdpp_server.model.sources import Declaration, StoredSource
from pdpp_server.model.times import iso
from pdpp_server.owner import changes
from pdpp_server.owner.live import LiveSources
from pdpp_server.owner.writer import Writer
from pdpp_server.port.credentials import move_end
from pdpp_server.reads.services import CURSOR_KEY, Services
from pdpp_server.store.activity import ActivityAsked
from pdpp_server.store.consent import grants
from pdpp_server.store.consent.grants import GrantRow
from pdpp_server.store.consent.offers import declaration_of, eligible
from pdpp_server.store.consent.tokens import forget_ended, keep_token
from pdpp_server.store.engine import Write
from pdpp_server.store.files import written_whole
from pdpp_server.store.keeping import keep_for, kept_days, newest_root
from pdpp_server.store.layout import ConnectionPlace
from pdpp_server.store.records import imports, sources, undo
from pdpp_server.store.records.connection_ids import connection_id_of
from pdpp_server.store.records.ingest import desks
from pdpp_server.store.upkeep import history
from pdpp_server.store.upkeep.erasure import remove_connection

PREVIEW_SECONDS = 300

GrantEnds = str | Mapping[str, str | None] | None  # one for all grants, or one for each


@dataclass(frozen=True, slots=True)
class IssuedGrant:
    """A new grant, or a package of several, and the one token for it: it is shown here and never again."""

    grant_id: str
    token: str
    expires_at: str | None
    grants: tuple[Grant, ...]


class Owner:
    """The owner's desk on one home. Whoever can read the home's files is the owner."""

    def __init__(self, services: Services, home: Path) -> None:
        self._services, self._home = services, home

    @property
    def live(self) -> LiveSources:
        return LiveSources(self._services, self._home)

    # sources

    def writer(self, declaration: Declaration, name: str) -> Writer:
        return Writer(self._services, declaration, name)

    @contextmanager
    def trying(self, declaration: Declaration, name: str) -> Generator[Writer, None, None]:
        """The same for one try: where it ends badly before anything came, no empty connection is left of it."""
        writer = self.writer(declaration, name)
        try:
            yield writer
        except BaseException:
            writer.withdraw()
            raise

    def sources(self) -> list[StoredSource]:
        with self._services.database.reading() as reading:
            return sources.list_sources(reading)

    def declarations(self) -> dict[str, Declaration]:
        """By connection, what its source states of itself now."""
        with self._services.database.reading() as reading:
            places = reading.layout.connections.items()
            return {id: reading.layouts.declaration(reading, place.declaration) for id, place in places}

    def finished_import(self, declaration: Declaration, name: str, fingerprint: str) -> Finished | None:
        """How files of that fingerprint were read to their end for the connection of that name, if there is one."""
        with self._services.database.reading() as reading:
            connection_id = connection_id_of(reading, declaration.source, name, subject=SUBJECT)
            return imports.finished_import(reading, connection_id, fingerprint)

    def last_imports(self) -> dict[str, Finished]:
        """By connection, the latest export that was read to its end."""
        with self._services.database.reading() as reading:
            return imports.last_imports(reading)

    def removing_runs(self) -> list[Run]:
        """The imports that removed something which can still be brought back, newest first."""
        with self._services.database.reading() as reading:
            return undo.removing_runs(reading)

    def undo_import(self, run: int) -> Undone:
        """Things as they were before that run, but for what came after it.

        Raises:
            NotFound: there is no such run, or nothing of it can be brought back.
        """
        database = self._services.database
        with database.write(iso(self._services.now())) as write:
            found = undo.find_run(write, run)
            if found is None or not found.removed:
                raise NotFound(
                    f"Import {run} removed nothing that could be brought back.",
                    remedy="`pdpp import --undo` without a number shows those that did.",
                )
            place = write.layout.connections[found.connection_id]
            declaration = write.layouts.declaration(write, place.declaration)
            told = undo.undo(write, desks(declaration, place), run, write.now)
        self.live.read_folders_again()
        database.forget_erased()
        return Undone(found, told)

    def remove_source(self, connection_id: str) -> None:
        """Everything that came by that connection, for good. Grants that name it stay, and show what is left to them.

        Raises:
            ConnectionNotFound: there is none of that id.
        """
        database = self._services.database
        with database.write(iso(self._services.now())) as write:
            remove_connection(write, _place(write, connection_id))
        database.forget_erased()
        self._services.forget_asked(connection_id)

    def rename_source(self, connection_id: str, name: str) -> None:
        """The label that answers show; what is imported under the old name still comes here."""
        with self._services.database.write(iso(self._services.now())) as write:
            sources.rename(write, _place(write, connection_id).number, name)

    def rejections(self, connection_id: str) -> list[Rejection]:
        with self._services.database.reading() as reading:
            return sources.list_rejections(reading, connection_id)

    def versions(self, id: RecordId) -> list[Version]:
        """What is known of when a record changed, newest first; nothing of what it held."""
        with self._services.database.reading() as reading:
            place = reading.layout.place(id.connection_id, id.stream)
            return [] if place is None else history.versions(reading, place.sid, id.key)

    # grants

    def create_grant(self, selections: Iterable[Selection], client_name: str, expires_at: str | None) -> IssuedGrant:
        """One grant for each selection. Several make a package: one token that stands for all of them."""
        now = iso(self._services.now())
        client_id = f"cli_{secrets.token_hex(8)}"
        with self._services.database.reading() as reading:
            issued = [
                issue(
                    selection,
                    declaration := declaration_of(reading, selection.source_id),
                    eligible=eligible(reading, declaration),
                    grant_id=f"grt_{secrets.token_hex(8)}",
                    issued_at=now,
                    subject=SUBJECT,
                    client_id=client_id,
                    client_name=client_name,
                    expires_at=expires_at,
                )
                for selection in selections
            ]
        package_id = f"gpkg_{secrets.token_hex(8)}" if len(issued) > 1 else None
        token = secrets.token_hex(32)
        with self._services.database.writing() as writer:
            for grant in issued:
                grants.keep_grant(writer, grant, package_id)
            keep_token(
                writer,
                token,
                kind="mcp_package" if package_id else "client",
                now=now,
                expires_at=expires_at,
                client_id=client_id,
                grant_id=None if package_id else issued[0].grant_id,
                package_id=package_id,
            )
        return IssuedGrant(package_id or issued[0].grant_id, token, expires_at, tuple(issued))

    def grants(self) -> list[GrantRow]:
        with self._services.database.reading() as reading:
            return grants.list_grants(reading, self._services.shelf)

    def reader_names(self) -> dict[str, str]:
        """Client id to what the owner calls that reader; a name of the owner's own goes before what it calls itself."""
        rows = sorted(self.grants(), key=lambda row: row.called is not None)
        return reader_names((row.grant.client_id, row.name) for row in rows)

    def grant(self, grant_id: str) -> list[GrantRow]:
        """The grant of that id or what took its place; or all grants of that package."""
        found = [row for row in self.grants() if row.successor is None and _is_meant(row, grant_id)]
        if not found:
            raise NotFound(f"There is no grant {grant_id!r}.", remedy="`pdpp grants list` shows them.")
        return found

    def revoke(self, grant_id: str) -> list[GrantRow]:
        """Effective for the very next read, in every process. Revoking again changes nothing."""
        rows = self.grant(grant_id)
        with self._services.database.writing() as writer:
            for row in rows:
                grants.revoke(writer, row.grant.grant_id, iso(self._services.now()))
        return self.grant(grant_id)

    def change_grant(
        self, grant_id: str, ends: GrantEnds, kept: Mapping[str, Selection] | None = None
    ) -> list[GrantRow]:
        """Other ends, and of each grant in `kept` what stays; the others end. Without `kept` only the ends change.

        Raises:
            ApprovalConflict: it has ended, or was changed meanwhile.
            InvalidRequest: it is more than was granted, or a time that is over; also as InvalidAuthorizationDetails.
        """
        rows = self._living(grant_id)
        end = changes.change(self._services, rows, kept, _each(ends, rows))
        known = {id for row in rows for id in (row.package_id, row.grant.grant_id, *_before(row)) if id}
        move_end(str(self._home), known, end)
        return self.grant(grant_id)

    def changed_grants(self, grant_id: str, ends: GrantEnds, kept: Mapping[str, Selection]) -> tuple[Grant, ...]:
        """What `change_grant` would make of them; nothing is kept."""
        rows = self._living(grant_id)
        return tuple(changes.successors(self._services, rows, kept, _each(ends, rows)).values())

    def note_grant(self, grant_id: str, called: str, note: str) -> None:
        """What the owner calls it, and a note; both are shown to nobody else."""
        changes.note(self._services, self.grant(grant_id), called, note)

    def _living(self, grant_id: str) -> list[GrantRow]:
        """Of a package whose grants ended one by one, those that are alive."""
        rows, now = self.grant(grant_id), iso(self._services.now())
        return [row for row in rows if row.word(now) == "active"] or rows

    def explain(self, grant_id: str, query: Query) -> list[str]:
        rows = self.grant(grant_id)
        with self._services.database.reading() as reading:
            held = tuple(row.grant for row in rows)
            kind = "mcp_package" if len(held) > 1 else "client"
            holder = Holder(kind, rows[0].grant.client_id, held, reading.layout.origins)
        now = iso(self._services.now())
        ended = [
            say("Grant {grant_id} is {state}.", grant_id=row.grant.grant_id, state=state)
            for row in rows
            if (state := row.state.word(now)) != "active"
        ]
        return ended + explain(holder, query)

    def preview_token(self, grant_id: str) -> str:
        """A token of five minutes, to read as that grant's client would. The log names the preview as its reader."""
        rows = self.grant(grant_id)
        package_id = rows[0].package_id if grant_id == rows[0].package_id else None
        now = self._services.now()
        token = secrets.token_hex(32)
        with self._services.database.writing() as writer:
            forget_ended(writer, PREVIEW_CLIENT, iso(now))
            keep_token(
                writer,
                token,
                kind="mcp_package" if package_id else "client",
                now=iso(now),
                expires_at=iso(now + timedelta(seconds=PREVIEW_SECONDS)),
                client_id=PREVIEW_CLIENT,
                grant_id=None if package_id else rows[0].grant.grant_id,
                package_id=package_id,
            )
        return token

    def owner_token(self, days: int) -> tuple[str, str]:
        """A token for the owner's own tools, and when it ends."""
        now = self._services.now()
        token, expires_at = secrets.token_hex(32), iso(now + timedelta(days=days))
        with self._services.database.writing() as writer:
            keep_token(writer, token, kind="owner", now=iso(now), expires_at=expires_at)
        return token, expires_at

    def rotate_cursor_key(self) -> None:
        """Every cursor and bookmark that was given out is refused from now on, by whoever opens this home anew."""
        self._services.database.keys.renew(CURSOR_KEY)

    # activity

    def activity(self, *, limit: int = 50, **asked: Unpack[ActivityAsked]) -> list[Disclosure]:
        """What was disclosed, newest first."""
        return self._services.database.activity.recent(**asked, limit=limit)

    def activity_of(
        self, grant_id: str | None, /, *, limit: int = 50, **asked: Unpack[ActivityAsked]
    ) -> list[Disclosure]:
        """The same, under a grant or any grant of a package; each once."""
        if grant_id is None:
            return self.activity(**asked, limit=limit)
        found = {
            (disclosure.at, disclosure.request_id, disclosure.operation): disclosure
            for row in self.grant(grant_id)
            for grant in (row.grant, *row.earlier)
            for disclosure in self.activity(**{**asked, "grant_id": grant.grant_id}, limit=limit)
        }
        return [found[key] for key in sorted(found, reverse=True)][:limit]

    @property
    def keeps_asked(self) -> bool:
        """Whether the words of questions are kept."""
        return self._services.asked is not None and self._services.asked.is_kept

    def asked(self, found: Iterable[Disclosure]) -> dict[str, Asked]:
        """What was asked in words, by request, as far as it is kept."""
        words = self._services.asked
        return words.find([disclosure.request_id for disclosure in found]) if words else {}

    def activity_by_client(self, since: str, zone: tzinfo) -> list[ClientDay]:
        """How much each client read each day of that zone, newest day first."""
        read: dict[tuple[str, str], ClientDay] = {}
        for each in self._services.database.activity.per_client_quarter(since):
            day = local_day(each.at, zone)
            sofar = read.get((day, each.client_id), ClientDay(day, each.client_id, 0, 0))
            read[day, each.client_id] = ClientDay(
                day, each.client_id, sofar.disclosures + each.disclosures, sofar.records + each.records
            )
        return sorted(sorted(read.values(), key=lambda each: each.client_id), key=lambda each: each.day, reverse=True)

    def first_reads(self) -> dict[str, str]:
        """When each client read for the first time."""
        return self._services.database.activity.first_reads()

    def activity_days(self, grant_id: str | None = None) -> list[Day]:
        """How much was disclosed each day, newest day first."""
        return self._services.database.activity.per_day(grant_id)

    def verify_activity(self, root: Segment | None = None) -> list[Verdict]:
        """Whether any line of the log was changed or taken away since it was written, or since `root` was seen."""
        return self._services.database.activity.verify([root] if root else [])

    def activity_root(self) -> Segment | None:
        """What stands for every line up to the last day that is closed."""
        return newest_root(self._services.database.activity)

    @property
    def activity_kept_days(self) -> int | None:
        """How long the log is kept; None for ever."""
        return kept_days(self._services.database.activity)

    def keep_activity(self, days: int | None) -> int:
        """So long from now on; how many lines were older, and went."""
        return keep_for(self._services.database, days, iso(self._services.now()))

    def export_activity(self, folder: Path) -> int:
        """The log as it was written, a file for each segment; how many there are."""
        with self._services.database.activity.segments() as segments:
            for id, lines in segments.items():
                with written_whole(folder / f"{id}.jsonl") as file:
                    file.writelines(line.raw for line in lines() if line.is_whole)
            return len(segments)


def _is_meant(row: GrantRow, grant_id: str) -> bool:
    return grant_id in {row.package_id, row.grant.grant_id, *_before(row)}


def _each(ends: GrantEnds, rows: list[GrantRow]) -> Mapping[str, str | None]:
    return ends if isinstance(ends, Mapping) else {row.grant.grant_id: ends for row in rows}


def _before(row: GrantRow) -> list[str]:
    return [grant.grant_id for grant in row.earlier]


def _place(write: Write, connection_id: str) -> ConnectionPlace:
    place = write.layout.connections.get(connection_id)
    if place is None:
        raise ConnectionNotFound(f"There is no connection {connection_id!r}.", remedy="`pdpp sources` shows them.")
    return place
