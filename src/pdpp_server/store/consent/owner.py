"""The owner's password, and who is signed in by it. Secrets are kept as digests only."""

from pdpp_server.store.digests import token_digest
from pdpp_server.store.engine import Writing
from pdpp_server.store.session import Session

SESSIONS_MAX = 50  # browsers of one person; the ones left alone longest are signed out

_PASSWORD = "select phc from owner_password"
_FORGET_PASSWORD = "delete from owner_password"
_SET_FIRST = """
insert into owner_password(phc, changed_at) select :phc, :now where not exists(select 1 from owner_password)
returning 1
"""
_INVITATION = "select 1 from invitations where digest = ? and expires_at > ?"  # where there are many owners
_TAKE_INVITATION = "delete from invitations where digest = ? and expires_at > ? returning 1"
_END_ALL = "delete from sessions"
_NEW = "insert into sessions(digest, created_at, seen_at) values(:digest, :now, :now)"
_FORGET = """
delete from sessions where created_at <= :oldest or seen_at <= :idle or digest not in (
    select digest from sessions order by seen_at desc limit :kept)
"""
_SEEN = "select seen_at from sessions where digest = :digest and created_at > :oldest and seen_at > :idle"
_TOUCH = "update sessions set seen_at = :now where digest = :digest"
_END = "delete from sessions where digest = ?"


def password(reader: Session) -> str | None:
    return reader.one(_PASSWORD)


def set_password(writer: Writing, phc: str, now: str) -> None:
    """Whoever was signed in by the old one no longer is."""
    writer.run(_FORGET_PASSWORD)
    set_first_password(writer, phc, now)
    writer.run(_END_ALL)


def set_first_password(writer: Writing, phc: str, now: str) -> bool:
    """Whether this is the first one: of many that come at once, one is."""
    return writer.one(_SET_FIRST, {"phc": phc, "now": now}) is not None


def take_invitation(writer: Writing, secret: str, now: str) -> bool:
    """Whether it was good; it is no longer."""
    return writer.one(_TAKE_INVITATION, (token_digest(secret), now)) is not None


def is_invitation(reader: Session, secret: str, now: str) -> bool:
    return reader.one(_INVITATION, (token_digest(secret), now)) is not None


def begin_session(writer: Writing, secret: str, now: str, *, oldest: str, idle: str) -> None:
    writer.run(_NEW, {"digest": token_digest(secret), "now": now})
    writer.run(_FORGET, {"oldest": oldest, "idle": idle, "kept": SESSIONS_MAX})


def session_seen(reader: Session, secret: str, *, oldest: str, idle: str) -> str | None:
    """When that session was last used; None where there is none, or none any more."""
    return reader.one(_SEEN, {"digest": token_digest(secret), "oldest": oldest, "idle": idle})


def touch_session(writer: Writing, secret: str, now: str) -> None:
    writer.run(_TOUCH, {"digest": token_digest(secret), "now": now})


def end_session(writer: Writing, secret: str) -> None:
    writer.run(_END, (token_digest(secret),))
