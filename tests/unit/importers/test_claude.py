"""Claude: what was said, thought and done are records of one message."""

from pdpp_server.importers.sources.claude import CLAUDE
from tests.requirements import requirement
from tests.unit.importers.conversations import CLAUDES
from tests.unit.importers.exports import export, records_of


@requirement("imp.chats.pieces")
def test_what_claude_said_thought_and_did_are_records_of_one_position() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "artifacts", "input": {"title": "Plan", "content": "line 1\nline 2"}},
        {"type": "tool_result", "tool_use_id": "t1", "name": "artifacts", "content": [{"type": "text", "text": "OK"}]},
        {"type": "text", "text": "Done."},
    ]
    source = {
        **CLAUDES,
        "chat_messages": [{"uuid": "m1", "text": "old form", "content": content, "sender": "assistant"}],
    }
    found = records_of(CLAUDE, export(conversations__json=[source]), "messages")
    assert [(one["id"], one["kind"], one["role"], one["text"], one["position"]) for one in found] == [
        ("m1", "text", "assistant", "Let me look.\n\nDone.", 1),
        ("m1~0", "reasoning", "assistant", "Hm.", 1),
        ("m1~2", "tool_call", "assistant", "artifacts\ntitle: Plan\ncontent: line 1\nline 2", 1),
        ("m1~3", "tool_result", "tool", "OK", 1),
    ]


@requirement("imp.chats.pieces")
def test_a_message_of_files_alone_is_kept_with_their_names_and_texts() -> None:
    attached = {"file_name": "quote.txt", "file_size": 12, "file_type": "txt", "extracted_content": "40 slates"}
    source = {**CLAUDES, "chat_messages": [{"uuid": "m1", "text": "", "sender": "human", "attachments": [attached]}]}
    (found,) = records_of(CLAUDE, export(conversations__json=[source]), "messages")
    assert (found["attachment_names"], found["attachment_text"]) == ("quote.txt", "40 slates")
