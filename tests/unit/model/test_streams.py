"""What a declaration says of a stream, for whoever sees some of its fields."""

from dataclasses import replace
from itertools import combinations

from pdpp_server.model.streams import TOLD_MAX, Field
from tests.worlds.chat import DECLARATION

MESSAGES = DECLARATION.streams["messages"]


def test_what_is_declared_is_told_of_these_fields_alone() -> None:
    stream = replace(MESSAGES)  # of which nobody asked before
    every = [frozenset(some) for many in (1, 2) for some in combinations(stream.fields, many)]
    assert len(every) > TOLD_MAX

    for fields in (*every, frozenset(stream.fields), *every):
        told = stream.told_of(fields)
        assert told.roles == {name: role for name, role in stream.roles.items() if name in fields}
        assert told.times == tuple(name for name in stream.time_fields if name in fields)
        assert told.binary is None


def test_what_is_told_is_found_once_for_so_many_sets_of_fields() -> None:
    stream = replace(MESSAGES)
    first = frozenset(stream.fields)
    told = stream.told_of(first)
    for name in stream.fields:
        stream.told_of(frozenset({name}))
    for number in range(TOLD_MAX):
        stream.told_of(frozenset({f"field {number}"}))

    assert stream.told_of(frozenset(stream.fields)) is told
    assert len(vars(stream)["_told"]) == TOLD_MAX


def test_a_currency_is_known_by_its_role_and_in_older_declarations_by_its_name() -> None:
    def counted_in(**roles: str) -> str | None:
        fields = {name: Field(name, "string", {}, roles.get(name)) for name in ("sum", "unit", "currency")}
        return replace(MESSAGES, fields=fields).currency_field

    assert counted_in(sum="amount", unit="currency") == "unit"
    assert counted_in(sum="amount") == "currency"
    assert counted_in(unit="currency") is None
