-- What a run changed is kept beside what it removed: undone, things are as they were before it. `follows` is the stream
-- from whose records one follows, as the times of an event do; `version` is the one that the record had when the run ended.
alter table removed add column if not exists was_changed integer not null default 0;
alter table removed add column if not exists follows text not null default '';
alter table removed add column if not exists version bigint;
