"""Many single records as a map of bytes: what SQLite passes over is looked up there faster than in a list of them."""

from dataclasses import replace
from itertools import count
from typing import cast

import apsw

from pdpp_server.store.records.reach import Reach

# What the map lets through is looked up exactly, by a function that is no Python.
MAPPED = """{rid} >= :low and {rid} < :high
    and substr(:map, 1 + {rid} % :map_size, 1) = x'01' and is_among(:among, {rid})"""
_IS_AMONG = cast("apsw.ScalarProtocol", frozenset[int].__contains__)
_NUMBERS = count()  # of maps, none twice: so two are the same where their numbers are
_ROOM = 32  # bytes of the map for each record: the more, the fewer others are let through


def look_up_in_maps(connection: apsw.Connection) -> None:
    connection.create_scalar_function("is_among", _IS_AMONG, 2)


def mapped(reach: Reach) -> Reach:
    """The same records. Few are looked up one by one, and need no map."""
    if reach.rids is None or reach.is_few:
        return reach
    size = len(reach.rids) * _ROOM + 1  # an odd number, so that days do not fall on each other
    found = bytearray(size)
    for place in map(size.__rmod__, reach.rids):
        found[place] = 1
    looked_up = {"map": bytes(found), "map_size": size, "among": apsw.pyobject(frozenset(reach.rids))}
    return replace(reach, values={**reach.values, **looked_up, "map_number": next(_NUMBERS)})


def is_mapped(reach: Reach) -> bool:
    return "map" in reach.values
