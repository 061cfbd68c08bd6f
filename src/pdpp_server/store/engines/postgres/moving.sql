-- Whose home is being moved here: such an owner is found by nobody before all of it is here.
alter table owners add column is_arriving boolean not null default false;

-- Databases that are older than this table have the first version too.
do $$
begin
    if to_regclass('tries') is null then
        create table tries(
            owner bigint not null default named_owner(),
            name text collate "C" not null,
            kind text collate "C" not null,
            whose text collate "C" not null,
            times double precision not null,
            at double precision not null,
            primary key(owner, name, kind, whose)
        );
        alter table tries enable row level security;
        alter table tries force row level security;
        create policy one_owner on tries using (owner = named_owner());
    end if;
end $$;
