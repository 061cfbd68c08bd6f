"""What SQLite says in its own way: a list in a statement, and the narrowing by grant."""

from pdpp_server.store.engines.tables import Tables
from pdpp_server.store.records.reach import Reach, Shown

# The one narrowing of records; `{rid}` is the column that holds the rid in the statement at hand.
# Days that lie wholly inside the time bounds need no look at the record; the first and the last day do.
_WHOLE = "{rid} >= :low and {rid} < :high"
_TIMED = """{rid} >= :low and {rid} < :high and (({rid} >= :inner_low and {rid} < :inner_high) or exists(
    select 1 from records bounded where bounded.rid = {rid} and bounded.at >= :since and bounded.at < :until))"""
_LIST = "(select value from json_each(:{name}))"
_FEW = "{rid} in (select value from json_each(:rids))"
_MANY = "{rid} >= :low and {rid} < :high and +{rid} in (select value from json_each(:rids))"
_NARROWING: dict[Shown, str] = {"whole": _WHOLE, "timed": _TIMED, "few": _FEW, "many": _MANY}


class SqliteTables(Tables):
    join = "cross join"  # in that order: an index first, then what it leads to

    def narrowing(self, reach: Reach, rid: str) -> str:
        return _NARROWING[reach.shown].format(rid=rid)

    def numbers(self, name: str) -> str:
        return _LIST.format(name=name)

    texts = numbers
