"""What a grant lets be read, in the owner's words."""

from pdpp_server.evidence.words import counted
from pdpp_server.model.grants import StreamGrant


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
    ends = [("since", stream.time.since), ("before", stream.time.until)] if stream.time else []
    only = [f"only {counted(len(stream.resources), 'named record')}"] if stream.resources is not None else []
    return [*(f"{word} {bound.removesuffix('T00:00:00Z')}" for word, bound in ends if bound), *only]
