-- The newest change of each kind in a stream, so that no read has to look for it: what arrived or was deleted ('+'), what
-- moved to another day ('>'), and the edits of each declared field ('.' and its name). Each is kept for the day of its
-- record and for ever larger stretches of days: `place` is the day >> `shift`. See decision page 0016.
create table newest_changes(
    sid integer not null,
    what text not null,
    shift integer not null,
    place integer not null,
    version integer not null,
    emitted_at text not null,
    primary key(sid, what, shift, place)
) without rowid;

-- Of a record that was changed before nobody can say any more in which fields: it counts from its next change on.
insert into newest_changes
    select sid, '+', shifts.value, ((rid >> 26) & 131071) >> shifts.value, max(version), emitted_at
    from records, json_each('[0, 6, 12, 17]') shifts
    where data is not null and not revised
    group by 1, 3, 4;

-- The UTC day of the last run that ended well and was a complete picture of the stream.
alter table streams add column refreshed_on text;
