-- A grant never changes once it is given. What the owner changes of it is a grant of its own, which takes its place: the
-- old one names its successor. What the owner calls it, and notes about it, is nobody else's.
alter table grants add column successor text;
alter table grants add column called text;
alter table grants add column note text;
