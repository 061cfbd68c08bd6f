-- The tables of the store, for many owners: the owner is the first part of every key, and named by the transaction.
-- Row security is the second wall: a statement that forgets the owner sees no other's rows. Texts sort by their bytes.

create function named_owner() returns bigint language sql stable
    as $$ select current_setting('pdpp.owner')::bigint $$;

-- The texts in a list that is given as JSON, under the name that SQLite has for it.
create function json_each(list text) returns table(value text) language sql immutable
    as $$ select jsonb_array_elements_text(list::jsonb) $$;

-- Numbers of connections, streams and fields count for each owner: a rid has room for a million streams.
create table counters(
    owner bigint not null default named_owner(),
    name text not null,
    last bigint not null,
    primary key(owner, name)
);
create function next_number(counted text) returns bigint language sql volatile as $$
    insert into counters(name, last) values(counted, 1)
    on conflict(owner, name) do update set last = counters.last + 1 returning last $$;

create table declarations(
    owner bigint not null default named_owner(),
    declaration bigint not null,
    source_id text not null,
    version text not null,
    document text not null,
    created_at text not null,
    primary key(owner, declaration),
    unique(owner, source_id, version)
);
create table connections(
    owner bigint not null default named_owner(),
    connection bigint not null default next_number('connections'),
    connection_id text not null,
    declaration bigint not null,
    connector_key text not null,
    display_name text,
    created_at text not null,
    updated_at text not null,
    primary key(owner, connection),
    unique(owner, connection_id)
);
create table layout(
    owner bigint primary key default named_owner(),
    generation bigint not null default 1
);
create table clock(
    owner bigint primary key default named_owner(),
    version bigint not null default 0
);
create table streams(
    owner bigint not null default named_owner(),
    sid bigint not null default next_number('streams'),
    connection bigint not null,
    name text not null,
    version bigint not null default 0,
    live bigint not null default 0,
    pruned bigint not null default 0,
    laid_out text,
    refreshed_on text,
    primary key(owner, sid),
    unique(owner, connection, name)
);
create table fields(
    owner bigint not null default named_owner(),
    fid bigint not null default next_number('fields'),
    sid bigint not null,
    name text not null,
    slot bigint,
    indexed bigint not null,
    type text not null default '',
    primary key(owner, fid),
    unique(owner, sid, name)
);
create table records(
    owner bigint not null default named_owner(),
    rid bigint not null,
    sid bigint not null,
    key text collate "C" not null,
    version bigint not null,
    revised bigint not null default 0,
    at bigint,
    emitted_at text not null,
    deleted_at text,
    data text,
    primary key(owner, rid),
    unique(owner, sid, key),
    unique(owner, sid, version)
);
create table history(
    owner bigint not null default named_owner(),
    sid bigint not null,
    key text collate "C" not null,
    version bigint not null,
    until bigint not null,
    at bigint,
    data text,
    live bigint not null default 1,
    emitted_at text,
    deleted_at text,
    primary key(owner, sid, key, version)
);
create index history_by_until on history(owner, until);
-- Values as bytes that sort as they should: engines/postgres/values.py.
create table field_values(
    owner bigint not null default named_owner(),
    fid bigint not null,
    value bytea not null,
    rid bigint not null,
    primary key(owner, fid, value, rid)
);
create table positions(
    owner bigint not null default named_owner(),
    fid bigint not null,
    value bytea not null,
    key text collate "C" not null,
    rid bigint not null,
    primary key(owner, fid, value, key)
);
-- Of each term, stream and day one block: which records hold it, in which columns, and where it stands there.
create table words(
    owner bigint not null default named_owner(),
    sid bigint not null,
    term text collate "C" not null,
    day bigint not null,
    places bytea not null,
    primary key(owner, sid, term, day)
);
create table days(
    owner bigint not null default named_owner(),
    sid bigint not null,
    day bigint not null,
    live bigint not null,
    primary key(owner, sid, day)
);
create table newest_changes(
    owner bigint not null default named_owner(),
    sid bigint not null,
    what text not null,
    shift bigint not null,
    place bigint not null,
    version bigint not null,
    emitted_at text not null,
    primary key(owner, sid, what, shift, place)
);
create table blob_refs(
    owner bigint not null default named_owner(),
    blob_id text not null,
    sid bigint not null,
    field text not null,
    rid bigint not null,
    primary key(owner, blob_id, sid, field, rid)
);
create table blob_bindings(
    owner bigint not null default named_owner(),
    blob_id text not null,
    sid bigint not null,
    key text not null,
    mime_type text not null,
    primary key(owner, blob_id, sid, key)
);
create table brought(
    owner bigint not null default named_owner(),
    sid bigint not null,
    key text collate "C" not null,
    collection bigint not null,
    first bigint not null,
    run bigint not null,
    primary key(owner, sid, key, collection)
);
create table removed(
    owner bigint not null default named_owner(),
    run bigint not null,
    sid bigint not null,
    key text collate "C" not null,
    data text not null,
    primary key(owner, run, sid, key)
);
create table removed_blobs(
    owner bigint not null default named_owner(),
    blob_id text not null,
    run bigint not null,
    sid bigint not null,
    key text collate "C" not null,
    mime_type text not null,
    primary key(owner, blob_id, run, sid, key)
);
create table grants(
    owner bigint not null default named_owner(),
    rowid bigint not null generated always as identity, -- the order in which they were given
    grant_id text not null,
    package_id text,
    client_id text not null,
    declaration bigint not null,
    issued_at text not null,
    expires_at text,
    revoked_at text,
    consumed_at text,
    document text not null,
    primary key(owner, grant_id)
);
create table tokens(
    owner bigint not null default named_owner(),
    digest bytea not null,
    kind text not null,
    grant_id text,
    package_id text,
    client_id text,
    issued_at text not null,
    expires_at text,
    revoked_at text,
    audience text,
    family bytea,
    primary key(owner, digest)
);
create table rejections(
    owner bigint not null default named_owner(),
    connection bigint not null,
    place text collate "C" not null,
    code text not null,
    reason text not null,
    at text not null,
    primary key(owner, connection, place)
);
create table connection_names(
    owner bigint not null default named_owner(),
    connection_id text not null,
    digest text not null,
    primary key(owner, connection_id)
);
create table removals(
    owner bigint not null default named_owner(),
    connection_id text not null,
    version bigint not null,
    primary key(owner, connection_id)
);

do $$
declare
    kept text;
begin
    for kept in select tablename from pg_tables where schemaname = current_schema() loop
        execute format('alter table %I enable row level security', kept);
        execute format('alter table %I force row level security', kept);
        execute format('create policy one_owner on %I using (owner = named_owner())', kept);
    end loop;
end $$;
