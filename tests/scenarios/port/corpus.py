"""Questions enough to meet every kind of read, and every refusal that a read can end in."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

from pdpp_server.errors import PdppError
from pdpp_server.model.pending import Pending
from pdpp_server.model.queries import (
    BEGINNING,
    AggregateQuery,
    Condition,
    Expand,
    FetchQuery,
    RecordsQuery,
    SchemaQuery,
    SearchQuery,
    WindowQuery,
)
from pdpp_server.model.records import Record, Span
from pdpp_server.port.reader import Reader
from tests.worlds import chat
from tests.worlds.post import Post
from tests.worlds.told import told
from tests.worlds.world import World

ODD_KEYS = ["a/b\\c", "https://x.example/?q=1#2", "🦭 key", "a:b:c", "%2e%2e", "..a", "a+b&c=d;e", "東京", "\u202egnp"]
PAGES = 3  # of each list that goes on

Question = SchemaQuery | SearchQuery | RecordsQuery | AggregateQuery | FetchQuery | WindowQuery


class Asked(NamedTuple):
    token: str
    question: Question


def corpus(world: World) -> list[Asked]:
    """Fills the world with what the questions are about."""
    post = Post(world)
    odd = [chat.message(key, text="The narwhal is <b>here</b> & now.", likes=2**62) for key in ODD_KEYS]
    assert world.deliver(chat.WORK, odd).accepted == len(ODD_KEYS)
    fewer = world.grant(world.both("messages", fields=["id", "subject"], time_range={"since": "2026-03-02T00:00:00Z"}))
    letters = {"name": "letters", "fields": ["id", "thread_id", "text", "pages", "is_read", "tags", "written_at"]}
    letters_only, whole = post.grant(letters), post.grant({"name": "threads"}, letters)
    asked = [Asked(token, one) for token in (world.token, fewer) for one in chats(world)]
    asked += [Asked(token, one) for token in (whole, letters_only) for one in letters_of(post)]
    ended = world.grant(world.both("messages"), expires_at="2026-11-15T11:00:00.000Z")
    return [*asked, *(Asked(token, SearchQuery("lease")) for token in (ended, "nobody", world.owner_token))]


def chats(world: World) -> Iterator[Question]:
    work = world.work
    yield SchemaQuery("messages", work, full=True)
    yield SchemaQuery("channels", world.family, full=True)
    yield SchemaQuery("messages", full=True)  # of both accounts: ambiguous
    yield SchemaQuery("messages", "cin_nobody", full=True)
    for words in (
        "lease",
        "lake",
        '"walrus clause"',
        "lea*",
        "lease -draft",
        "東京",
        "narwhal",
        "<b> & lease",
        "nothing",
    ):
        yield SearchQuery(words)
        yield SearchQuery(words, ("messages",), work, 2)
        yield SearchQuery(words, limit=2, lean=True)
        yield SearchQuery(f"{words} ada", lean=True, brief=True)
    yield SearchQuery("lease", ("diary",))
    yield SearchQuery("lease", None, "cin_nobody")
    yield SearchQuery("lease", cursor="no-cursor")
    yield SearchQuery("-lease")
    for key in ("m1", "m2", "m3", "m5", "m999", *ODD_KEYS):
        yield FetchQuery("messages", key, work)
    yield FetchQuery("messages", "m1")  # in both accounts
    yield FetchQuery("messages", "m1", work, ("subject",))
    yield FetchQuery("messages", "m1", work, ("nothing",))
    yield FetchQuery("messages", "m1", work, ("text",))
    yield FetchQuery("channels", '["legal","1"]', work)
    yield FetchQuery("diary", "m1", work)
    yield FetchQuery("messages", "m1", "cin_nobody")
    yield FetchQuery("messages", "m1", connector_key="chat", connection_id=world.family)
    yield FetchQuery("messages", "m1", connector_key="nobody")
    yield WindowQuery("messages", "m2", "text", work)
    yield WindowQuery("messages", "m2", "text", work, offset=5000, limit=300)
    yield WindowQuery("messages", "m2", "text", work, offset=10**6)
    yield WindowQuery("messages", "m2", "text", work, q="WALRUS", before=20)
    yield WindowQuery("messages", "m2", "text", work, q="nowhere")
    for key, name in (("m1", "reactions"), ("m1", "likes"), ("m3", "likes"), ("m4", "text"), ("m3", "subject")):
        yield WindowQuery("messages", key, name, work)
    yield WindowQuery("messages", "m1", "text")
    yield WindowQuery("messages", "m1", "nothing", work)
    for limit in (1, 3, 100):
        yield RecordsQuery("messages", limit=limit)
        yield RecordsQuery("messages", work, ascending=True, limit=limit)
    yield RecordsQuery("messages", changes_since=BEGINNING, limit=4)
    yield RecordsQuery("messages", changes_since="yesterday")
    yield RecordsQuery("messages", sort="likes")
    yield RecordsQuery("messages", sort="author")
    yield RecordsQuery("messages", cursor="no-cursor")
    yield RecordsQuery("diary")


def letters_of(post: Post) -> Iterator[Question]:
    newer, many = Condition("written_at", "gte", "2026-03-02T00:00:00Z"), Condition("pages", "gt", "2")
    yield SchemaQuery("letters", post.office, full=True)
    yield RecordsQuery("letters", count=True, window=True)
    yield RecordsQuery("letters", count=True, window=True, limit=2, ascending=True, sort="written_at")
    yield RecordsQuery("letters", conditions=(newer, many), fields=("text", "pages"))
    yield RecordsQuery("letters", conditions=(Condition("is_read", "eq", "true"),))
    yield RecordsQuery("letters", view="short")
    yield RecordsQuery("letters", view="long")
    yield RecordsQuery("letters", post.office, around="l2", limit=2, count=True)
    yield RecordsQuery("letters", around="l1")
    yield RecordsQuery("letters", post.office, around="nobody")
    yield RecordsQuery("letters", post.office, expand=(Expand("thread"),))
    yield RecordsQuery("threads", post.office, expand=(Expand("letters", 1),), limit=1)
    yield RecordsQuery("threads", expand=(Expand("letters", 99),))
    yield RecordsQuery("letters", expand=(Expand("nothing"),))
    yield FetchQuery("threads", "t1", post.office, expand=(Expand("letters"),))
    yield FetchQuery("letters", "l9", post.home, expand=(Expand("thread"),))
    for wrong in (Condition("tags", "eq", "a"), Condition("pages", "gte", "many"), Condition("secret", "eq", "x")):
        yield RecordsQuery("letters", conditions=(wrong,))
    yield RecordsQuery("letters", conditions=(Condition("nothing", "eq", "x"),))
    yield SearchQuery("first second", ("letters",), conditions=(many,))
    yield SearchQuery("first", conditions=(many,))
    yield AggregateQuery("letters")
    yield AggregateQuery("letters", "sum", "pages", conditions=(newer,))
    yield AggregateQuery("letters", group_by_time="written_at", granularity="month", limit=1)
    yield AggregateQuery("letters", group_by_time="written_at", granularity="day", time_zone="Europe/Zurich")
    yield AggregateQuery("letters", "sum", "text")
    yield AggregateQuery("threads")
    yield AggregateQuery("letters", connection_id=post.home)


def outcomes(reader: Reader, question: Question) -> list[Any]:
    """The answer or the refusal, page after page; a cursor is compared by where it leads."""
    found: list[Any] = []
    for _ in range(PAGES):
        value = outcome(reader, question)
        cursor: str | None = getattr(value, "next_cursor", None)
        found.append(without_cursors(value))
        if cursor is None or not isinstance(question, SearchQuery | RecordsQuery):
            break
        feed = {"changes_since": None} if isinstance(question, RecordsQuery) else {}
        question = replace(question, cursor=cursor, **feed)
    return found


def outcome(reader: Reader, question: Question) -> Any:
    try:
        answer = ask(reader, question)
    except PdppError as refusal:
        assert refusal.request_id
        return type(refusal), refusal.message, refusal.param, refusal.remedy, refusal.candidates
    assert answer.request_id
    return told(answer)


def ask(reader: Reader, question: Question) -> Pending[Any]:
    match question:
        case SchemaQuery():
            return reader.schema(question)
        case SearchQuery():
            return reader.search(question)
        case RecordsQuery():
            return reader.query_records(question)
        case AggregateQuery():
            return reader.aggregate(question)
        case FetchQuery():
            return reader.fetch(question)
        case WindowQuery():
            return reader.read_record_field(question)


def without_cursors(value: Any) -> Any:
    """Also without what is kept beside a record for the log of its own server alone."""
    if isinstance(value, Record):
        expanded = {name: without_cursors(related) for name, related in value.expanded.items()}
        return value._replace(time_field=None, expanded=expanded)
    if isinstance(value, Span):
        return replace(value, fields=())
    if not is_dataclass(value) or isinstance(value, type):
        return value
    named = {each.name for each in fields(value)}
    sealed = {name: str(getattr(value, name) is not None) for name in named & {"next_cursor", "next_changes_since"}}
    logged = dict.fromkeys(named & {"title_field", "time_field"})
    held = {name: getattr(value, name) for name in named & {"records", "hits"}}
    found: dict[str, Any] = {
        name: tuple(map(without_cursors, of)) for name, of in held.items() if isinstance(of, tuple)
    }
    if "around" in named and (around := getattr(value, "around")):  # noqa: B009 - of a page, as below
        marks = {name: str(getattr(around, name) is not None) for name in ("earlier_cursor", "later_cursor")}
        found["around"] = replace(around, **marks)
    if "span" in named:
        found["span"] = without_cursors(getattr(value, "span"))  # noqa: B009 - of a page, which the type does not tell
    return replace(value, **sealed, **logged, **found)
