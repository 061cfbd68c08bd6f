"""What a line says was asked: names as they are, the asker's own words as digests, and nothing that was not asked."""

from collections.abc import Mapping
from typing import Any

import pytest

from pdpp_server.grants.issue import everything
from pdpp_server.grants.permit import permit
from pdpp_server.model.activity import Shown
from pdpp_server.model.grants import Holder
from pdpp_server.model.queries import (
    AggregateQuery,
    BlobQuery,
    Condition,
    Expand,
    FetchQuery,
    Query,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    StreamMetadataQuery,
    StreamsQuery,
    WindowQuery,
)
from pdpp_server.model.sources import Origin
from pdpp_server.reads.disclosure import disclosure, logged_query
from tests.requirements import requirement
from tests.worlds.chat import DECLARATION

KEY = b"k" * 32
WORD = "keyed:"
CONDITION = Condition("text", "eq", "secret")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (SearchQuery("secret"), {"query": WORD, "limit": 25, "mode": "auto"}),
        (
            SearchQuery("secret", ("messages",), "cin", 5, "cursor", (CONDITION,)),
            {
                "query": WORD,
                "streams": ("messages",),
                "filter": WORD,
                "limit": 5,
                "paged": True,
                "connection_id": "cin",
                "mode": "auto",
            },
        ),
        (SchemaQuery(), {}),
        (SchemaQuery("messages", full=True), {"stream": "messages", "full": True}),
        (StreamsQuery("cin", "chat"), {"connector_id": "chat", "connection_id": "cin"}),
        (StreamMetadataQuery("messages"), {"stream": "messages"}),
        (FetchQuery("messages", "m1"), {}),
        (FetchQuery("messages", "m1", fields=("text",), expand=(Expand("x"),)), {"fields": ("text",), "expand": ["x"]}),
        (RecordsQuery("messages"), {"limit": 25}),
        (
            RecordsQuery("messages", conditions=(CONDITION,), expand=(Expand("x"),), changes_since="b", cursor="c"),
            {"filter": WORD, "expand": ["x"], "changes": True, "limit": 25, "paged": True},
        ),
        (AggregateQuery("messages"), {"metric": "count"}),
        (
            AggregateQuery("messages", group_by="author", conditions=(CONDITION,)),
            {"metric": "count", "group_by": "author", "filter": WORD, "limit": 10},
        ),
        (
            AggregateQuery("messages", "sum", "size", None, "sent_at", "day"),
            {
                "metric": "sum",
                "field": "size",
                "group_by_time": "sent_at",
                "granularity": "day",
                "time_zone": "UTC",
                "limit": 10,
            },
        ),
        (BlobQuery("secret"), {"blob_id": WORD}),
        (BlobQuery("secret", headers_only=True), {"blob_id": WORD, "headers_only": True}),
        (WindowQuery("messages", "m1", "text"), {"field": "text", "offset": 0, "limit": 4096}),
        (
            WindowQuery("messages", "m1", "text", offset=7, limit=9, q="secret"),
            {"field": "text", "offset": 7, "limit": 9, "q": WORD},
        ),
    ],
)
@requirement("log.line.hashed-content")
def test_what_was_asked_is_said_and_words_are_digests(query: Query, said: Mapping[str, Any]) -> None:
    logged = logged_query(query, KEY)

    shown = {name: WORD if WORD in str(value) else value for name, value in logged.items()}
    assert shown == said
    assert "secret" not in str(logged)


@requirement("log.line.hashed-content")
def test_a_digest_is_alike_for_alike_under_one_key_and_short() -> None:
    first, again = (logged_query(SearchQuery(text), KEY)["query"] for text in ("a", "a"))

    assert first == again
    assert first != logged_query(SearchQuery("b"), KEY)["query"]
    assert first != logged_query(SearchQuery("a"), b"l" * 32)["query"]
    assert len(first) == len("keyed:") + 16
    assert logged_query(SearchQuery("\ud800"), KEY)["query"]


def test_a_line_names_the_grants_that_were_read_once_or_else_all_that_are_held() -> None:
    grant = everything(DECLARATION, ("cin",))
    holder = Holder("client", "cli", (grant,), {"cin": Origin("cin", "chat", "cin")})
    shown = Shown(("cin",), ("messages",), ("id",), ("r1",))

    for query in (SearchQuery("x"), SchemaQuery("nonsense")):
        line = disclosure(permit(holder, query), shown, 9, "search", "req", "now", KEY)
        assert line.grant_ids == (grant.grant_id,)
        assert (line.at, line.request_id, line.operation, line.token_kind, line.client_id, line.bytes) == (
            "now", "req", "search", "client", "cli", 9,
        )  # fmt: skip
        assert line[-5:-1] == shown
