-- One clock for every change of every stream, so that one number says how far a reader of several streams has come.
create table clock(version integer not null);
insert into clock select coalesce(max(version), 0) from streams;

-- What a change feed needs of versions that are gone: `pruned` is the newest version whose predecessor was dropped.
alter table streams add column pruned integer not null default 0;
alter table history add column live integer not null default 1; -- 0: the record was deleted in that version
update history set live = 0 where data is null;
create index history_by_until on history(until);

-- The cursor field of each stream (fields.indexed = 2), in the order of a page; a record without a value has x'' there,
-- which sorts behind every number and text.
create table positions(
    fid integer not null,
    value not null,
    key text not null,
    rid integer not null,
    primary key(fid, value, key)
) without rowid;

update fields set indexed = 2 where indexed = 1 and fid in (
    select fid from fields
    join streams using(sid) join connections using(connection) join declarations using(declaration),
    json_each(declarations.document, '$.streams') declared
    where declared.value ->> '$.name' = streams.name and declared.value ->> '$.cursor_field' = fields.name);
create table positioned(fid integer, rid integer, primary key(fid, rid)) without rowid;
insert into positioned select fid, rid from field_values join fields using(fid) where fields.indexed = 2;
insert into positions
    select fid, value, key, rid from field_values join fields using(fid) join records using(rid)
    where fields.indexed = 2;
insert into positions
    select fid, x'', key, rid from fields join records using(sid)
    where fields.indexed = 2 and records.data is not null
    and not exists(select 1 from positioned p where p.fid = fields.fid and p.rid = records.rid);
drop table positioned;
delete from field_values where fid in (select fid from fields where indexed = 2);

-- How many records a stream has of each day (as in a rid): what counts by month add up.
create table days(
    sid integer not null,
    day integer not null,
    live integer not null,
    primary key(sid, day)
) without rowid;
insert into days select sid, (rid >> 26) & 131071, count(*) from records where data is not null group by 1, 2;

-- Blobs lie in files named by their digest. `blob_refs`: which field of which record refers to which blob;
-- `blob_bindings`: for which record it was delivered. A blob that nothing binds or refers to is erased.
create table blobs(
    blob_id text primary key,
    sha256 text not null,
    size integer not null,
    mime_type text not null,
    created_at text not null
) without rowid;
create table blob_refs(
    blob_id text not null,
    sid integer not null,
    field text not null,
    rid integer not null,
    primary key(blob_id, sid, field, rid)
) without rowid;
create index blob_refs_by_rid on blob_refs(rid);
create table blob_bindings(
    blob_id text not null references blobs,
    sid integer not null,
    key text not null,
    primary key(blob_id, sid, key)
) without rowid;
create index blob_bindings_by_key on blob_bindings(sid, key);

-- How far the owner's own collectors have come; '' is the state that belongs to no grant.
create table sync_state(
    connection integer not null references connections,
    grant_id text not null default '',
    stream text not null,
    cursor text not null,
    updated_at text not null,
    primary key(connection, grant_id, stream)
) without rowid;

update layout set generation = generation + 1;
