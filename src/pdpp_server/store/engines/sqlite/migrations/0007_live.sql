-- Sources that are asked again and again. `settings` holds no secret; `sealed` does, where the system has no keyring.
-- `state` is what the last good run learnt; `next_at` is when it is tried again.
create table live_sources(
    name text primary key,
    kind text not null,
    settings text not null,
    sealed blob,
    state text not null default '{}',
    tried_at text,
    succeeded_at text,
    next_at text,
    failures integer not null default 0,
    trouble text not null default '',
    said text not null default ''
) without rowid;

-- What each collection of such a source holds: its items there, and the records that each became here; one that became
-- none has the sid 0.
create table live_items(
    collection integer not null references collections,
    item text not null,
    sid integer not null,
    key text not null,
    primary key(collection, item, sid, key)
) without rowid;
create index live_items_by_key on live_items(collection, sid, key);
-- How far the reading of a collection has come, kept in the transaction that keeps what was read.
create table live_cursors(
    collection integer primary key references collections,
    cursor text not null
);
