-- Many owners. Number 0 is the house: it knows the names of the owners, and keeps what strangers bring before anybody has
-- signed in. It has no records. Numbers are never given twice.

create sequence owner_numbers start 2; -- 1 is whoever was here before there were names
create table owners(
    owner bigint primary key,
    name text collate "C" not null unique,
    created_at text not null default to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
);
create table invitations(
    owner bigint not null default named_owner(),
    digest bytea not null,
    expires_at text not null,
    primary key(owner, digest)
);

-- Whose a secret is, by its digest: whoever shows the secret finds its owner, and nobody can list those of others.
create table ways_in(
    digest bytea not null,
    owner bigint not null default named_owner(),
    primary key(digest, owner)
);
create index ways_in_by_owner on ways_in(owner);
create function shown_digest() returns bytea language sql stable
    as $$ select decode(current_setting('pdpp.shown', true), 'hex') $$;

create function keep_way_in() returns trigger language plpgsql as $$
declare
    before bytea := case when tg_op <> 'INSERT' then (to_jsonb(old) ->> tg_argv[0])::bytea end;
    after bytea := case when tg_op <> 'DELETE' then (to_jsonb(new) ->> tg_argv[0])::bytea end;
begin
    if before is not distinct from after then
        return null;
    end if;
    delete from ways_in where digest = before and owner = named_owner();
    if after is not null then
        insert into ways_in(digest) values(after) on conflict do nothing;
    end if;
    return null;
end $$;

do $$
declare
    kept text;
    secret text[];
begin
    foreach secret slice 1 in array array[
        ['tokens', 'digest'], ['sessions', 'digest'], ['codes', 'digest'], ['families', 'family'],
        ['asks', 'request_uri'], ['asks', 'device_code'], ['invitations', 'digest']]
    loop
        execute format(
            'create trigger %I after insert or delete or update of %I on %I for each row execute function keep_way_in(%L)',
            'way_by_' || secret[2], secret[2], secret[1], secret[2]);
        execute format('alter table %I no force row level security', secret[1]);
        execute format(
            'insert into ways_in(digest, owner) select %I, owner from %I where %I is not null on conflict do nothing',
            secret[2], secret[1], secret[2]);
        execute format('alter table %I force row level security', secret[1]);
    end loop;

    alter table clock no force row level security;
    insert into owners(owner, name) select 1, 'owner' where exists(select 1 from clock where owner = 1);
    alter table clock force row level security;

    foreach kept in array array['owners', 'invitations', 'ways_in'] loop
        execute format('alter table %I enable row level security', kept);
        execute format('alter table %I force row level security', kept);
    end loop;
end $$;
create policy one_owner on invitations using (owner = named_owner());
create policy one_owner on owners using (owner = named_owner() or named_owner() = 0);
create policy one_owner on ways_in using (owner = named_owner() or digest = shown_digest())
    with check (owner = named_owner());
