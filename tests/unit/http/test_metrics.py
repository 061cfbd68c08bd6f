"""Counters and times in Prometheus text."""

from pdpp_server.http.metrics import BUCKETS_SECONDS, FRESH_MAX, STAGES, Histogram, Metrics, watch


def test_a_time_falls_into_the_first_bucket_that_holds_it() -> None:
    histogram = Histogram()

    for seconds in (BUCKETS_SECONDS[0], 0.0006, 99.0):
        histogram.add(seconds)

    assert [place for place, count in enumerate(histogram.counts) if count] == [0, 2, len(BUCKETS_SECONDS)]
    assert histogram.sum == BUCKETS_SECONDS[0] + 0.0006 + 99.0


def test_requests_are_counted_by_operation_and_code_and_refusals_once_more() -> None:
    metrics = Metrics()
    metrics.add("search", "ok", {"total": 0.002})
    metrics.add("search", "ok", {"total": 0.002})
    metrics.add("search", "not_found", {})

    lines = metrics.text().splitlines()

    assert 'pdpp_requests_total{operation="search",code="ok"} 2' in lines
    assert 'pdpp_requests_total{operation="search",code="not_found"} 1' in lines
    assert "pdpp_rejected_total 1" in lines
    assert 'pdpp_stage_seconds_bucket{operation="search",stage="total",le="+Inf"} 2' in lines


def test_stages_are_noted_only_for_whoever_asked_to_know() -> None:
    watch("req_1", "fetch", {"read": 1.0})
    assert STAGES.get() is None
    token = STAGES.set({})
    try:
        watch("req_1", "fetch", {"read": 1.0})
        watch("req_1", "fetch", {"log": 2.0})
        assert STAGES.get() == {"read": 1.0, "log": 2.0}
    finally:
        STAGES.reset(token)


def test_of_several_owners_each_is_counted_by_number_and_forgotten_with_them() -> None:
    metrics = Metrics()
    for number, seconds in ((7, 0.5), (7, 0.25), (12, 1.0)):
        metrics.of_owner(number).add("search", "ok", {"total": seconds})

    lines = metrics.of_owner(7).text().splitlines()
    metrics.forget_owner(7)

    assert 'pdpp_requests_total{operation="search",code="ok"} 3' in lines
    assert 'pdpp_owner_requests_total{owner="7"} 2' in lines
    assert 'pdpp_owner_seconds_total{owner="7"} 0.750000' in lines
    assert 'pdpp_owner_requests_total{owner="12"} 1' in lines
    assert 'owner="7"' not in metrics.text()


def test_where_there_is_one_owner_none_is_numbered() -> None:
    metrics = Metrics()
    metrics.add("search", "ok", {"total": 0.5})

    assert "owner" not in metrics.text()


def test_times_are_the_same_however_many_wait_to_be_sorted() -> None:
    metrics = Metrics()
    for number in range(2 * FRESH_MAX + 1):
        metrics.add("search", "ok", {"total": number / 1000})

    lines = metrics.text().splitlines()

    assert lines == metrics.text().splitlines()
    assert f'pdpp_stage_seconds_bucket{{operation="search",stage="total",le="0.1"}} {FRESH_MAX + 1}' in lines
    assert f'pdpp_stage_seconds_count{{operation="search",stage="total"}} {2 * FRESH_MAX + 1}' in lines
