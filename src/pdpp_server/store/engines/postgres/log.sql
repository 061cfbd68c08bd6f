-- The time of a line is part of its keys, so that the log can be parted by month.
alter table disclosures drop constraint if exists disclosures_pkey;
alter table disclosures add primary key(owner, at, disclosure);
alter table disclosures drop constraint if exists disclosures_owner_segment_n_key;
alter table disclosures drop constraint if exists disclosures_of_segment;
alter table disclosures add constraint disclosures_of_segment unique(owner, segment, n, at);
drop index if exists disclosures_by_time;
