-- One clock for every change of every stream, so that one number says how far a reader of several streams has come.
create table clock(version integer not null);
insert into clock select coalesce(sum(version), 0) from streams;

-- Each stream counted for itself: the second now counts on from where the first ends. By way of negative numbers, so that
-- no two versions are the same in between.
create table shifts(sid integer primary key, by integer not null);
insert into shifts
    select sid, (select coalesce(sum(version), 0) from streams before where before.sid < streams.sid) from streams;
update records set version = -version - (select by from shifts where shifts.sid = records.sid);
update records set version = -version;
update history set version = -version - (select by from shifts where shifts.sid = history.sid),
    until = until + (select by from shifts where shifts.sid = history.sid);
update history set version = -version;
update streams set version = version + (select by from shifts where shifts.sid = streams.sid) where version > 0;
drop table shifts;

-- What a change feed needs of versions that are gone: `pruned` is the newest version whose predecessor was dropped.
alter table streams add column pruned integer not null default 0;
alter table history add column live integer not null default 1; -- 0: the record was deleted in that version
alter table history add column emitted_at text;
alter table history add column deleted_at text;
update history set live = 0 where data is null;
create index history_by_until on history(until);
create unique index history_by_version on history(sid, version);

-- `revised`: whether the history knows earlier versions. It stands before the data: what is behind a long value is slow
-- to read.
alter table records rename to records_before;
create table records(
    rid integer primary key,
    sid integer not null,
    key text not null,
    version integer not null,
    revised integer not null default 0,
    at integer,
    emitted_at text not null,
    deleted_at text,
    data text
);
insert into records
    select rid, sid, key, version,
        exists(select 1 from history h where h.sid = records_before.sid and h.key = records_before.key),
        at, emitted_at, deleted_at, data
    from records_before;
drop table records_before;
create unique index records_by_key on records(sid, key);
create unique index records_by_version on records(sid, version);

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

-- As what the values of a field are indexed ('' where an older version did it), and by which key and time the records of
-- a stream lie (null where an older version laid them).
alter table fields add column type text not null default '';
alter table streams add column laid_out text;

-- How many records a stream has of each day (as in a rid): what counts by month add up.
create table days(
    sid integer not null,
    day integer not null,
    live integer not null,
    primary key(sid, day)
) without rowid;
insert into days select sid, (rid >> 26) & 131071, count(*) from records where data is not null group by 1, 2;

-- Blobs lie in files named by their digest. `blob_refs`: which field of which record refers to which blob;
-- `blob_bindings`: for which record it was delivered, and as what. Whatever stops holding a blob notes it in
-- `released_blobs`; one that nothing holds any longer is erased from there, row and file.
create table blobs(
    blob_id text primary key,
    size integer not null,
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
    mime_type text not null,
    primary key(blob_id, sid, key)
) without rowid;
create index blob_bindings_by_key on blob_bindings(sid, key);
create table released_blobs(blob_id text primary key) without rowid;
create trigger blob_ref_dropped after delete on blob_refs begin
    insert or ignore into released_blobs values(old.blob_id);
end;
create trigger blob_binding_dropped after delete on blob_bindings begin
    insert or ignore into released_blobs values(old.blob_id);
end;

-- How far the owner's own collectors have come; '' is the state that belongs to no grant.
create table sync_state(
    connection integer not null references connections,
    grant_id text not null default '',
    stream text not null,
    cursor text not null,
    updated_at text not null,
    primary key(connection, grant_id, stream)
) without rowid;

-- When connections were removed, by the clock: nothing else tells who follows their changes that all is gone.
create table removals(
    connection_id text primary key,
    version integer not null
) without rowid;

-- Whether something was erased of which traces may lie in the files still; noted in the transaction that erases.
create table traces(are_left integer not null);
insert into traces values(0);

update layout set generation = generation + 1;
