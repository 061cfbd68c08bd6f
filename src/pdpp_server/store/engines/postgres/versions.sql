-- Whoever looks for a key must not take the index by version: while nobody has counted the rows, and where a plan was made
-- for an owner with few, both look alike, and one of them reads a whole stream. So it is there for those who say `+version > 0`.
create unique index if not exists records_by_version on records(owner, sid, version) where +version > 0;
create unique index if not exists history_of_stream on history(owner, sid, version) where +version > 0;
do $$
declare
    found record;
begin
    for found in select conrelid::regclass as kept, conname from pg_constraint
        where conrelid = 'records'::regclass and pg_get_constraintdef(oid) = 'UNIQUE (owner, sid, version)'
    loop
        execute format('alter table %s drop constraint %I', found.kept, found.conname);
    end loop;
    for found in select indexrelid::regclass as index from pg_index
        where indrelid = 'history'::regclass and pg_get_indexdef(indexrelid) like '%(owner, sid, version)'
    loop
        execute format('drop index %s', found.index);
    end loop;
end $$;
