"""GET /v1/streams/{stream}/aggregate."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.settings import Settings
from tests.engine.beneath import lines_in
from tests.requirements import requirement
from tests.worlds.ledger import CURRENT, LONG_NAME, RECORDS, SAVINGS, Ledger, booking

HOUR = "metric=count&group_by_time=booked_at&granularity=hour&time_zone=Europe/Zurich"
MONTH = "metric=count&group_by_time=booked_at&granularity=month&time_zone=Europe/Zurich"


class Teller:
    """Asks for aggregations of the bookings over HTTP."""

    def __init__(self, ledger: Ledger, **settings: Any) -> None:
        self.ledger = ledger
        app = create_app(Settings(home=ledger.home, **settings), ledger.services)
        self.client = TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000))

    def ask(self, query: str, token: str | None = None, stream: str = "bookings") -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {token or self.ledger.token}"}
        response = self.client.get(f"/v1/streams/{stream}/aggregate?{query}", headers=headers)
        return response.status_code, response.json()

    def body(self, query: str, token: str | None = None) -> dict[str, Any]:
        status, body = self.ask(query, token)
        assert status == 200, body
        return body

    def value(self, query: str, token: str | None = None) -> object:
        return self.body(query, token)["value"]

    def groups(self, query: str, token: str | None = None) -> list[tuple[object, int]]:
        return [(group["key"], group["count"]) for group in self.body(query, token)["groups"]]

    def refusal(self, query: str, **of: Any) -> tuple[int, str, str | None]:
        status, body = self.ask(query, **of)
        return status, body["error"]["code"], body["error"].get("param")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "home")
    yield ledger
    ledger.close()


@pytest.fixture
def teller(ledger: Ledger) -> Iterator[Teller]:
    teller = Teller(ledger)
    with teller.client:
        yield teller


@requirement("rs.aggregate.metrics")
@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("metric=count", 7),
        ("metric=sum&field=amount", 1006.1),
        ("metric=sum&field=cents", 60),
        ("metric=min&field=amount", -2),
        ("metric=max&field=cents", 200),
        ("metric=min&field=booked_at", "2025-01-01T00:00:00.000001Z"),
        ("metric=max&field=booked_at", "2026-11-01T12:00:00.000Z"),
        ("metric=max&field=value_day", "2026-11-01"),
        ("metric=count_distinct&field=currency", 3),
        ("metric=count_distinct&field=card", 2),
    ],
)
def test_a_metric_is_computed_over_the_values_that_there_are(teller: Teller, query: str, value: object) -> None:
    body = teller.body(query)

    assert (body["value"], body["filtered_record_count"], body["approximate"]) == (value, 7, False)


@requirement("rs.aggregate.empty")
def test_of_nothing_a_count_and_a_sum_are_0_and_an_extreme_is_null(teller: Teller) -> None:
    nothing = teller.ledger.grant(time_range={"until": "1990-01-01T00:00:00Z"})

    assert teller.value("metric=count", nothing) == 0
    assert teller.value("metric=sum&field=amount", nothing) == 0
    assert teller.value("metric=count_distinct&field=shop", nothing) == 0
    assert teller.value("metric=min&field=amount", nothing) is None
    assert teller.value("metric=max&field=booked_at", nothing) is None
    assert teller.body("metric=count&group_by=currency", nothing)["groups"] == []
    assert teller.body(MONTH, nothing)["other_count"] == 0


@requirement("rs.aggregate.declared-only")
@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("metric=sum&field=currency", (400, "invalid_request", "field")),
        ("metric=count_distinct&field=amount", (400, "invalid_request", "field")),
        ("metric=max&field=lines", (400, "invalid_request", "field")),
        ("metric=count&group_by=cents", (400, "invalid_request", "group_by")),
        ("metric=count&group_by=lines", (400, "invalid_request", "group_by")),
        ("metric=count&group_by_time=currency&granularity=day", (400, "invalid_request", "group_by_time")),
        ("metric=count&group_by=nothing", (400, "unknown_field", "group_by")),
        ("metric=sum&field=nothing", (400, "unknown_field", "field")),
        ("metric=count_distinct&field=secret", (403, "field_not_granted", "field")),
        ("metric=count&filter[secret]=zebra", (403, "field_not_granted", "filter")),
        ("metric=count&filter[lines]=x", (400, "invalid_filter", "filter")),
        ("metric=count&filter[cents][gte]=1", (400, "invalid_filter", "filter")),
        ("metric=count&connection_id=cin_x", (404, "connection_not_found", "connection_id")),
        ("metric=count&connector_id=chat", (400, "connector_invalid", "connector_id")),
    ],
)
def test_what_is_not_declared_or_not_granted_is_refused_by_name(
    teller: Teller, query: str, refusal: tuple[int, str, str]
) -> None:
    assert teller.refusal(query) == refusal


@requirement("rs.aggregate.declared-only")
def test_a_stream_that_declares_no_count_is_not_counted(teller: Teller) -> None:
    assert teller.refusal("metric=count", stream="notes") == (400, "invalid_request", "metric")
    assert teller.refusal("metric=count", stream="wishes") == (403, "grant_stream_not_allowed", "stream")


@requirement("rs.aggregate.strict", "rs.parameters.unknown-refused")
@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("", "metric"),
        ("metric=avg&field=amount", "metric"),
        ("metric=count&field=amount", "field"),
        ("metric=sum", "field"),
        ("metric=count&group_by=currency&group_by_time=booked_at&granularity=day", "group_by_time"),
        ("metric=count&group_by_time=booked_at", "granularity"),
        ("metric=count&group_by=currency&time_zone=UTC", "time_zone"),
        (f"{MONTH}x", "time_zone"),
        ("metric=count&sort=key", "sort"),
        ("metric=count&metric=count", "metric"),
    ],
)
def test_a_bad_parameter_is_refused_by_name(teller: Teller, query: str, param: str) -> None:
    assert teller.refusal(query) == (400, "invalid_request", param)


@requirement("rs.aggregate.groups")
def test_groups_come_by_count_then_key_and_say_how_many_records_were_left_out(teller: Teller) -> None:
    assert teller.groups("metric=count&group_by=currency") == [("EUR", 3), ("CHF", 2), ("USD", 1), (None, 1)]

    body = teller.body("metric=count&group_by=currency&limit=2")
    assert [group["key"] for group in body["groups"]] == ["EUR", "CHF"]
    assert (body["limit"], body["other_count"], body["filtered_record_count"]) == (2, 2, 7)


@requirement("rs.aggregate.typed-keys")
def test_a_key_is_a_value_of_its_field(teller: Teller) -> None:
    assert orjson.dumps(teller.groups("metric=count&group_by=card")) == b"[[null,4],[true,2],[false,1]]"
    assert teller.groups("metric=count&group_by=value_day&limit=1") == [("2026-10-26", 2)]
    assert teller.groups("metric=count&group_by=booked_at&limit=1") == [("2025-01-01T00:00:00.000001Z", 1)]
    assert orjson.dumps(teller.groups("metric=count&group_by=amount&limit=2")) == b"[[-2,1],[0.1,1]]"


@requirement("rs.aggregate.typed-keys")
def test_long_texts_that_begin_alike_are_told_apart(teller: Teller) -> None:
    bern, basel = LONG_NAME + "in Bern", LONG_NAME + "in Basel"

    assert teller.groups("metric=count&group_by=shop") == [(None, 3), (bern, 2), ("Kiosk", 1), (basel, 1)]
    assert teller.value("metric=count_distinct&field=shop") == 3


@requirement("rs.aggregate.time-buckets")
def test_months_are_those_of_the_asked_zone(teller: Teller) -> None:
    body = teller.body(MONTH)

    assert body["groups"] == [
        {"key": "2025-01-01", "count": 1, "start": "2025-01-01T00:00:00+01:00"},
        {"key": "2026-09-01", "count": 1, "start": "2026-09-01T00:00:00+02:00"},
        {"key": "2026-10-01", "count": 3, "start": "2026-10-01T00:00:00+02:00"},
        {"key": "2026-11-01", "count": 1, "start": "2026-11-01T00:00:00+01:00"},
        {"key": None, "count": 1},
    ]
    assert (body["granularity"], body["time_zone"], body["other_count"]) == ("month", "Europe/Zurich", 0)


@requirement("rs.aggregate.time-buckets")
def test_an_hour_that_comes_twice_is_two_buckets(teller: Teller) -> None:
    night = [group for group in teller.body(HOUR)["groups"] if group["key"] == "2026-10-25T02:00"]

    assert night == [
        {"key": "2026-10-25T02:00", "count": 1, "start": "2026-10-25T02:00:00+02:00"},
        {"key": "2026-10-25T02:00", "count": 1, "start": "2026-10-25T02:00:00+01:00"},
    ]


@requirement("rs.aggregate.time-buckets")
def test_the_most_recent_buckets_are_kept(teller: Teller) -> None:
    body = teller.body(f"{MONTH}&limit=2")

    assert [group["key"] for group in body["groups"]] == ["2026-10-01", "2026-11-01"]
    assert body["other_count"] == 3


@requirement("rs.aggregate.calendar-days")
@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_a_date_without_a_time_is_that_day_in_every_zone(teller: Teller, zone: str) -> None:
    by_day = f"metric=count&group_by_time=value_day&granularity=day&time_zone={zone}&limit=2"

    assert teller.groups(by_day) == [("2026-10-26", 2), ("2026-11-01", 1)]


@requirement("rs.aggregate.limit")
def test_10_groups_are_given_unless_told_and_100_at_the_most(teller: Teller) -> None:
    teller.ledger.deliver(SAVINGS, [booking(f"x{n}", currency=f"X{n:03}") for n in range(120)])

    assert len(teller.groups("metric=count&group_by=currency")) == 10
    assert len(teller.groups("metric=count&group_by=currency&limit=100")) == 100
    for limit in ("0", "101", "-1", "many"):
        assert teller.refusal(f"metric=count&group_by=currency&limit={limit}") == (400, "invalid_request", "limit")
    assert teller.refusal("metric=count&limit=10") == (400, "invalid_request", "limit")


@requirement("rs.aggregate.fan-in")
def test_a_group_that_is_small_in_each_account_can_be_the_largest_of_all(teller: Teller) -> None:
    ledger = teller.ledger
    ledger.deliver(CURRENT, [booking(f"n{n}", currency=c) for n, c in enumerate(["NOK"] * 3 + ["GBP"] * 4)])
    ledger.deliver(SAVINGS, [booking(f"n{n}", currency=c) for n, c in enumerate(["NOK"] * 3 + ["SEK"] * 4)])

    body = teller.body("metric=count&group_by=currency&limit=1")
    assert (body["groups"], body["other_count"]) == ([{"key": "NOK", "count": 6}], 15)


@requirement("rs.aggregate.fan-in", "rs.enforcement.connection-narrows")
def test_distinct_values_are_counted_over_all_accounts_or_in_the_one_named(teller: Teller) -> None:
    ledger = teller.ledger

    assert teller.value("metric=count_distinct&field=currency") == 3
    assert teller.value(f"metric=count_distinct&field=currency&connection_id={ledger.current}") == 2
    assert teller.value(f"metric=count_distinct&field=currency&connection_id={ledger.savings}") == 2
    warnings = teller.body(f"metric=count&connector_instance_id={ledger.savings}")["meta"]["warnings"]
    assert [warned["code"] for warned in warnings] == ["deprecated_alias_used"]


@requirement("rs.aggregate.filtered")
def test_filters_narrow_what_is_counted(teller: Teller) -> None:
    body = teller.body("metric=sum&field=cents&filter[currency]=EUR&filter[amount][gte]=0")

    assert (body["value"], body["filtered_record_count"]) == (230, 2)
    assert teller.groups(f"{MONTH}&filter[amount][lt]=0.25") == [("2026-09-01", 1), ("2026-10-01", 2)]
    assert teller.groups("metric=count&group_by=card&filter[booked_at][gte]=2026-10-01") == [(None, 2), (True, 1)]


@requirement("rs.aggregate.filtered")
def test_core_alone_takes_no_filter_from_clients(ledger: Ledger) -> None:
    strict = Teller(ledger, core_strict=True)
    with strict.client:
        assert strict.refusal("metric=count&filter[currency]=EUR") == (400, "invalid_request", "filter")
        assert strict.value("metric=count") == 7


@requirement("rs.aggregate.grouped-numbers")
def test_a_number_for_each_value_comes_from_the_largest_on(teller: Teller) -> None:
    body = teller.body("metric=sum&field=amount&group_by=currency&limit=2")

    assert body["groups"] == [{"key": "USD", "value": 1000, "count": 1}, {"key": None, "value": 5.5, "count": 1}]
    assert (body["groups_kept"], body["other_count"], body["other_value"]) == ("largest", 5, 0.6)
    least = teller.body("metric=min&field=cents&group_by=currency")
    assert [(group["key"], group["value"]) for group in least["groups"]] == [
        ("EUR", -200), ("CHF", 10), ("USD", None), (None, None)
    ]  # fmt: skip
    assert "other_value" not in least
    spent = teller.body("metric=sum&field=cents&group_by=currency&filter[booked_at][lt]=2026-10-26")
    assert [(group["key"], group["value"]) for group in spent["groups"]][:2] == [("EUR", -170), ("CHF", 30)]
    latest = teller.body("metric=max&field=booked_at&group_by=card")
    assert [group["value"] for group in latest["groups"]] == [
        "2026-11-01T12:00:00.000Z", "2026-10-25T00:30:00.000Z", "2026-09-30T22:00:00.000Z"
    ]  # fmt: skip


@requirement("rs.aggregate.grouped-numbers")
def test_spending_by_month_is_one_question(teller: Teller) -> None:
    body = teller.body("metric=sum&field=amount&group_by_time=value_day&granularity=month&limit=3")

    assert [(group["key"], group["value"], group["count"]) for group in body["groups"]] == [
        ("2026-09-01", 0.1, 1), ("2026-10-01", -1.5, 3), ("2026-11-01", 2, 1)
    ]  # fmt: skip
    assert (body["other_count"], body["other_value"]) == (2, 1005.5)


@requirement("rs.aggregate.exact-sums")
def test_a_sum_is_that_of_the_numbers_as_they_are_written(teller: Teller) -> None:
    teller.ledger.deliver(CURRENT, [booking(f"p{n}", "2026-07-01T00:00:00Z", amount=0.1) for n in range(3)])

    assert teller.value("metric=sum&field=amount&filter[booked_at][lt]=2026-08-01&filter[amount][lt]=1") == 0.3


@requirement("rs.aggregate.grouped-numbers")
def test_core_alone_gives_clients_no_number_for_each_group(ledger: Ledger) -> None:
    strict = Teller(ledger, core_strict=True)
    with strict.client:
        by_value, by_month = "group_by=currency", "group_by_time=booked_at&granularity=month"
        assert strict.refusal(f"metric=sum&field=amount&{by_value}") == (400, "invalid_request", "group_by")
        assert strict.refusal(f"metric=max&field=amount&{by_month}") == (400, "invalid_request", "group_by_time")
        assert strict.body(f"metric=count&{by_month}")["groups"]
        assert strict.body(f"metric=sum&field=amount&{by_value}", ledger.owner.owner_token(days=30)[0])["groups"]


@requirement("rs.aggregate.hidden")
@pytest.mark.parametrize(
    "narrowing",
    [{"time_range": {"since": "2026-09-30T22:00:00Z", "until": "2026-10-25T01:00:00Z"}}, {"resources": ["b2", "b3"]}],
    ids=["time", "resources"],
)
def test_hidden_records_change_no_number(tmp_path: Path, narrowing: dict[str, Any]) -> None:
    inside = {"b2", "b3"} if "resources" in narrowing else {"b2 of Current account", "b3 of Current account"}
    kept = {
        name: [record for record in RECORDS[name] if {record.data["id"], f"{record.data['id']} of {name}"} & inside]  # pyright: ignore[reportOptionalSubscript]
        for name in RECORDS
    }
    queries = [
        "metric=count",
        "metric=sum&field=amount",
        "metric=max&field=booked_at",
        "metric=count_distinct&field=currency",
        "metric=count&group_by=shop",
        "metric=count&filter[amount][gte]=0",
        MONTH,
        HOUR,
    ]
    answers: list[list[dict[str, Any]]] = []
    for home, records in (("all", RECORDS), ("kept", kept)):
        ledger = Ledger(tmp_path / home, records)
        teller = Teller(ledger)
        with teller.client:
            token = ledger.grant(**narrowing)
            answers.append([teller.body(query, token) for query in queries])
        ledger.close()

    assert answers[0] == answers[1]
    assert answers[0][0]["value"] == sum(map(len, kept.values())) > 0


@requirement("rs.aggregate.logged")
def test_the_log_says_which_fields_were_counted_by_and_not_what_was_looked_for(teller: Teller) -> None:
    teller.body("metric=count&group_by=currency&filter[shop]=Walrus+Kiosk")
    written = lines_in(teller.ledger.home)[-1]
    line = written.content

    assert (line["operation"], line["streams"], line["fields"]) == ("aggregate", ["bookings"], ["currency"])
    assert sorted(line["connections"]) == sorted([teller.ledger.current, teller.ledger.savings])
    assert line["records"] == []
    assert line["query"]["group_by"] == "currency"
    assert [field for field, _, _ in line["query"]["filter"]] == ["shop"], "what was compared belongs to the question"
    assert b"Walrus" not in written.raw
