-- What the doors need: clients that ask, the owner who decides, files that were imported.

-- authorization

-- Who asks. One that is named by its own address was read from there: `fresh_until` says for how long that holds, and
-- `pinned` is a digest of what must stay as it was. One that registered here has neither.
create table clients(
    client_id text primary key,
    document text not null,
    is_verified integer not null,
    created_at text not null,
    fresh_until text,
    pinned blob
) without rowid;

-- What waits for the owner, or was decided and has not expired yet. `request_uri` is there until a pushed request is
-- opened; a device polls with its `device_code`, at most every `pause_seconds`.
create table asks(
    ask_id text primary key,
    client_id text not null,
    issuer text not null,
    redirect_uri text,
    state text,
    code_challenge text,
    resource text,
    request_uri blob unique,
    user_code text unique,
    device_code blob unique,
    polled_at text,
    pause_seconds integer not null default 0,
    decided text, -- 'approved' or 'denied'
    expires_at text not null,
    selections text not null
) without rowid;

-- What a client changes for its first tokens: the code of a redirect, or the code of a device once it was approved.
-- One that was redeemed is kept until it expires, so that a second try is known for what it is.
create table codes(
    digest blob primary key,
    client_id text not null,
    redirect_uri text,
    code_challenge text,
    audience text,
    grant_id text references grants,
    package_id text,
    expires_at text not null,
    family blob -- what it gave
) without rowid;

-- All tokens that came of one approval. `family` is a digest of what its refresh tokens have in common, `refresh` of
-- the one that is good now; null where none is given.
create table families(
    family blob primary key,
    client_id text not null,
    audience text,
    grant_id text references grants,
    package_id text,
    refresh blob,
    expires_at text not null,
    ended_at text
) without rowid;

-- The door it is for, `name/door` at a server elsewhere; null where any of ours will do.
alter table tokens add column audience text;
alter table tokens add column family blob;
create index tokens_by_family on tokens(family) where family is not null;
create index grants_by_client on grants(client_id);

-- What the owner agreed to last when a client asked for the same, so that once more takes one click.
create table approvals(
    client_id text not null,
    asked blob not null,
    approved_at text not null,
    decision text not null,
    primary key(client_id, asked)
) without rowid;

-- Resource servers elsewhere that may ask about tokens. Without an address one stands behind ours.
create table resource_servers(
    name text primary key,
    digest blob not null,
    address text unique,
    created_at text not null
) without rowid;

-- the owner

-- One row, once there is a password: argon2id in its PHC form.
create table owner_password(
    owner integer primary key check(owner = 1),
    phc text not null,
    changed_at text not null
);

-- Who is signed in to the pages. The cookie itself is kept nowhere but in its browser.
create table sessions(
    digest blob primary key,
    created_at text not null,
    seen_at text not null
) without rowid;

-- imports

-- What was read to its end: `fingerprint` is a digest of the files of one account and of who read them.
create table imports(
    connection integer not null references connections,
    fingerprint text not null,
    file text not null,
    finished_at text not null,
    records integer not null,
    rejected integer not null,
    primary key(connection, fingerprint)
) without rowid;
