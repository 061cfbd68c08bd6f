"""What is over is forgotten: what nobody can use any more, and clients to whom nothing was given."""

from datetime import datetime, timedelta

from pdpp_server.model.times import iso
from pdpp_server.store.engine import Writing

KEPT_HOURS = 1  # after its end: so long it can still be said that it has ended
IDLE_DAYS = 7  # a client to whom nothing was given can register anew
STRANGERS_MAX = 2000  # such clients: the newest stay
ALL = 1 << 62  # without a limit no statement of SQLite takes an offset

_STATEMENTS = (
    # Nobody can ever use a grant whose code was not redeemed.
    """
    update grants set revoked_at = :now where revoked_at is null and (
        grant_id in (select grant_id from codes where family is null and expires_at < :before)
        or package_id in (select package_id from codes where family is null and expires_at < :before))
    """,
    "delete from asks where expires_at < :before",
    "delete from codes where expires_at < :before",
    "delete from tokens where family is not null and expires_at < :before",
    "delete from families where expires_at < :before",
    """
    delete from clients where created_at < :idle_since and client_id not in (select client_id from grants)
    and client_id not in (select client_id from asks)
    """,
    """
    delete from clients where client_id in (
        select client_id from clients
        where client_id not in (select client_id from grants) and client_id not in (select client_id from asks)
        order by created_at desc, client_id limit :all offset :most)
    """,
)


def forget(writer: Writing, now: datetime) -> None:
    """Called whenever something new is kept, so that nothing grows by being asked."""
    bounds = {
        "most": STRANGERS_MAX,
        "all": ALL,
        "now": iso(now),
        "before": iso(now - timedelta(hours=KEPT_HOURS)),
        "idle_since": iso(now - timedelta(days=IDLE_DAYS)),
    }
    for statement in _STATEMENTS:
        writer.run(statement, {name: bounds[name] for name in bounds if f":{name}" in statement})
