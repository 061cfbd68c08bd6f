"""Aggregations: query string and answer."""

from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from pdpp_server.errors import InvalidRequest, SourceUnavailable
from pdpp_server.model.aggregates import Aggregation, Group, Kept, Scalar
from pdpp_server.model.buckets import zone_of
from pdpp_server.model.queries import GROUPS_LIMIT, GROUPS_LIMIT_MAX, AggregateQuery, Granularity, Metric
from pdpp_server.model.records import Warned
from pdpp_server.wire.envelope import Json, decode_warnings, finish, listed, present, text_of, url, whole_of
from pdpp_server.wire.filters import FILTER, decode_filter, encode_filter
from pdpp_server.wire.params import SELECTORS, Parameter, Params

_LIMIT = {"type": "integer", "minimum": 1, "maximum": GROUPS_LIMIT_MAX, "default": GROUPS_LIMIT}
PARAMETERS = (
    Parameter("metric", "What to compute.", {"type": "string", "enum": list(get_args(Metric))}, required=True),
    Parameter("field", "Of which field; for every metric but count, which counts records."),
    Parameter("group_by", "Count the records of each value of this field; the largest groups are given."),
    Parameter("group_by_time", "Count the records of each period, by this field; the most recent ones are given."),
    Parameter(
        "granularity",
        "The length of a period, with group_by_time; weeks start on Monday.",
        {"type": "string", "enum": list(get_args(Granularity))},
    ),
    Parameter("time_zone", "Whose clock the periods follow: an IANA name; UTC unless told."),
    Parameter("limit", "How many groups at the most; the records in the others are `other_count`.", _LIMIT),
    FILTER,
    *SELECTORS,
)


def encode_query(query: AggregateQuery) -> str:
    grouped = query.group_by is not None or query.group_by_time is not None
    return url(
        "streams",
        query.stream,
        "aggregate",
        metric=query.metric,
        field=query.field,
        group_by=query.group_by,
        group_by_time=query.group_by_time,
        granularity=query.granularity,
        time_zone=query.time_zone if query.group_by_time is not None else None,
        limit=query.limit if grouped else None,
        connection_id=query.connection_id,
        connector_id=query.connector_key,
        **encode_filter(query.conditions),
    )


def decode_query(params: Params, *, stream: str) -> AggregateQuery:
    params.only(*PARAMETERS)
    metric = _one_of(params, "metric", get_args(Metric))
    if metric is None:
        raise InvalidRequest(f"metric is needed: {', '.join(get_args(Metric))}.", param="metric")
    field, group_by, group_by_time = (_name(params, name) for name in ("field", "group_by", "group_by_time"))
    _check_metric(metric, field, group_by, group_by_time)
    return AggregateQuery(
        stream,
        cast("Metric", metric),
        field,
        group_by,
        group_by_time,
        _granularity(params, group_by_time),
        _time_zone(params, group_by_time),
        _limit(params, grouped=group_by is not None or group_by_time is not None),
        decode_filter(params),
        params.connection_id(),
        params.connector_key(),
    )


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
    if aggregation.groups is None:
        body["value"] = aggregation.value
    else:
        body["groups"] = [_encode_group(group) for group in aggregation.groups]
        body |= {"limit": query.limit, **present(groups_kept=aggregation.kept), "other_count": aggregation.other_count}
    return finish(body, links_self, (*warnings, *aggregation.warnings))


def decode(body: Mapping[str, Any], query: AggregateQuery) -> Aggregation:
    """The answer to `query`, which the body repeats in part."""
    records = whole_of(body, "filtered_record_count")
    if records is None:
        raise SourceUnavailable("The server's aggregation does not say how many records it covers.")
    warnings = decode_warnings(body)
    if query.group_by is None and query.group_by_time is None:
        return Aggregation(query, records, _scalar(body.get("value")), warnings=warnings)
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
    )


def _others(body: Mapping[str, Any], records: int, groups: tuple[Group, ...]) -> int:
    """How many records are in no group here: not all servers say it, but each record is in one group."""
    proven = records - sum(group.count for group in groups)
    return max(proven, whole_of(body, "other_count") or 0, 0)


def _encode_group(group: Group) -> Json:
    counted: Json = {"key": group.key, "count": group.count}
    return counted if group.start is None else {**counted, "start": group.start}


def _decode_group(group: Mapping[str, Any]) -> Group:
    count = whole_of(group, "count")
    if count is None:
        raise SourceUnavailable("A group in the server's aggregation has no count.")
    return Group(_scalar(group.get("key")), count, text_of(group, "start"))


def _scalar(value: object) -> Scalar | None:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise SourceUnavailable("A value in the server's aggregation is no single value.")


# Parameters -------------------------------------------------------------------------------------------------------


def _check_metric(metric: str, field: str | None, group_by: str | None, group_by_time: str | None) -> None:
    if metric == "count" and field is not None:
        raise InvalidRequest("count counts records and takes no field.", param="field")
    if metric != "count" and field is None:
        raise InvalidRequest(f"{metric} needs a field.", param="field")
    if group_by is not None and group_by_time is not None:
        raise InvalidRequest("group_by and group_by_time exclude each other.", param="group_by_time")
    for param, name in (("group_by", group_by), ("group_by_time", group_by_time)):
        if name is not None and metric != "count":
            raise InvalidRequest(f"{param} goes with count only.", param=param)


def _granularity(params: Params, group_by_time: str | None) -> Granularity | None:
    granularity = _one_of(params, "granularity", get_args(Granularity))
    if granularity is None and group_by_time is not None:
        known = ", ".join(get_args(Granularity))
        raise InvalidRequest(f"group_by_time needs a granularity: {known}.", param="granularity")
    if granularity is not None and group_by_time is None:
        raise InvalidRequest("granularity goes with group_by_time only.", param="granularity")
    return cast("Granularity | None", granularity)


def _time_zone(params: Params, group_by_time: str | None) -> str:
    named = params.text("time_zone")
    if named is None:
        return "UTC"
    if group_by_time is None:
        raise InvalidRequest("time_zone goes with group_by_time only.", param="time_zone")
    if zone_of(named) is None:
        raise InvalidRequest(
            "time_zone is no zone that is known here.", param="time_zone", remedy="Use an IANA name, as Europe/Zurich."
        )
    return named


def _limit(params: Params, *, grouped: bool) -> int:
    limit = params.integer("limit")
    if limit is None:
        return GROUPS_LIMIT
    if not grouped:
        raise InvalidRequest("limit goes with group_by or group_by_time only.", param="limit")
    if not 1 <= limit <= GROUPS_LIMIT_MAX:
        raise InvalidRequest(f"limit must be from 1 to {GROUPS_LIMIT_MAX}.", param="limit")
    return limit


def _name(params: Params, param: str) -> str | None:
    name = params.text(param)
    if name == "":
        raise InvalidRequest(f"{param} must name a field.", param=param)
    return name


def _one_of(params: Params, param: str, known: tuple[str, ...]) -> str | None:
    value = params.text(param)
    if value is not None and value not in known:
        raise InvalidRequest(f"{param} must be one of {', '.join(known)}.", param=param)
    return value
