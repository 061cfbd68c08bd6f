"""Aggregations: query string and answer."""

from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.model.aggregates import Aggregation, Currency, Group, Kept, Scalar
from pdpp_server.model.buckets import zone_of
from pdpp_server.model.queries import AggregateQuery, Granularity, Metric
from pdpp_server.model.records import Warned
from pdpp_server.wire import queries
from pdpp_server.wire.envelope import Json, decode_warnings, finish, listed, present, text_of, url, whole_of
from pdpp_server.wire.params import Params

PARAMETERS = queries.rows(AggregateQuery)


def encode_query(query: AggregateQuery) -> str:
    return url("streams", query.stream, "aggregate", **queries.encode(query))


def decode_query(params: Params, *, stream: str) -> AggregateQuery:
    query = queries.decode(AggregateQuery, params, stream=stream)
    if not params.has("metric"):
        raise InvalidRequest(f"metric is needed: {', '.join(get_args(Metric))}.", param="metric")
    _check_metric(query)
    queries.require_company(query, params)
    _check_periods(query)
    return query


def encode(aggregation: Aggregation, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    query = aggregation.query
    body: Json = {
        "object": "aggregation",
        "stream": query.stream,
        "metric": query.metric,
        "field": query.field,
        "group_by": query.group_by,
        "group_by_time": query.group_by_time,
        "granularity": query.granularity,
        "time_zone": query.time_zone if query.group_by_time is not None else None,
        "filtered_record_count": aggregation.records,
        "approximate": False,
    }
    if aggregation.currency:
        body |= {"currency": aggregation.currency.name, "currency_field": aggregation.currency.field}
    if aggregation.groups is None:
        body["value"] = aggregation.value
    else:
        has_value = query.metric != "count"
        body["groups"] = [_encode_group(group, has_value=has_value) for group in aggregation.groups]
        body |= {"limit": query.limit, **present(groups_kept=aggregation.kept), "other_count": aggregation.other_count}
        body |= present(other_value=aggregation.other_value)
    return finish(body, links_self, (*warnings, *aggregation.warnings))


def decode(body: Mapping[str, Any], query: AggregateQuery) -> Aggregation:
    """The answer to `query`, which the body repeats in part."""
    records = whole_of(body, "filtered_record_count")
    if records is None:
        raise SourceUnavailable("The server's aggregation does not say how many records it covers.")
    warnings, currency = decode_warnings(body), _currency(body)
    if query.group_by is None and query.group_by_time is None:
        return Aggregation(query, records, _scalar(body.get("value")), warnings=warnings, currency=currency)
    groups = tuple(_decode_group(group) for group in listed(body, "groups"))
    kept = text_of(body, "groups_kept")
    return Aggregation(
        query,
        records,
        None,
        groups,
        _others(body, records, groups),
        cast("Kept", kept) if kept in get_args(Kept) else None,
        warnings,
        _number(body.get("other_value")),
        currency,
    )


def _currency(body: Mapping[str, Any]) -> Currency | None:
    field = text_of(body, "currency_field")
    return Currency(field, text_of(body, "currency")) if field else None


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _others(body: Mapping[str, Any], records: int, groups: tuple[Group, ...]) -> int:
    """How many records are in no group here: not all servers say it, but each record is in one group."""
    proven = records - sum(group.count for group in groups)
    return max(proven, whole_of(body, "other_count") or 0, 0)


def _encode_group(group: Group, *, has_value: bool) -> Json:
    valued = {"value": group.value} if has_value else {}
    return {"key": group.key, **valued, "count": group.count, **present(start=group.start, currency=group.currency)}


def _decode_group(group: Mapping[str, Any]) -> Group:
    count = whole_of(group, "count")
    if count is None:
        raise SourceUnavailable("A group in the server's aggregation has no count.")
    key, value = _scalar(group.get("key")), _scalar(group.get("value"))
    return Group(key, count, text_of(group, "start"), value, text_of(group, "currency"))


def _scalar(value: object) -> Scalar | None:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise SourceUnavailable("A value in the server's aggregation is no single value.")


# What goes together -----------------------------------------------------------------------------------------------


def _check_metric(query: AggregateQuery) -> None:
    if query.metric == "count" and query.field is not None:
        raise InvalidRequest("count counts records and takes no field.", param="field")
    if query.metric != "count" and query.field is None:
        raise InvalidRequest(f"{query.metric} needs a field.", param="field")
    if query.group_by is not None and query.group_by_time is not None:
        raise InvalidRequest(
            "group_by and group_by_time exclude each other.",
            param="group_by_time",
            remedy="Group by one, and filter on a value of the other.",
        )


def _check_periods(query: AggregateQuery) -> None:
    if query.group_by_time is None:
        return
    if query.granularity is None:
        known = ", ".join(get_args(Granularity))
        raise InvalidRequest(f"group_by_time needs a granularity: {known}.", param="granularity")
    if zone_of(query.time_zone) is None:
        raise InvalidRequest(
            "time_zone is no zone that is known here.", param="time_zone", remedy="Use an IANA name, as Europe/Zurich."
        )
