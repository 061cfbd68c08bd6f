-- Which export brought which record, so that a newer export of the same collection can say what is gone.
-- A collection is what an export itself names: a calendar, an address book, a chat. `as_of` is how new its newest export
-- was, by `fingerprint`; `opened` is the fingerprint of one whose reading began and has not ended.
create table collections(
    collection integer primary key autoincrement,
    connection integer not null references connections,
    name text not null,
    as_of text,
    fingerprint text,
    opened text,
    unique(connection, name)
);
create table runs(
    run integer primary key autoincrement,
    connection integer not null references connections,
    file text not null,
    begun_at text not null,
    finished_at text,
    undone_at text
);
-- In which run a collection brought a record first, and last. Collection 0: other hands than an export's; what they
-- brought too, no run removes.
create table brought(
    sid integer not null,
    key text not null,
    collection integer not null,
    first integer not null,
    run integer not null,
    primary key(sid, key, collection)
) without rowid;

-- What a run removed, until it is too late to undo it. The blobs of such a record are held as long.
create table removed(
    run integer not null references runs,
    sid integer not null,
    key text not null,
    data text not null,
    primary key(run, sid, key)
) without rowid;
create table removed_blobs(
    blob_id text not null,
    run integer not null references runs,
    sid integer not null,
    key text not null,
    mime_type text not null,
    primary key(blob_id, run, sid, key)
) without rowid;
create index removed_by_key on removed(sid, key);
create index removed_blobs_by_key on removed_blobs(sid, key);
create trigger removed_blob_dropped after delete on removed_blobs begin
    insert or ignore into released_blobs values(old.blob_id);
end;
