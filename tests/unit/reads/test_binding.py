"""What a cursor continues: one query, in its scopes, for its holder."""

from pdpp_server.grants.permitted import Permitted, Scope
from pdpp_server.model.grants import Holder
from pdpp_server.model.queries import SchemaQuery
from pdpp_server.model.streams import Stream
from pdpp_server.reads.binding import binding

STREAM = Stream("messages", None, {}, ("id",), {})
SCOPE = Scope("grt_1", STREAM, ("cin_1",), frozenset({"a", "b"}))


def permitted(scope: Scope = SCOPE, client: str = "c") -> Permitted[SchemaQuery]:
    return Permitted(SchemaQuery(), (scope,), Holder("client", client, (), {}))  # nothing is read with it


def test_the_same_question_of_the_same_holder_has_the_same_binding() -> None:
    assert binding(permitted(), "q", 1) == binding(permitted(), "q", 1)
    assert len(binding(permitted(), "\ud800")) == 32


def test_another_question_scope_or_holder_has_another() -> None:
    others = [
        binding(permitted(), "q"),
        binding(permitted(), "r"),
        binding(permitted(), "q", None),
        binding(permitted(SCOPE._replace(connections=("cin_2",))), "q"),
        binding(permitted(SCOPE._replace(fields=frozenset({"a"}))), "q"),
        binding(permitted(SCOPE._replace(grant_id="grt_2")), "q"),
        binding(permitted(client="d"), "q"),
    ]
    assert len(set(others)) == len(others)
