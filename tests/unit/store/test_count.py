"""How many records are visible, and from when to when, as far as the grant shows it."""

from pdpp_server.model.queries import RecordsQuery
from tests.worlds.world import World


def test_a_hidden_time_is_told_by_no_span(world: World) -> None:
    hiding = world.grant(world.both("messages", fields=["id", "text"]))
    asked = RecordsQuery("messages", window=True)

    shown = world.reader.query_records(asked).value.span
    hidden = world.reader_of(hiding).query_records(asked).value.span

    assert shown and hidden
    assert shown.total == hidden.total > 0
    assert shown.earliest_at and shown.latest_at and shown.fields == ("sent_at",)
    assert (hidden.earliest_at, hidden.latest_at, hidden.fields) == (None, None, ())
