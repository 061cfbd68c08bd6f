"""Claude data exports: `conversations.json`, and where there are any, projects and their documents."""

from collections.abc import Iterable, Iterator

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
from pdpp_server.importers.formats.content_blocks import ContentPiece, pieces
from pdpp_server.importers.formats.json_items import Item
from pdpp_server.importers.formats.json_values import (
    clipped,
    line_of,
    number_in,
    object_in,
    text_in,
    time_in,
    without_gaps,
    written_out,
)
from pdpp_server.importers.identity import digest, record_key
from pdpp_server.importers.source import Account, Files, Head, Importer, Known, Outcome
from pdpp_server.model.ingest import Incoming, Rejection
from pdpp_server.wire.envelope import Json

_MARKS = Marks(
    product="Claude",
    objects=(frozenset({"uuid", "chat_messages"}), frozenset({"uuid", "docs", "prompt_template"})),
    user_file="users.json",
    user=frozenset({"uuid", "full_name", "email_address"}),
    email="email_address",
)


def _knows(head: Head) -> object:
    return holds(head, _MARKS)


def _accounts(files: Files, known: Known) -> Iterable[Account]:
    return accounts(files, known, _MARKS)


def read(account: Account) -> Iterator[Outcome]:
    """Each conversation followed by its messages, each project by its documents."""
    return outcomes(account, _outcomes)


def _outcomes(item: Item, seen: SeenMessages) -> Iterator[Outcome]:
    source = item.data
    is_conversation = isinstance(source.get("chat_messages"), list)
    if not is_conversation and not isinstance(source.get("docs"), list):
        reason = "it has neither `chat_messages` nor `docs`, so it is nothing of Claude's"
        yield Rejection(item.place, "invalid_record", reason)
        return
    named = text_in(source, "uuid")
    key = record_key(named) if named else "c-" + _digest(source, "name", "created_at")
    again = once(item, key, _digest(source, "name", "updated_at", "docs"), seen)
    if again is not None:
        yield from again
    elif is_conversation:
        yield from _conversation(item, key, seen)
    else:
        yield from _project(item, key)


def _digest(source: Json, *names: str) -> str:
    return digest(*(written_out(source.get(name)) for name in names))


# Conversations ----------------------------------------------------------------------------------------------------


def _conversation(item: Item, key: str, seen: SeenMessages) -> Iterator[Outcome]:
    source = item.data
    title = line_of(text_in(source, "name")) or UNTITLED
    messages: list[Json] = []
    for number, message in enumerate(objects(source["chat_messages"]), 1):
        named = text_in(message, "uuid") or digest(key, str(number), text_in(message, "created_at"))
        about = {"id": seen.message_key(named, key), "conversation_id": key, "conversation_title": title}
        messages.extend(_records({**about, "position": number}, message))
    first, last = span(messages)
    project = text_in(object_in(source, "project"), "uuid")
    data: Json = {
        "id": key,
        "title": title,
        "summary": clipped(text_in(source, "summary")),
        "created_at": time_in(source, "created_at") or first,
        "updated_at": time_in(source, "updated_at") or last,
        "project_id": record_key(project) if project else None,
        "message_count": len(objects(source["chat_messages"])),
    }
    yield from conversation(item.place, without_gaps(data), messages)


def _records(about: Json, message: Json) -> Iterator[Json]:
    """What was said, with the files that came with it, then what was thought and what tools did."""
    sender = text_in(message, "sender")
    role = "user" if sender == "human" else sender or "unknown"
    sent_at = time_in(message, "created_at")
    found = list(pieces(message.get("content")))
    files = _files(message)
    extracts = [text_in(one, "extracted_content") for one in objects(message.get("attachments"))]
    extracted = clipped("\n\n".join(extracts))
    if not any(piece.kind == "text" for piece in found):
        text = clipped(text_in(message, "text"))
        if text or files or extracted:
            found.insert(0, ContentPiece("", "text", text))
    for piece in found:
        data: Json = {
            **about,
            "id": about["id"] + piece.suffix,
            "role": "tool" if piece.kind == "tool_result" else role,
            "kind": piece.kind,
            "text": piece.text,
            "sent_at": sent_at,
            "tool": piece.tool,
        }
        if piece.kind == "text" and files:
            data["attachments"] = files
            data["attachment_names"] = ", ".join(one["name"] for one in files if "name" in one)
            data["attachment_text"] = extracted
        yield without_gaps(data)


def _files(message: Json) -> list[Json]:
    listed = [*objects(message.get("attachments")), *objects(message.get("files"))]
    told = [_file(one) for one in listed[:ATTACHMENTS_MAX]]
    return [one for one in told if one]


def _file(source: Json) -> Json:
    data = {
        "name": text_in(source, "file_name"),
        "type": text_in(source, "file_type") or text_in(source, "file_kind"),
        "size_bytes": number_in(source, "file_size"),
    }
    return without_gaps(data)


# Projects ---------------------------------------------------------------------------------------------------------


def _project(item: Item, key: str) -> Iterator[Outcome]:
    source = item.data
    documents = objects(source["docs"])
    name = line_of(text_in(source, "name")) or "Untitled project"
    data: Json = {
        "id": key,
        "name": name,
        "description": clipped(text_in(source, "description")),
        "instructions": clipped(text_in(source, "prompt_template")),
        "created_at": time_in(source, "created_at"),
        "updated_at": time_in(source, "updated_at"),
        "document_count": len(documents),
    }
    yield Incoming(item.place, "projects", key, without_gaps(data), None)
    for number, document in enumerate(documents, 1):
        filename = text_in(document, "filename")
        named = text_in(document, "uuid") or digest(key, filename, str(number))
        about: Json = {
            "id": record_key(named),
            "project_id": key,
            "project_name": name,
            "filename": filename,
            "text": clipped(text_in(document, "content")),
            "created_at": time_in(document, "created_at"),
        }
        place = f"{item.place}, document {number}"
        yield Incoming(place, "project_documents", about["id"], without_gaps(about), None)


CLAUDE = Importer(
    key="claude",
    knows=_knows,
    accounts=_accounts,
    read=read,
    takes="Claude data exports (conversations.json and projects, or the zip)",
    obtain="Claude: Settings, Privacy, Export data; the zip behind the link in the mail",
)
