"""ChatGPT data exports: `conversations.json`, or its parts `conversations-000.json` and on."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import orjson

from pdpp_server.importers.formats.chats import (
    ATTACHMENTS_MAX,
    UNTITLED,
    Marks,
    SeenMessages,
    accounts,
    conversation,
    holds,
    objects,
    once,
    outcomes,
    span,
)
from pdpp_server.importers.formats.json_items import Item
from pdpp_server.importers.formats.json_values import (
    clipped,
    joined,
    line_of,
    list_of,
    number_in,
    object_in,
    object_of,
    text_in,
    text_of,
    time_in,
    without_gaps,
    written_out,
)
from pdpp_server.importers.identity import digest, record_key
from pdpp_server.importers.source import Account, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Rejection
from pdpp_server.wire.envelope import Json

_MARKS = Marks(
    product="ChatGPT",
    objects=(frozenset({"mapping", "title"}),),
    user_file="user.json",
    user=frozenset({"id", "email", "chatgpt_plus_user"}),
    email="email",
)
_REASONING = frozenset({"thoughts", "reasoning_recap"})
_INSTRUCTIONS = frozenset({"user_editable_context", "model_editable_context"})
# What ChatGPT's pages draw as chips and links stands between private characters.
_CHIP = re.compile("\ue200([^\ue200\ue201\ue202]*)\ue202([^\ue200\ue201]*)\ue201")


def _knows(head: Head) -> object:
    return holds(head, _MARKS)


def _accounts(files: Files, known: Known) -> Iterable[Account]:
    return accounts(files, known, _MARKS)


def read(account: Account) -> Iterator[Outcome]:
    """Each conversation, followed by its messages."""
    return outcomes(account, _conversation)


def _conversation(item: Item, seen: SeenMessages) -> Iterator[Outcome]:
    source = item.data
    if not isinstance(source.get("mapping"), dict):
        yield Rejection(item.place, "invalid_record", "it has no `mapping`, so it is no ChatGPT conversation")
        return
    nodes = {name: object_of(node) for name, node in object_of(source["mapping"]).items()}
    named = text_in(source, "conversation_id") or text_in(source, "id")
    made = "c-" + digest(written_out(source.get("create_time")), *_roots(nodes))
    key = record_key(named) if named else made
    content = digest(written_out([source.get("update_time"), source.get("current_node"), len(nodes)]))
    again = once(item, key, content, seen)
    if again is not None:
        yield from again
        return
    title = line_of(text_in(source, "title")) or UNTITLED
    shown = _messages(nodes, text_in(source, "current_node"))
    messages = [_record(message, key, title, seen) for message in shown]
    data = _conversation_data(key, title, source, nodes, messages)
    yield from conversation(item.place, data, messages)


def _conversation_data(key: str, title: str, source: Json, nodes: Mapping[str, Json], messages: list[Json]) -> Json:
    first, last = span(messages)
    return without_gaps(
        {
            "id": key,
            "title": title,
            "created_at": time_in(source, "create_time") or first,
            "updated_at": time_in(source, "update_time") or last,
            "model": text_in(source, "default_model_slug"),
            "gpt_id": text_in(source, "gizmo_id"),
            "is_archived": source.get("is_archived") is True,
            "message_count": sum(data["is_current"] for data in messages),
            "custom_instructions": _custom_instructions(nodes),
        }
    )


def _custom_instructions(nodes: Mapping[str, Json]) -> str:
    for node in nodes.values():
        content = object_in(object_in(node, "message"), "content")
        if text_in(content, "content_type") in _INSTRUCTIONS:
            told = [text_in(content, name) for name in ("user_profile", "user_instructions", "model_set_context")]
            if text := joined("\n\n", told):
                return clipped(text)
    return ""


# The tree ---------------------------------------------------------------------------------------------------------


class _Message(NamedTuple):
    """A message worth keeping, and where it stands."""

    node: str
    source: Json
    text: str
    attachments: list[Json]
    parent: "_Message | None"
    position: int
    is_current: bool


def _messages(nodes: Mapping[str, Json], current: str) -> Iterator[_Message]:
    """From the roots down; a node that only a ring of nodes leads to counts as a root."""
    path = _path(nodes, current)
    children: dict[str, list[str]] = {}
    for name, node in nodes.items():
        children.setdefault(text_in(node, "parent"), []).append(name)
    reached: set[str] = set()
    for root in [*_roots(nodes), *nodes]:
        pending: list[tuple[str, _Message | None]] = [(root, None)]
        while pending:
            name, above = pending.pop()
            if name in reached:
                continue
            reached.add(name)
            message = _message(name, nodes[name], above, name in path)
            if message:
                yield message
            below = children.get(name, ())
            pending.extend((child, message or above) for child in sorted(below, key=path.__contains__))


def _roots(nodes: Mapping[str, Json]) -> list[str]:
    """What stays when a conversation goes on."""
    return sorted(name for name, node in nodes.items() if text_in(node, "parent") not in nodes)


def _path(nodes: Mapping[str, Json], current: str) -> set[str]:
    """The nodes of the conversation as it stood at the end; without that mark, those above the last leaf."""
    if current not in nodes:
        leaves = [name for name, node in nodes.items() if node.get("message") and not node.get("children")]
        current = leaves[-1] if leaves else ""
    path: set[str] = set()
    while current in nodes and current not in path:
        path.add(current)
        current = text_in(nodes[current], "parent")
    return path


def _message(name: str, node: Json, above: _Message | None, is_current: bool) -> _Message | None:
    """None where there is nothing to show: roots, hidden instructions, empty steps."""
    source = object_in(node, "message")
    metadata = object_in(source, "metadata")
    content = object_in(source, "content")
    if not source or metadata.get("is_visually_hidden_from_conversation") is True:
        return None
    if _role(source) == "system" or text_in(content, "content_type") in _INSTRUCTIONS:
        return None
    text = clipped(_text(content))
    attachments = _attachments(content, metadata)
    if not text and not attachments:
        return None
    position = above.position + 1 if above else 1
    return _Message(name, source, text, attachments, above, position, is_current)


def _role(source: Json) -> str:
    return text_in(object_in(source, "author"), "role") or "unknown"


def _record(message: _Message, conversation: str, title: str, seen: SeenMessages) -> Json:
    source = message.source
    metadata, content = object_in(source, "metadata"), object_in(source, "content")
    recipient = text_in(source, "recipient")
    author = text_in(object_in(source, "author"), "name")
    return without_gaps(
        {
            "id": seen.message_key(message.node, conversation),
            "conversation_id": conversation,
            "conversation_title": title,
            "role": _role(source),
            "kind": _kind(source, content, recipient),
            "text": message.text,
            "sent_at": time_in(source, "create_time"),
            "model": text_in(metadata, "model_slug"),
            "tool": author or (recipient if recipient != "all" else ""),
            "position": message.position,
            "is_current": message.is_current,
            "attachments": message.attachments,
            "attachment_names": ", ".join(one["name"] for one in message.attachments if "name" in one),
        }
    )


def _kind(source: Json, content: Json, recipient: str) -> str:
    if text_in(content, "content_type") in _REASONING:
        return "reasoning"
    if _role(source) == "tool":
        return "tool_result"
    if _role(source) == "assistant" and recipient not in ("", "all"):
        return "tool_call"
    return "code" if content.get("content_type") == "code" else "text"


# Content ----------------------------------------------------------------------------------------------------------


def _text(content: Json) -> str:
    """Whatever its type: the parts, the thoughts, or the one member that types beside these have."""
    if content.get("content_type") == "thoughts":
        return "\n\n".join(map(_thought, objects(content.get("thoughts"))))
    if "parts" in content:
        return joined("\n\n", (_part_text(part).strip() for part in list_of(content["parts"])))
    bodies = (_told(content.get(name)) for name in ("text", "result", "content", "summary"))
    body = next(filter(None, bodies), "")
    return joined("\n", (text_in(content, "title"), text_in(content, "url"), body))


def _thought(told: Json) -> str:
    return joined("\n", (text_in(told, "summary"), text_in(told, "content")))


def _told(value: object) -> str:
    return _CHIP.sub(_chip_text, written_out(value))


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return _told(part)
    described = object_of(part)
    prompt = object_in(object_in(described, "metadata"), "dalle").get("prompt")
    return _told(text_in(described, "text") or text_of(prompt))


def _chip_text(chip: re.Match[str]) -> str:
    """The words in a link or a named thing; the marks of citations say nothing without the page."""
    if chip[1] == "url":
        words, _, address = chip[2].partition("\ue202")
        return f"{words} ({address})" if address else words
    if chip[1] == "entity":
        try:
            return text_of(next(iter(list_of(orjson.loads(chip[2]))[1:]), ""))
        except orjson.JSONDecodeError:
            return ""
    return ""


def _attachments(content: Json, metadata: Json) -> list[Json]:
    """Files that were uploaded or made: what is said of them. An image stands in both lists, with the same id."""
    found: dict[str, Json] = {}
    listed = [*objects(metadata.get("attachments")), *_pointers(content)]
    for told in map(_attachment, listed[:ATTACHMENTS_MAX]):
        if told:
            key = told.get("id") or written_out(told)
            found[key] = {**told, **found.get(key, {})}
    return list(found.values())


def _attachment(source: Json) -> Json:
    data = {
        "id": text_in(source, "id") or text_in(source, "asset_pointer").rpartition("/")[2],
        "name": text_in(source, "name"),
        "media_type": text_in(source, "mime_type") or text_in(source, "mimeType"),
        "type": text_in(source, "content_type").removesuffix("_asset_pointer"),
        "size_bytes": number_in(source, "size") or number_in(source, "size_bytes"),
    }
    return without_gaps(data)


def _pointers(content: Json) -> Iterator[Json]:
    for part in objects(content.get("parts")):
        spoken = object_in(part, "audio_asset_pointer")
        if spoken:
            yield spoken
        elif "asset_pointer" in part:
            yield part


CHATGPT = Importer(
    key="chatgpt",
    knows=_knows,
    accounts=_accounts,
    read=read,
    takes="ChatGPT data exports (conversations.json, or the zip)",
    obtain="ChatGPT: Settings, Data controls, Export data; the zip behind the link in the mail",
)
