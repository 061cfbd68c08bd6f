-- Which name each short id of a connection was made from, as a digest: an id is met again by the same name and is never
-- given to another, also after its connection was removed. Ids from before are longer than any that could be made now.
create table connection_names(connection_id text primary key, digest text not null) without rowid;
