"""What a PostgreSQL server says of itself, as far as our role may ask."""

from pdpp_server.model.health import DatabaseHealth
from pdpp_server.store.session import Session

_SERVER = """
select current_setting('server_version'), current_user, pg_is_in_recovery(),
    (select coalesce(string_agg(extname, ', ' order by extname), '') from pg_extension where extname <> 'plpgsql'),
    current_setting('archive_mode') <> 'off'
"""
_OURS = """
select count(*), count(*) filter (where pg_get_userbyid(c.relowner) <> current_user) from pg_class c
where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
"""
_UNGUARDED = """
select c.relname from pg_class c
where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
and exists(select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'owner' and not a.attisdropped)
and not (c.relrowsecurity and c.relforcerowsecurity and exists(select 1 from pg_policy p where p.polrelid = c.oid))
order by 1
"""
_REPLICAS = """
select count(*), count(replay_lsn),
    cast(coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)), 0) as bigint) from pg_stat_replication
"""
_SLOTS = "select count(*) from pg_replication_slots"
_WORDS = """
select cast(coalesce(sum(n_live_tup), 0) as bigint), cast(coalesce(sum(n_dead_tup), 0) as bigint),
    cast(coalesce(sum(pg_total_relation_size(relid)), 0) as bigint)
from pg_stat_user_tables where schemaname = current_schema() and (relname = 'words' or relname like 'words\\_%')
"""
_DEAD = """
select cast(coalesce(sum(n_dead_tup), 0) as bigint) from pg_stat_user_tables where schemaname = current_schema()
"""


def health_of(session: Session) -> DatabaseHealth:
    version, role, is_standby, extensions, is_archived = session.one(_SERVER)
    tables, of_others = session.one(_OURS)
    replicas, seen, behind = (0, 0, 0) if is_standby else session.one(_REPLICAS)
    live, dead, size = session.one(_WORDS)
    return DatabaseHealth(
        version=version,
        role=role,
        extensions=extensions,
        is_standby=is_standby,
        is_archived=is_archived,
        tables=tables,
        tables_of_others=of_others,
        unguarded=tuple(name for (name,) in session.rows(_UNGUARDED)),
        replicas=replicas,
        replicas_seen=seen,
        bytes_behind=behind,
        slots=session.one(_SLOTS),
        words_live=live,
        words_dead=dead,
        words_bytes=size,
        dead=session.one(_DEAD),
    )
