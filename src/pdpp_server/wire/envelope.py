"""What all answers share: links, meta and warnings; and the careful reading of a stranger's JSON."""

from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, quote, urlencode

from pdpp_server.errors import SourceUnavailable
from pdpp_server.model.catalogue import MissingConnection
from pdpp_server.model.records import Warned
from pdpp_server.model.times import TIME_CHARS

Json = dict[str, Any]
VERSION = "2026-04-06"  # of the protocol, as the header PDPP-Version says it
NO_COUNT: Mapping[str, str] = {"kind": "none"}
SKIPPED, SKIPPED_LISTED = "source_skipped_not_applicable", 12


def finish(body: Json, links_self: str, warnings: Iterable[Warned] = ()) -> Json:
    """Add the links and meta that every single object ends with."""
    said = tuple(warnings)
    meta: Json = {"count": dict(NO_COUNT)}
    if is_partial(said):
        meta["partial"] = True
    meta["warnings"] = encode_warnings(said)
    return {**body, "links": {"self": links_self}, "meta": meta}


def limit_clamped(param: str, asked: int, most: int) -> Warned:
    detail = {"requested_limit": asked, "max_limit": most}
    return Warned("limit_clamped", f"{param} was lowered from {asked} to {most}.", param=param, detail=detail)


def sources_skipped(missing: tuple[MissingConnection, ...]) -> tuple[Warned, ...]:
    """What makes an answer over several sources a partial one."""
    if not missing:
        return ()
    first = missing[0]
    others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    message = f"Removed by the owner, so nothing of it is here: {first.connection_id} of {first.connector_key}{others}."
    detail = {"sources": encode_missing(missing), "total": len(missing)}
    return (Warned(SKIPPED, message, detail=detail),)


def prefixes_too_short(words: tuple[str, ...]) -> tuple[Warned, ...]:
    """Of what was asked for as a prefix and looked for as a word; named where the name is plain."""
    if not words:
        return ()
    named = f"{len(words)} prefixes were"
    if len(words) == 1 and _is_plain(words[0]):
        named = f"{words[0]} was"
    message = f"{named} looked for as a whole word: a prefix needs three letters, not counting an ending."
    return (Warned("prefix_too_short", message, "q", {"prefixes": len(words)}),)


def _is_plain(prefix: str) -> bool:
    return len(prefix) <= 40 and prefix.isascii() and prefix.rstrip("*").isalnum()


def meaning_missing(waiting: int | None, *, is_damaged: bool) -> tuple[Warned, ...]:
    """Of what was to be looked for by its meaning and could not be; words count meanwhile."""
    if is_damaged:
        message = "Only words were looked for: the model for search by meaning is damaged."
        return (Warned("meaning_unavailable", message, "mode"),)
    if not waiting:
        return ()
    named = "1 record is" if waiting == 1 else f"{waiting} records are"
    message = f"{named} not indexed by meaning yet; until then only words find what is new."
    return (Warned("meaning_behind", message, "mode", {"waiting": waiting}),)


def is_partial(warnings: Iterable[Warned]) -> bool | None:
    """True, or nothing to say."""
    return any(warned.code == SKIPPED for warned in warnings) or None


def encode_missing(missing: tuple[MissingConnection, ...]) -> list[Json]:
    return [
        present(source=each.connector_key, connection_id=each.connection_id, grant_id=each.grant_id)
        for each in missing[:SKIPPED_LISTED]
    ]


def encode_warnings(warnings: Iterable[Warned]) -> list[Json]:
    """Each remark once, whoever made it."""
    unique = {(warned.code, warned.param): warned for warned in warnings}
    return [
        present(code=warned.code, message=warned.message, param=warned.param, detail=warned.detail)
        for warned in unique.values()
    ]


def decode_warnings(body: Mapping[str, Any]) -> tuple[Warned, ...]:
    meta = object_of(body, "meta")
    return tuple(_decode_warning(warned) for warned in objects_of(meta, "warnings"))


def _decode_warning(body: Mapping[str, Any]) -> Warned:
    return Warned(
        text_of(body, "code") or "compatibility_fallback",
        text_of(body, "message") or "",
        param=text_of(body, "param"),
        detail=object_of(body, "detail") or None,
    )


def present(**members: Any) -> Json:
    """The members that are not None, in the order given."""
    return {name: value for name, value in members.items() if value is not None}


def url(*segments: str, **parameters: str | int | tuple[str, ...] | None) -> str:
    """A relative address under /v1; a tuple is a repeated parameter."""
    path = "/v1/" + "/".join(quote(segment, safe="") for segment in segments)
    query = urlencode(present(**parameters), doseq=True)
    return f"{path}?{query}" if query else path


def next_link(links_self: str, cursor: str | None) -> str | None:
    """The same request from that cursor on. A feed goes on by its cursor alone: its bookmark would start it anew."""
    if cursor is None:
        return None
    path, _, query = links_self.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [pair for pair in pairs if pair[0] not in ("cursor", "changes_since")]
    return f"{path}?{urlencode([*kept, ('cursor', cursor)])}"


# A foreign server's body ------------------------------------------------------------------------------------------


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def object_of(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object under a name; an empty one where there is none."""
    value = body.get(name)
    return cast("Mapping[str, Any]", value) if is_object(value) else {}


def objects_of(body: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], ...]:
    objects = [item for item in _list_of(body, name) if is_object(item)]
    return tuple(cast("list[Mapping[str, Any]]", objects))


def _list_of(body: Mapping[str, Any], name: str) -> list[Any]:
    """The list under a name; an empty one where there is none."""
    value = body.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else []


def listed(body: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list that an answer must have: without it, it would not be an empty answer but none."""
    found = objects_of(body, name)
    if not isinstance(body.get(name), list) or len(found) < len(_list_of(body, name)):
        raise SourceUnavailable(f"The server's answer has no list of objects called {name}.")
    return found


def texts_of(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(item for item in _list_of(body, name) if isinstance(item, str))


def text_of(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    return value if isinstance(value, str) else None


def time_of(body: Mapping[str, Any], name: str) -> str | None:
    """As it is written; what is longer than any time is none."""
    time = text_of(body, name)
    return time if time is None or len(time) <= TIME_CHARS else None


def whole_of(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def decode_short(body: Mapping[str, Any]) -> bool | None:
    """Whether a list has more than its cursor leads to; None where it does not say."""
    if text_of(body, "next_cursor") is not None:
        return False
    said = body.get("has_more")
    return said if isinstance(said, bool) else None


def needed(value: str | None, what: str) -> str:
    if value is None:
        raise SourceUnavailable(f"The server's answer has no {what}.")
    return value
