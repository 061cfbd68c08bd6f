-- The tables of the store, for many owners: the owner is the first part of every key, and named by the transaction.
-- Row security is the second wall: a statement that forgets the owner sees no other's rows. Texts sort by their bytes.

create table schema_version(version bigint not null);
insert into schema_version values(1);

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
    unique(owner, sid, version),
    unique(owner, sid, key) -- last: of two indexes that look alike, of owners nobody has counted yet, the last made is used
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
create table meanings(
    owner bigint not null default named_owner(),
    rid bigint not null,
    passages bytea not null,
    primary key(owner, rid)
);
create table meaning_blocks(
    owner bigint not null default named_owner(),
    block bigint not null,
    lines bytea not null,
    primary key(owner, block)
);
create table meaning_model(
    owner bigint primary key default named_owner(),
    identity text not null
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
    successor text,
    called text,
    note text,
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

create table blobs(
    owner bigint not null default named_owner(),
    blob_id text not null,
    size bigint not null,
    created_at text not null,
    primary key(owner, blob_id)
);
create table blob_pieces(
    owner bigint not null default named_owner(),
    blob_id text not null,
    piece bigint not null,
    bytes bytea not null,
    primary key(owner, blob_id, piece)
);
alter table blob_pieces alter column bytes set storage external; -- pictures do not get smaller
create table released_blobs(
    owner bigint not null default named_owner(),
    blob_id text not null,
    primary key(owner, blob_id)
);
create function release_blob() returns trigger language plpgsql as $$
begin
    insert into released_blobs(blob_id) values(old.blob_id) on conflict do nothing;
    return null;
end $$;
create trigger blob_ref_dropped after delete on blob_refs for each row execute function release_blob();
create trigger blob_binding_dropped after delete on blob_bindings for each row execute function release_blob();
create trigger removed_blob_dropped after delete on removed_blobs for each row execute function release_blob();

create table sync_state(
    owner bigint not null default named_owner(),
    connection bigint not null,
    grant_id text not null default '',
    stream text not null,
    cursor text not null,
    updated_at text not null,
    primary key(owner, connection, grant_id, stream)
);
create table imports(
    owner bigint not null default named_owner(),
    connection bigint not null,
    fingerprint text not null,
    file text not null,
    finished_at text not null,
    records bigint not null,
    rejected bigint not null,
    primary key(owner, connection, fingerprint)
);
create table collections(
    owner bigint not null default named_owner(),
    collection bigint not null default next_number('collections'),
    connection bigint not null,
    name text not null,
    as_of text,
    fingerprint text,
    opened text,
    primary key(owner, collection),
    unique(owner, connection, name)
);
create table runs(
    owner bigint not null default named_owner(),
    run bigint not null default next_number('runs'),
    connection bigint not null,
    file text not null,
    begun_at text not null,
    finished_at text,
    undone_at text,
    primary key(owner, run)
);
create table live_sources(
    owner bigint not null default named_owner(),
    name text collate "C" not null,
    kind text not null,
    settings text not null,
    sealed bytea,
    state text not null default '{}',
    tried_at text,
    succeeded_at text,
    next_at text,
    failures bigint not null default 0,
    trouble text not null default '',
    said text not null default '',
    primary key(owner, name)
);
create table live_items(
    owner bigint not null default named_owner(),
    collection bigint not null,
    item text collate "C" not null,
    sid bigint not null,
    key text collate "C" not null,
    primary key(owner, collection, item, sid, key)
);
create index live_items_by_key on live_items(owner, collection, sid, key);
create table live_cursors(
    owner bigint not null default named_owner(),
    collection bigint not null,
    cursor text not null,
    primary key(owner, collection)
);

-- Who asks, what waits, what was agreed to: as in the tables of SQLite, whose comments hold here too.
create table clients(
    owner bigint not null default named_owner(),
    client_id text collate "C" not null,
    document text not null,
    is_verified bigint not null,
    created_at text not null,
    fresh_until text,
    pinned bytea,
    primary key(owner, client_id)
);
create table asks(
    owner bigint not null default named_owner(),
    ask_id text not null,
    client_id text not null,
    issuer text not null,
    redirect_uri text,
    state text,
    code_challenge text,
    resource text,
    request_uri bytea,
    user_code text,
    device_code bytea,
    polled_at text,
    pause_seconds bigint not null default 0,
    decided text,
    expires_at text not null,
    selections text not null,
    primary key(owner, ask_id),
    unique(owner, request_uri),
    unique(owner, user_code),
    unique(owner, device_code)
);
create table codes(
    owner bigint not null default named_owner(),
    digest bytea not null,
    client_id text not null,
    redirect_uri text,
    code_challenge text,
    audience text,
    grant_id text,
    package_id text,
    expires_at text not null,
    family bytea,
    primary key(owner, digest)
);
create table families(
    owner bigint not null default named_owner(),
    family bytea not null,
    client_id text not null,
    audience text,
    grant_id text,
    package_id text,
    refresh bytea,
    expires_at text not null,
    ended_at text,
    primary key(owner, family)
);
create table approvals(
    owner bigint not null default named_owner(),
    client_id text not null,
    asked bytea not null,
    approved_at text not null,
    decision text not null,
    primary key(owner, client_id, asked)
);
create table resource_servers(
    owner bigint not null default named_owner(),
    name text collate "C" not null,
    digest bytea not null,
    address text,
    created_at text not null,
    primary key(owner, name),
    unique(owner, address)
);
create table owner_password(
    owner bigint primary key default named_owner(),
    phc text not null,
    changed_at text not null
);
create table sessions(
    owner bigint not null default named_owner(),
    digest bytea not null,
    created_at text not null,
    seen_at text not null,
    primary key(owner, digest)
);
create index grants_by_package on grants(owner, package_id) where package_id is not null;
create index grants_by_client on grants(owner, client_id);
create index tokens_by_family on tokens(owner, family) where family is not null;
create unique index history_by_version on history(owner, sid, version);
create index blob_refs_by_rid on blob_refs(owner, rid);
create index blob_bindings_by_key on blob_bindings(owner, sid, key);
create index removed_by_key on removed(owner, sid, key);
create index removed_blobs_by_key on removed_blobs(owner, sid, key);


-- The disclosure log. A segment is the chain of one process; `header` is its first line. `names` lists each disclosure under
-- everything that it can be asked by. Numbers come from a sequence: processes that write lines do not wait for each other.
create table segments(
    owner bigint not null default named_owner(),
    segment bigint not null generated always as identity,
    id text collate "C" not null,
    header text not null,
    primary key(owner, segment),
    unique(owner, id)
);
create table disclosures(
    owner bigint not null default named_owner(),
    disclosure bigint not null generated always as identity,
    segment bigint not null,
    n bigint not null,
    at text collate "C" not null,
    records bigint not null,
    line text not null,
    primary key(owner, disclosure),
    unique(owner, segment, n)
);
create index disclosures_by_time on disclosures(owner, at);
create table names(
    owner bigint not null default named_owner(),
    kind text collate "C" not null,
    name text collate "C" not null,
    at text collate "C" not null,
    disclosure bigint not null,
    records bigint not null,
    primary key(owner, kind, name, at, disclosure)
);
create table asked(
    owner bigint not null default named_owner(),
    request_id text collate "C" not null,
    operation text collate "C" not null,
    month text not null,
    sealed bytea not null,
    primary key(owner, request_id, operation)
);
-- What was tried how often, by whom, counted over all processes; whose tries they are is a digest.
create table tries(
    owner bigint not null default named_owner(),
    name text collate "C" not null,
    kind text collate "C" not null,
    whose text collate "C" not null,
    times double precision not null,
    at double precision not null,
    primary key(owner, name, kind, whose)
);
create table keys(
    owner bigint not null default named_owner(),
    name text collate "C" not null,
    wrapped bytea not null,
    primary key(owner, name)
);

do $$
declare
    kept text;
begin
    for kept in select tablename from pg_tables where schemaname = current_schema() and tablename <> 'schema_version' loop
        execute format('alter table %I enable row level security', kept);
        execute format('alter table %I force row level security', kept);
        execute format('create policy one_owner on %I using (owner = named_owner())', kept);
    end loop;
end $$;
