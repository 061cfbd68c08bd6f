"""Queries: what a caller asked for, parsed once at the edge. A new parameter of a read is a field here."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from pdpp_server.model.blobs import BlobPart
from pdpp_server.model.parameters import Parameter, said

SEARCH_LIMIT, SEARCH_LIMIT_MAX = 25, 100
RECORDS_LIMIT, RECORDS_LIMIT_MAX = 25, 100
GROUPS_LIMIT, GROUPS_LIMIT_MAX = 10, 100
TOOL_LIMIT = 10  # of records, where a model reads them
HITS_LIMIT, AROUND_LIMIT = 7, 5  # there too: of matches, and around a record
QUERY_CHARS_MAX = 1000
WINDOW_CHARS, WINDOW_CHARS_MAX, CONTEXT_CHARS_MAX = 4096, 16_384, 8192


Comparison = Literal["eq", "gte", "gt", "lte", "lt"]
Metric = Literal["count", "sum", "min", "max", "count_distinct"]
UsedMode = Literal["lexical", "semantic", "hybrid"]  # a new one comes last: cursors keep the place of theirs
BY_MEANING: tuple[UsedMode, ...] = ("semantic", "hybrid")  # which need a model, the best last
BY_WORDS: tuple[UsedMode, ...] = tuple(mode for mode in get_args(UsedMode) if mode not in BY_MEANING)  # the best first
Mode = Literal["auto", UsedMode]
Granularity = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
BEGINNING = "beginning"


@dataclass(frozen=True, slots=True)
class Condition:
    """`value` is the text that was sent; the declared type of the field says what it means."""

    field: str
    comparison: Comparison
    value: str


@dataclass(frozen=True, slots=True)
class Expand:
    """Related records of each record, by the name of the relationship."""

    name: str
    limit: int | None = None


# Parameters that several reads take --------------------------------------------------------------------------------

_STREAM = Parameter(hint="")  # in the path of an address
_CONNECTION = Parameter(
    kind="connection", says="Only this connection.", hint="Only this source", option="connection ID", logged="plainly"
)
_CONNECTOR = Parameter(
    kind="connector",
    name="connector_id",
    says="Only connections of this connector: its key, or its registry address.",
)
_FIELDS = Parameter(
    kind="commas",
    says="Only these fields and the primary key; separated by commas, or repeated.",
    hint="Only these fields",
    option="fields A,B",
    help="Only these fields.",
    logged="plainly",
)
_FILTER = Parameter(
    kind="filter",
    name="filter",
    says="`filter[field]=value` for equal; `filter[field][gte|gt|lte|lt]=value` where the stream declares such a "
    "range.",
    hint='{"field":value}, or {"field":{"gte":value}} where schema shows range',
    option="filter FIELD=VALUE",
    help="Only records with that value; also FIELD>=VALUE, >, <=, <. May be given several times.",
    logged="digest",
    is_bound=True,
)
_EXPAND = Parameter(
    kind="expand",
    says="A declared relation whose records to add; depth 1.",
    hint="Relations to add",
    option="expand A,B",
    help="Related records too; A:3 for at most three of them.",
    logged="plainly",
)
_CURSOR = Parameter(
    kind="cursor",
    says="Where to go on: `next_cursor` of the page before.",
    hint="From an earlier answer, same query",
    help="Go on where an earlier answer ended.",
    logged="given",
    logged_as="paged",
)


def _limit(most: int, usual: int, hint: str = "") -> Parameter:
    return Parameter(
        kind="limit",
        says="How many at the most; what is above the maximum is lowered to it.",
        hint=f"Default {usual}{hint}",
        help="At most so many.",
        least=1,
        most=most,
        usual=usual,
        logged="plainly",
    )


# Reads ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SchemaQuery:
    stream: str | None = said(Parameter(says="Only this stream.", hint="", logged="plainly"), None)
    connection_id: str | None = said(replace(_CONNECTION, kind="text"), None)  # without its old name
    full: bool = said(
        Parameter(
            kind="flag",
            name="detail",
            says="`full`: everything about one stream.",
            hint="full needs stream; default compact",
            option="full",
            help="Everything that is declared of that stream.",
            choices=("full",),
            offered=("compact", "full"),
            logged="plainly",
            logged_as="full",
        ),
        False,
    )


@dataclass(frozen=True, slots=True)
class StreamsQuery:
    """What there is, how much, how fresh: of every stream and connection, or of those selected."""

    connection_id: str | None = said(_CONNECTION, None)
    connector_key: str | None = said(replace(_CONNECTOR, logged="plainly"), None)


@dataclass(frozen=True, slots=True)
class StreamMetadataQuery:
    stream: str = said(replace(_STREAM, logged="plainly"))
    connection_id: str | None = said(_CONNECTION, None)
    connector_key: str | None = said(replace(_CONNECTOR, logged="plainly"), None)


@dataclass(frozen=True, slots=True)
class SearchQuery:
    text: str = said(
        Parameter(
            name="q",
            tool="query",
            says="Words; a phrase in quotes, a minus before what must not occur, up to four prefixes of three letters "
            "or more with *.",
            hint="Words to look for (required)",
            chars=QUERY_CHARS_MAX,
            logged="digest",
            is_bound=True,
            is_required=True,
        )
    )
    streams: tuple[str, ...] | None = said(
        Parameter(
            kind="list",
            says="Only these streams.",
            hint="Only these streams",
            option="stream",
            help="Only that stream; may be given several times.",
            logged="plainly",
            is_bound=True,
        ),
        None,
    )
    connection_id: str | None = said(replace(_CONNECTION, is_bound=True), None)
    limit: int = said(_limit(SEARCH_LIMIT_MAX, HITS_LIMIT), SEARCH_LIMIT)
    cursor: str | None = said(_CURSOR, None)
    conditions: tuple[Condition, ...] = said(replace(_FILTER, hint="As in query_records; needs exactly one stream"), ())
    mode: Mode = said(
        Parameter(
            kind="choice",
            says="By words (`lexical`), by meaning (`semantic`), by both (`hybrid`), or by the best that this server "
            "has (`auto`).",
            hint="Default auto: the best there is",
            option="mode",
            help="By words (lexical), by meaning (semantic), by both (hybrid), or the best there is (auto).",
            choices=get_args(Mode),
            logged="plainly",
            is_bound=True,
        ),
        "auto",
    )
    lean: bool = False  # as evidence for a reader of few bytes: `limit` counts matches, what stands beside comes along
    brief: bool = False  # of a lean page: it may end before its limit, where hits get much weaker


@dataclass(frozen=True, slots=True)
class FetchQuery:
    stream: str
    key: str
    connection_id: str | None = said(replace(_CONNECTION, hint="Only for a short id stream:record_key"), None)
    fields: tuple[str, ...] | None = said(_FIELDS, None)
    connector_key: str | None = said(_CONNECTOR, None)
    expand: tuple[Expand, ...] = said(_EXPAND, ())


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """One window of one field, from `offset`, or around the first match of `q`."""

    stream: str
    key: str
    field: str = said(
        Parameter(
            tool="field_path",
            says="One top-level field.",
            hint="One top-level field",
            logged="plainly",
            logged_as="field",
            is_required=True,
        )
    )
    connection_id: str | None = said(replace(_CONNECTION, hint="With stream and record_id, instead of id"), None)
    offset: int = said(
        Parameter(
            kind="whole",
            name="offset_chars",
            says="Where the window starts, in Unicode code points.",
            hint="",
            option="offset",
            help="From that character on.",
            least=0,
            logged="plainly",
            logged_as="offset",
        ),
        0,
    )
    limit: int = said(
        Parameter(
            kind="limit",
            name="limit_chars",
            says="How long it is at the most.",
            hint=f"Default {WINDOW_CHARS}",
            option="limit",
            help="At most so many characters.",
            least=1,
            most=WINDOW_CHARS_MAX,
            logged="plainly",
            logged_as="limit",
        ),
        WINDOW_CHARS,
    )
    q: str | None = said(
        Parameter(
            says="Start at the first place where this stands, in any case; instead of offset_chars.",
            hint="Any case",
            option="q TEXT",
            help="From the first place that holds this text.",
            chars=QUERY_CHARS_MAX,
            logged="digest",
        ),
        None,
    )
    before: int = said(
        Parameter(
            kind="whole",
            name="before_chars",
            says="How much to show before that place.",
            hint="Only with q",
            least=0,
            most=CONTEXT_CHARS_MAX,
            goes_with=("q",),
        ),
        0,
    )
    clamped_from: int | None = None
    connector_key: str | None = said(_CONNECTOR, None)


@dataclass(frozen=True, slots=True)
class RecordsQuery:
    """A page of one stream, by its cursor field and key; with `changes_since` what changed since a bookmark; with
    `around`, the key of a record, that record and those right before and after it."""

    stream: str = said(replace(_STREAM, is_bound=True))
    connection_id: str | None = said(_CONNECTION, None)
    connector_key: str | None = said(_CONNECTOR, None)
    fields: tuple[str, ...] | None = said(_FIELDS, None)
    view: str | None = said(
        Parameter(
            says="A declared view instead of fields.",
            hint="A declared view, instead of fields",
            option="view NAME",
            logged="plainly",
        ),
        None,
    )
    conditions: tuple[Condition, ...] = said(_FILTER, ())
    expand: tuple[Expand, ...] = said(_EXPAND, ())
    sort: str | None = said(
        Parameter(
            kind="sort",
            says="The cursor field, or any field with a declared range; with a minus before it for descending.",
            hint="field or -field, where schema shows sort",
            option="sort [-]FIELD",
            help="By that field; with a minus before it from the last to the first.",
            logged="plainly",
            is_bound=True,
        ),
        None,
    )
    ascending: bool = said(
        Parameter(
            kind="order",
            name="order",
            says="By the cursor field: `desc` (newest first) unless told.",
            choices=("asc", "desc"),
            is_bound=True,
        ),
        False,
    )
    count: bool = said(
        Parameter(
            kind="flag",
            says="`exact` counts the whole visible, filtered set.",
            hint="",
            help="Say how many there are in all.",
            choices=("none", "estimated", "exact"),
            offered=("none", "exact"),
        ),
        False,
    )
    window: bool = said(
        Parameter(kind="flag", says="`exact` adds the total and its first and last time.", choices=("none", "exact")),
        False,
    )
    changes_since: str | None = said(
        Parameter(
            says="`beginning`, or a `next_changes_since`: what changed since then.",
            hint='"beginning" or next_changes_since; takes no filter, sort, count or expand',
            option="changes-since MARK",
            help="What changed since `beginning`, or since a kept mark.",
            logged="given",
            logged_as="changes",
        ),
        None,
    )
    limit: int = said(_limit(RECORDS_LIMIT_MAX, TOOL_LIMIT, f"; with around {AROUND_LIMIT}"), RECORDS_LIMIT)
    cursor: str | None = said(_CURSOR, None)
    around: str | None = said(
        Parameter(
            says="The key of a record: that one and those right before and after it in its talk, oldest first.",
            hint="An id: it and its neighbours, in its talk",
            option="around ID",
            help="That record and those right before and after it, in its talk.",
            logged="digest",
            is_bound=True,
        ),
        None,
    )


@dataclass(frozen=True, slots=True)
class AggregateQuery:
    stream: str = said(_STREAM)
    metric: Metric = said(
        Parameter(
            kind="choice",
            says="What to compute.",
            hint="",
            help="count (unless told), sum, min, max or count_distinct.",
            choices=get_args(Metric),
            logged="plainly",
            is_required=True,
        ),
        "count",
    )
    field: str | None = said(
        Parameter(
            kind="name",
            says="Of which field; for every metric but count, which counts records.",
            hint="For every metric but count",
            logged="plainly",
        ),
        None,
    )
    group_by: str | None = said(
        Parameter(
            kind="name",
            says="The number for each value of this field; the largest groups are given, of sums whatever their "
            "sign (of min the smallest).",
            hint="Number for each value, largest first",
            option="group-by FIELD",
            logged="plainly",
        ),
        None,
    )
    group_by_time: str | None = said(
        Parameter(
            kind="name",
            says="The number for each period, by this field; the most recent ones are given.",
            hint="Number for each period, the latest ones; needs granularity",
            option="group-by-time FIELD",
            logged="plainly",
        ),
        None,
    )
    granularity: Granularity | None = said(
        Parameter(
            kind="choice",
            says="The length of a period, with group_by_time; weeks start on Monday.",
            hint="",
            option="granularity PERIOD",
            help="minute, hour, day, week, month, quarter or year.",
            choices=get_args(Granularity),
            goes_with=("group_by_time",),
            logged="plainly",
        ),
        None,
    )
    time_zone: str = said(
        Parameter(
            says="Whose clock the periods follow: an IANA name; UTC unless told.",
            hint="IANA name, default UTC",
            option="time-zone ZONE",
            goes_with=("group_by_time",),
            logged="plainly",
        ),
        "UTC",
    )
    limit: int = said(
        Parameter(
            kind="whole",
            says="How many groups at the most; the records in the others are `other_count`.",
            hint=f"Groups, default {GROUPS_LIMIT}",
            help="At most so many groups.",
            least=1,
            most=GROUPS_LIMIT_MAX,
            goes_with=("group_by", "group_by_time"),
            logged="plainly",
        ),
        GROUPS_LIMIT,
    )
    conditions: tuple[Condition, ...] = said(replace(_FILTER, is_bound=False), ())
    connection_id: str | None = said(_CONNECTION, None)
    connector_key: str | None = said(_CONNECTOR, None)


@dataclass(frozen=True, slots=True)
class BlobQuery:
    """The whole blob, a part of it, or only what its headers say."""

    blob_id: str = said(Parameter(logged="digest"))  # a digest of content, and a log outlives what was erased
    connection_id: str | None = said(_CONNECTION, None)
    part: BlobPart | None = None
    headers_only: bool = said(Parameter(logged="plainly"), False)


# Reads that name one stream.
StreamRead = StreamMetadataQuery | FetchQuery | WindowQuery | RecordsQuery | AggregateQuery
Query = SchemaQuery | StreamsQuery | SearchQuery | BlobQuery | StreamRead
