"""Whether the database still says one thing everywhere: its pages, its counts, its history, its grants."""

import re

import orjson

from pdpp_server.errors import PdppError
from pdpp_server.store.consent.grants import GrantShelf
from pdpp_server.store.engine import Reading

_INTEGRITY = "pragma integrity_check(20)"
_WORDS_INTEGRITY = "pragma integrity_check('words')"
_FOREIGN_KEYS = "select count(*) from pragma_foreign_key_check"
_WRONG_LIVE = """
select connection_id || '/' || name from streams join connections using(connection)
where live <> (select count(*) from records where records.sid = streams.sid and data is not null) order by 1
"""
_WRONG_DAYS = """
with told as (select sid, day, live from days where live <> 0),
     found as (select sid, (rid >> 26) & 131071, count(*) from records where data is not null group by 1, 2)
select (select count(*) from (select * from told except select * from found) surplus)
     + (select count(*) from (select * from found except select * from told) missing)
"""
_LIVE = "select count(*) from records where data is not null"
_HISTORY = """
select (select count(*) from history, clock where history.version >= until or until > clock.version)
     + (select count(*) from records join streams using(sid), clock
        where records.version > streams.version or streams.version > clock.version)
"""
_NOT_ERASED = """
select count(*) from history join records using(sid, key) where records.data is null and history.data is not null
"""
_GRANTS = "select grant_id from grants order by issued_at, grant_id"
_IDLE_TOKENS = """
select count(*) from tokens
where kind = 'client' and not exists(select 1 from grants where grants.grant_id = tokens.grant_id)
or kind = 'mcp_package' and not exists(select 1 from grants where grants.package_id = tokens.package_id)
"""

_HEADING = "*** in database"
_WORDS = re.compile(r"\bfts5\b.*\bwords\b", re.IGNORECASE)  # as SQLite says it


def damage(reading: Reading) -> list[str]:
    """What SQLite itself finds wrong with the database, but for the word index, which can be made anew."""
    lines = [line for (found,) in reading.rows(_INTEGRITY) for line in found.splitlines()]
    return [line for line in lines if line != "ok" and not line.startswith(_HEADING) and not _WORDS.search(line)]


def words_damage(reading: Reading) -> list[str]:
    return [found for (found,) in reading.rows(_WORDS_INTEGRITY) if found != "ok"]


def dangling_rows(reading: Reading) -> int:
    return reading.one(_FOREIGN_KEYS)


def miscounted_streams(reading: Reading) -> list[str]:
    return [name for (name,) in reading.rows(_WRONG_LIVE)]


def miscounted_days(reading: Reading) -> int:
    return reading.one(_WRONG_DAYS)


def live_records(reading: Reading) -> int:
    return reading.one(_LIVE)


def broken_history(reading: Reading) -> int:
    return reading.one(_HISTORY)


def unerased_versions(reading: Reading) -> int:
    """Of deleted records nothing may be left."""
    return reading.one(_NOT_ERASED)


def unreadable_grants(reading: Reading) -> list[str]:
    shelf = GrantShelf()
    return [id for (id,) in reading.rows(_GRANTS) if not _is_readable(reading, shelf, id)]


def idle_tokens(reading: Reading) -> int:
    """Tokens that stand for no grant."""
    return reading.one(_IDLE_TOKENS)


def _is_readable(reading: Reading, shelf: GrantShelf, grant_id: str) -> bool:
    try:
        shelf.get(reading, grant_id)
    except (PdppError, orjson.JSONDecodeError, TypeError):  # TypeError: its declaration is gone
        return False
    return True
