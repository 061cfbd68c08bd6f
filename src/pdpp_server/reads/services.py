"""What a read needs, built once at start-up."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property, partial
from operator import sub
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar, cast

from pdpp_server.errors import DisclosureLogUnavailable, GrantInvalid, PdppError
from pdpp_server.evidence.activity import PREVIEW_CLIENT, is_own
from pdpp_server.grants.lifecycle import ends_at, live_grants
from pdpp_server.grants.permit import permit
from pdpp_server.grants.permitted import Permitted
from pdpp_server.meaning.loading import Meaning
from pdpp_server.model.activity import NOTHING, Shown, together
from pdpp_server.model.grants import Grant, Holder, TokenKind
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import FetchQuery, Query, WindowQuery
from pdpp_server.model.times import iso
from pdpp_server.reads.asked import AskedWords, can_say
from pdpp_server.reads.bearers import (
    REST_AUDIENCE,
    REST_KINDS,
    require_audience,
    require_kind,
    require_live,
    row_of,
)
from pdpp_server.reads.disclosure import disclosure
from pdpp_server.store.activity import Log
from pdpp_server.store.consent.grants import GrantShelf, described_now, kept_declaration, owners_grants
from pdpp_server.store.consent.tokens import AUDIENCE, KIND, asking_for_token, token_row
from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Database, Reading
from pdpp_server.store.layout import Layout
from pdpp_server.store.opened import open_database
from pdpp_server.store.records.by_key import asking_ahead
from pdpp_server.store.session import Statement
from pdpp_server.store.tries import Ledger
from pdpp_server.wire.cursors import Seal
from pdpp_server.wire.grants import decode_grant
from pdpp_server.wire.introspection import Rights, mismatch


class Call(NamedTuple):
    """Who asks, under which request id, at which door, and which kinds of token are heard there.

    The owner reads grants under review as their client would, before anybody has a token for them.
    """

    bearer: str | None
    request_id: str
    kinds: frozenset[TokenKind] = REST_KINDS
    audience: str = REST_AUDIENCE
    reviewed: tuple[Grant, ...] = ()
    told: Rights | None = None  # of the token, by an authorization server elsewhere, for this request
    digest: bytes | None = None  # of the bearer, where whoever asks has it from before


CURSOR_KEY, LOG_KEY = "cursors.key", "activity.key"
KNOWN_MAX = 10_000  # holders in memory: a client can have as many tokens as it likes
STAGES = ("token", "permit", "read")  # and then "log", at whichever door the answer leaves by
WatchStages = Callable[[str, str, dict[str, float]], None]  # request id, operation, seconds by stage
Introspect = Callable[[str, str], Rights]  # a token and a door -> what may be read there with it
NamedRecord = FetchQuery | WindowQuery
Q = TypeVar("Q", bound=Query)
V = TypeVar("V")


@dataclass
class Services:
    database: Database
    log: Log
    now: Callable[[], datetime]
    asked: AskedWords | None = None
    watch: WatchStages | None = None
    core_strict: bool = False
    change_history_limit: int = 0
    introspect: Introspect | None = None  # where tokens are those of an authorization server elsewhere
    meaning: Meaning | None = None  # the model of this home, where it has one
    shelf: GrantShelf = field(default_factory=GrantShelf)
    known: "dict[bytes, _Known]" = field(default_factory=dict)
    is_one_of_many: bool = False  # whether other processes serve the same

    def ledger(self, name: str) -> "Callable[[], AbstractContextManager[Ledger]] | None":
        """Where tries are counted; None where this process counts for itself."""
        return partial(self.database.tries.open, name) if self.is_one_of_many else None

    @property
    def waits(self) -> bool:
        """Whether a read waits for others: a database in another process, or an authorization server."""
        return self.introspect is not None or self.database.is_elsewhere

    @cached_property
    def seal(self) -> Seal:
        return Seal(self.database.keys.kept(CURSOR_KEY))

    @cached_property
    def log_key(self) -> bytes:
        return self.database.keys.kept(LOG_KEY)

    def can_log(self) -> bool:
        """Whether a line could be kept now: each needs a key, which may not be for this process to open."""
        try:
            self.database.keys.find(LOG_KEY)
        except (DisclosureLogUnavailable, OSError):
            return False
        return self.log.can_append()

    def reading(self, call: Call, operation: str, named: NamedRecord | None = None) -> "Read":
        """`named` is what a read of one record will ask for, which may be said ahead."""
        return Read(self, call, operation, named)

    def admit(self, call: Call) -> Holder:
        """The token of the call is heard at its door, and a grant of it is alive. Nothing is read with it."""
        read = Read(self, call, "admit").__enter__()
        read.store.__exit__(None, None, None)
        return read.holder

    def remembers(self, digest: bytes | None) -> bool:
        """Whether the token was good before. Whether it still is, the next read tells, in its own snapshot."""
        return digest in self.known

    def introspected(self, call: Call) -> Rights | None:
        """What an authorization server elsewhere says of the token. The owner's own tokens are of this home, always."""
        if self.introspect is None or call.told or call.reviewed or not call.bearer:
            return call.told
        with self.database.reading() as reading:
            row = token_row(reading, call.digest or token_digest(call.bearer))
        if row is not None and row[KIND] == "owner":
            return None
        return self.introspect(call.bearer, call.audience)

    def forget_asked(self, connection_id: str) -> None:
        """The words of questions that could have been answered from there: they may repeat what was erased."""
        if self.asked:
            self.asked.forget(connection_id)

    def close(self) -> None:
        self.database.close()
        self.log.close()
        if self.asked:
            self.asked.close()


class _Known(NamedTuple):
    """A holder settled before: it stands while its row and the layout are the same, and until it ends."""

    row: tuple[Any, ...]
    layout: Layout
    ends: str
    holder: Holder


class Read:
    """One read, in one snapshot: who asks is settled on entering, and what was read is still pending on leaving."""

    def __init__(self, services: Services, call: Call, operation: str, named: NamedRecord | None = None) -> None:
        self._services, self._call, self._operation, self._named = services, call, operation, named
        self._now = iso(services.now())
        self._foreseen: Permitted[NamedRecord] | None = None  # what is permitted, if the token means what it meant
        self._marks = [perf_counter()]  # then when each of STAGES ended

    def __enter__(self) -> "Read":
        told = self._services.introspected(self._call) if self._services.introspect else None
        database = self._services.database
        who, record = self._asked_ahead() if database.is_elsewhere else ((), ())
        self.store: Reading = database.reading(*who, *record, is_all=bool(record)).__enter__()
        try:
            self.holder = self._settle() if told is None else self._settle_told(told)
        except BaseException as error:
            if isinstance(error, PdppError):
                error.is_of_token = True
            self.store.__exit__(type(error), error, None)
            raise
        self._marks.append(perf_counter())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if watch := self._services.watch:
            self._marks.append(perf_counter())
            spent = map(sub, self._marks[1:], self._marks)
            watch(self._call.request_id, self._operation, dict(zip(STAGES, spent, strict=False)))
        self.store.__exit__(kind, error, trace)

    @property
    def seal(self) -> Seal:
        return self._services.seal

    @property
    def today(self) -> date:
        """The day of the request, in UTC."""
        return date.fromisoformat(self._now[:10])

    def permit(self, query: Q) -> Permitted[Q]:
        foreseen = self._foreseen
        if foreseen is not None and foreseen.holder is self.holder and foreseen.query is query:
            permitted = cast("Permitted[Q]", foreseen)
        else:
            permitted = permit(self.holder, query, core_strict=self._services.core_strict)
        self._marks.append(perf_counter())
        return permitted

    def pending(self, permitted: Permitted[Any], value: V, about: Shown = NOTHING) -> Pending[V]:
        """What was read, to leave with its line; `about` is told by it whatever of it is shown; by headers no field."""

        settle = partial(self._settle_line, permitted)
        if about is NOTHING:  # as of most reads
            return Pending(value, self._call.request_id, settle)

        def settle_all(shown: Shown, size: int) -> None:
            settle(together(about if size else about.without_fields(), shown), size)

        return Pending(value, self._call.request_id, settle_all)

    def _settle_line(self, permitted: Permitted[Any], shown: Shown, size: int) -> None:
        """Write the line without which nothing may leave.

        Raises:
            DisclosureLogUnavailable: nothing may leave.
        """
        call, services, started = self._call, self._services, perf_counter()
        try:
            key = services.log_key
            services.log.append(disclosure(permitted, shown, size, self._operation, call.request_id, self._now, key))
        except PdppError as refusal:
            refusal.request_id = call.request_id
            raise
        query: Query = permitted.query
        if can_say(type(query)) and services.asked and not is_own(self.holder.kind, self.holder.client_id):
            services.asked.keep(permitted, call.request_id, self._operation, self._now)
        if watch := services.watch:
            watch(call.request_id, self._operation, {"log": perf_counter() - started})

    def _asked_ahead(self) -> tuple[Sequence[Statement], Sequence[Statement]]:
        """What settles who asks; and the record that it named, where it is known already who that was. Then that is
        nearly always all."""
        bearer = self._call.bearer
        if not bearer or self._call.reviewed:
            return (), ()
        digest = self._call.digest or token_digest(bearer)
        return [asking_for_token(digest)], self._record_ahead(self._services.known.get(digest))

    def _record_ahead(self, known: "_Known | None") -> list[Statement]:
        """Only what was permitted when the token was heard last; whether it still is, is settled before it is looked
        at. A record that is none of the client's business is not read, so that no time tells of it."""
        if known is None or self._named is None:
            return []
        try:
            self._foreseen = permit(known.holder, self._named, core_strict=self._services.core_strict)
        except PdppError:  # it is refused in its place
            return []
        return asking_ahead(known.layout, self._foreseen)

    def _settle(self) -> Holder:
        """Who asks. The token's row is read every time, so that a revocation counts from the next read on."""
        call, store, services = self._call, self.store, self._services
        if call.reviewed:
            return Holder("client", PREVIEW_CLIENT, call.reviewed, store.layout.origins)
        digest, row = row_of(store, call.bearer, call.digest)
        known = services.known.get(digest)
        if known and known.row == row and known.layout is store.layout and self._now < known.ends:
            require_kind(known.holder.kind, call.kinds)
            require_audience(row[AUDIENCE], call.audience)
            return known.holder
        return self._settle_anew(digest, row)

    def _settle_told(self, told: Rights) -> Holder:
        """By the declaration that the owner consented to, as this home has it; by another the rights mean nothing."""
        require_kind("client", self._call.kinds)
        declaration = kept_declaration(self.store, told.source_id, told.declaration_version)
        if declaration is None:
            raise mismatch("source_mismatch")
        try:
            grant = described_now(self.store, decode_grant(told.document, declaration))
        except GrantInvalid:
            raise mismatch("rights_missing") from None
        return Holder("client", grant.client_id, (grant,), self.store.layout.origins)

    def _settle_anew(self, digest: bytes, row: tuple[Any, ...]) -> Holder:
        store, services = self.store, self._services
        token, grants = require_live(store, row, self._call.kinds, self._now)
        require_audience(token.audience, self._call.audience)
        live = live_grants(token, grants, self._now)
        shelf = services.shelf
        held = (
            owners_grants(store)
            if token.kind == "owner"
            else [shelf.described(store, grant.grant_id) for grant in live]
        )
        holder = Holder(token.kind, token.client_id, tuple(held), store.layout.origins, token.package_id)
        if token.package_id is None:  # the row of a package does not tell of its grants
            if len(services.known) >= KNOWN_MAX:
                services.known.clear()
            services.known[digest] = _Known(row, store.layout, ends_at(token, live), holder)
        return holder


def open_services(
    home: Path,
    *,
    now: Callable[[], datetime],
    change_history_limit: int = 0,
    keep_asked: bool = True,
    database: Database | None = None,
    is_one_of_many: bool = False,
) -> Services:
    """Everything a read needs, on one home; with its own database unless another is given."""
    kept = database or open_database(home)
    return Services(
        kept,
        kept.log,
        now,
        AskedWords(kept.asked, kept.keys, is_kept=keep_asked),
        change_history_limit=change_history_limit,
        meaning=Meaning(home),
        is_one_of_many=is_one_of_many or kept.is_elsewhere,
    )
