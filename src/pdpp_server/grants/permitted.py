"""The proof that a query was allowed. Only `grants.permit` builds one."""

from typing import Generic, NamedTuple, TypeVar

from pdpp_server.model.catalogue import Expandable, MissingConnection
from pdpp_server.model.grants import Holder
from pdpp_server.model.queries import Query
from pdpp_server.model.streams import Relationship, Stream

Q_co = TypeVar("Q_co", bound=Query, covariant=True)


class Scope(NamedTuple):
    """What may be touched of one stream: which connections, fields, time and records."""

    grant_id: str
    stream: Stream
    connections: tuple[str, ...]
    fields: frozenset[str]  # that may be shown
    since: int | None = None  # microseconds, inclusive; bounds the stream's consent time
    until: int | None = None  # microseconds, exclusive
    resources: frozenset[str] | None = None
    granted: frozenset[str] = frozenset()  # that may be asked by, also where fewer are to be shown

    @property
    def is_bounded(self) -> bool:
        """Whether some records of these connections are hidden."""
        return self.since is not None or self.until is not None or self.resources is not None


class Related(NamedTuple):
    """A permitted expansion: what may be touched of the related stream, and how many records of it a record gets."""

    relationship: Relationship
    scope: Scope
    limit: int


class Permitted(NamedTuple, Generic[Q_co]):
    query: Q_co
    scopes: tuple[Scope, ...]
    holder: Holder
    related: tuple[Related, ...] = ()
    expandable: tuple[tuple[Expandable, ...], ...] = ()  # of each scope, where abilities are asked for
    core_strict: bool = False  # whether clients have nothing beyond Core

    @property
    def missing(self) -> tuple[MissingConnection, ...]:
        """Connections that may be asked, and that the owner has removed since they were granted."""
        sources = {grant.grant_id: grant.source.connector_key for grant in self.holder.grants}
        gone: dict[tuple[str, str], None] = {}
        for scope in self.scopes:
            for name in scope.connections:
                if name not in self.holder.origins:
                    gone.setdefault((name, scope.grant_id))
        return tuple(MissingConnection(name, sources[grant_id], grant_id) for name, grant_id in gone)
