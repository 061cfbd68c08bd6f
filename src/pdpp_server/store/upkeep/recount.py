"""Counts made anew from the records: of each stream, and of each day."""

from pdpp_server.store.engine import Writing
from pdpp_server.store.layout import NEW_GENERATION

_LIVE = """
update streams set live = (select count(*) from records where records.sid = streams.sid and data is not null)
"""
_DAYS = """
delete from days;
insert into days select sid, (rid >> 26) & 131071, count(*) from records where data is not null group by 1, 2;
"""


def recount(writer: Writing) -> None:
    writer.run(_LIVE)
    writer.run(_DAYS)
    writer.run(NEW_GENERATION)
