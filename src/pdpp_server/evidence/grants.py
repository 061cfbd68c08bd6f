"""What a grant lets be read, in the owner's words."""

from pdpp_server.evidence.said import say
from pdpp_server.model.grants import StreamGrant

REGISTERED = "https://pdpp.dev/purpose/"
_PURPOSES = {
    "agent_context": say("what an agent needs to know while it works for you"),
    "ai_training": say("to train models"),
    "analytics": say("to count and to compare"),
    "assistant": say("to help you as an assistant"),
    "export": say("to take a copy elsewhere"),
    "personalization": say("to fit a service to you"),
    "research": say("research"),
}


def purpose_words(code: str) -> str:
    """A registered purpose in words; of another the last word of its address, as whoever made it up wrote it."""
    words = _PURPOSES.get(code.removeprefix(REGISTERED)) if code.startswith(REGISTERED) else None
    return words or code.rstrip("/").rsplit("/", 1)[-1].replace("_", " ")


def stream_line(stream: StreamGrant) -> str:
    """Everything that narrows it."""
    from_where = f"from {', '.join(stream.connections)}"
    return "; ".join([f"{stream.name}: {fields_text(stream)}", from_where, *bounds_texts(stream)])


def granted_fields(stream: StreamGrant) -> list[str]:
    """In the order they are declared."""
    return [name for name in stream.declared.fields if name in stream.fields]


def fields_text(stream: StreamGrant) -> str:
    fields, declared = granted_fields(stream), len(stream.declared.fields)
    return "every field" if len(fields) == declared else f"{len(fields)} of {declared} fields ({', '.join(fields)})"


def bounds_texts(stream: StreamGrant) -> list[str]:
    """A midnight is its day."""
    since, until = (_day(stream.time.since), _day(stream.time.until)) if stream.time else ("", "")
    named = None if stream.resources is None else len(stream.resources)
    return [
        *([say("since {day}", day=since)] if since else []),
        *([say("before {day}", day=until)] if until else []),
        *([] if named is None else [_only(named)]),
    ]


def _only(named: int) -> str:
    return say("only 1 named record") if named == 1 else say("only {named} named records", named=named)


def _day(bound: str | None) -> str:
    return (bound or "").removesuffix("T00:00:00Z")
