-- The messages of every owner so many times: each copy beside its record, on its day, with a key and a rare word of its own.
-- {copies} of each, the first included; {beside} numbers of records lie between two copies of one.
create temporary table first_ones as select r.owner, r.rid, r.sid from records r join streams s using (owner, sid)
    where s.name = 'messages';
create temporary table copies as select copy, copy * {beside} as further from generate_series(1, {copies} - 1) copy;
create temporary table last_version as select max(version) as version from records;

insert into records(owner, rid, sid, key, version, revised, at, emitted_at, deleted_at, data)
    select owner, rid + further, sid, key || 'x' || copy, r.version + copy * l.version, revised, at, emitted_at, deleted_at,
        regexp_replace(data, '(rare\d+)', '\1x' || copy, 'g')
    from records r join first_ones using (owner, rid, sid), copies, last_version l;
insert into field_values(owner, fid, value, rid)
    select owner, fid, value, rid + further from field_values join first_ones using (owner, rid), copies;
insert into positions(owner, fid, value, key, rid)
    select owner, fid, value, key || 'x' || copy, rid + further from positions join first_ones using (owner, rid), copies;
insert into words(owner, sid, term, batch, first, last, places)
    select owner, sid, case when term ~ '^rare\d+$' then term || 'x' || copy else term end,
        batch + further, first + further, last + further, replace(places, '[' || batch || ',', '[' || batch + further || ',')
    from words join (select distinct owner, sid from first_ones) f using (owner, sid), copies;

update days set live = live * {copies} where (owner, sid) in (select owner, sid from first_ones);
update streams set live = live * {copies}, version = streams.version + {copies} * l.version from last_version l
    where (owner, sid) in (select owner, sid from first_ones);
update clock set version = clock.version + {copies} * l.version from last_version l;
drop table first_ones, copies, last_version;
