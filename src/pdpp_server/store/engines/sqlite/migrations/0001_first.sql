-- Declarations are kept for ever: a grant is read by the one its owner consented to.
create table declarations(
    declaration integer primary key,
    source_id text not null,
    version text not null,
    document text not null,
    created_at text not null,
    unique(source_id, version)
);

create table connections(
    connection integer primary key autoincrement,
    connection_id text not null unique,
    declaration integer not null references declarations,
    connector_key text not null,
    display_name text,
    created_at text not null,
    updated_at text not null
);

-- One row: counts every change to declarations, connections, streams or fields, so that caches know when to look again.
create table layout(generation integer not null);
insert into layout values(1);

-- `version` counts accepted changes; `live` counts records that are not deleted.
create table streams(
    sid integer primary key autoincrement,
    connection integer not null references connections,
    name text not null,
    version integer not null default 0,
    live integer not null default 0,
    unique(connection, name)
);

-- `slot` is the column of the word index that holds the field, `indexed` whether field_values does.
create table fields(
    fid integer primary key,
    sid integer not null references streams,
    name text not null,
    slot integer,
    indexed integer not null,
    unique(sid, name)
);

-- rid = sid << 43 | day << 26 | sequence, so that one stream is one range and newer is greater.
-- `at` is the consent time in microseconds; a deleted record keeps its row and loses its data.
create table records(
    rid integer primary key,
    sid integer not null,
    key text not null,
    version integer not null,
    at integer,
    emitted_at text not null,
    deleted_at text,
    data text
);
create unique index records_by_key on records(sid, key);
create unique index records_by_version on records(sid, version);

-- Superseded versions: what a record looked like from `version` until `until`.
create table history(
    sid integer not null,
    key text not null,
    version integer not null,
    until integer not null,
    at integer,
    data text,
    primary key(sid, key, version)
) without rowid;

create table field_values(
    fid integer not null,
    value not null,
    rid integer not null,
    primary key(fid, value, rid)
) without rowid;

create virtual table words using fts5(
    s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15,
    content='', tokenize='porter unicode61 remove_diacritics 2'
);
insert into words(words, rank) values('secure-delete', 1);

create table grants(
    grant_id text primary key,
    package_id text,
    client_id text not null,
    declaration integer not null references declarations,
    issued_at text not null,
    expires_at text,
    revoked_at text,
    consumed_at text,
    document text not null -- last: what stands behind a long value is slow to read
);
create index grants_by_package on grants(package_id) where package_id is not null;

-- Only a digest of a token is kept. A token points at one grant, or at a package of several, or is the owner's.
create table tokens(
    digest blob primary key,
    kind text not null,
    grant_id text references grants,
    package_id text,
    client_id text,
    issued_at text not null,
    expires_at text,
    revoked_at text
) without rowid;

create table rejections(
    connection integer not null references connections,
    place text not null,
    code text not null,
    reason text not null,
    at text not null,
    primary key(connection, place)
) without rowid;
