-- Of each term one block for every batch of records that brought it: which of them hold it, in which columns, how often and
-- where (engines/postgres/postings.py). `first` and `last` are the rids between which they lie.
--
-- By day there were nearly as many rows as words. What a server of the version before knows is gone, so this step and
-- rebuilding.sql are two versions at once: such a server refuses a database that is two ahead.
drop table words;
create table words(
    owner bigint not null default named_owner(),
    sid bigint not null,
    term text collate "C" not null,
    batch bigint not null,
    first bigint not null,
    last bigint not null,
    places text collate "C" not null,
    primary key(owner, sid, term, batch)
);
alter table words enable row level security;
alter table words force row level security;
create policy one_owner on words using (owner = named_owner());
