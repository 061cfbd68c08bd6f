"""ChatGPT and Claude: conversations and their messages."""

from pdpp_server.importers.sources.chatgpt import CHATGPT
from pdpp_server.importers.sources.claude import CLAUDE
from pdpp_server.wire.envelope import Json
from tests.requirements import requirement
from tests.unit.importers.exports import export, files_of, records_of, rejections_of

CLAUDES = {"uuid": "c1", "name": "Roof", "chat_messages": [{"uuid": "m1", "text": "hello", "sender": "human"}]}


def node(parent: str | None, text: str, role: str = "user", **more: object) -> Json:
    content = {"content_type": "text", "parts": [text]}
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, **more}}


def chat(mapping: Json, current: str, **more: object) -> Json:
    return {"title": "Ferry", "conversation_id": "c1", "mapping": mapping, "current_node": current, **more}


def messages(mapping: Json, current: str) -> list[tuple[str, int, bool]]:
    found = records_of(CHATGPT, export(conversations__json=[chat(mapping, current)]), "messages")
    return [(one["text"], one["position"], one["is_current"]) for one in found]


@requirement("imp.chats.recognised")
def test_each_knows_its_own_conversations_json_and_not_the_other_one() -> None:
    of_chatgpt, of_claude = export(conversations__json=[chat({}, "")]), export(conversations__json=[CLAUDES])
    assert [account.name for account in CHATGPT.recognise(of_chatgpt)] == ["ChatGPT"]
    assert [account.name for account in CLAUDE.recognise(of_claude)] == ["Claude"]
    assert list(CHATGPT.recognise(of_claude)) == list(CLAUDE.recognise(of_chatgpt)) == []


@requirement("imp.chats.recognised")
def test_an_account_is_called_by_the_address_in_the_export_whatever_its_folder_is_called() -> None:
    user = {"id": "u", "email": "mira@example.org", "chatgpt_plus_user": True}
    for folder in ("", "a3f9-2026-01-02/", "again/b/"):
        files = files_of({f"{folder}conversations.json": [chat({}, "")], f"{folder}user.json": user})
        assert [account.name for account in CHATGPT.recognise(files)] == ["mira@example.org"]


@requirement("imp.chats.branches")
def test_the_path_that_ended_the_conversation_is_current_and_other_answers_are_kept_and_marked() -> None:
    mapping = {
        "root": {"parent": None, "message": None},
        "q": node("root", "question"),
        "a1": node("q", "first answer", "assistant"),
        "a2": node("q", "second answer", "assistant"),
        "q2": node("a1", "asked after the first"),
    }
    assert messages(mapping, "a2") == [
        ("question", 1, True),
        ("second answer", 2, True),
        ("first answer", 2, False),
        ("asked after the first", 3, False),
    ]


@requirement("imp.chats.branches")
def test_a_tree_that_is_a_ring_or_very_deep_ends() -> None:
    ring = {"a": node("b", "one"), "b": node("a", "two"), "c": node("c", "three")}
    assert sorted(messages(ring, "a")) == [("one", 1, True), ("three", 1, False), ("two", 2, True)]
    deep = {str(n): node(str(n - 1), f"message {n}") for n in range(5000)}
    assert messages(deep, "4999")[-1] == ("message 4999", 5000, True)


@requirement("imp.chats.branches")
def test_what_chatgpt_hides_is_no_message_and_instructions_belong_to_the_conversation() -> None:
    told = {
        "content_type": "user_editable_context",
        "user_profile": "I live in Oban.",
        "user_instructions": "Be brief.",
    }
    mapping = {
        "s": node(None, "You are ChatGPT", "system"),
        "i": {"parent": "s", "message": {"author": {"role": "user"}, "content": told}},
        "h": node("i", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        "q": node("h", "question"),
    }
    assert messages(mapping, "q") == [("question", 1, True)]
    (data,) = records_of(CHATGPT, export(conversations__json=[chat(mapping, "q")]), "conversations")
    assert data["custom_instructions"] == "I live in Oban.\n\nBe brief."
    assert data["message_count"] == 1


@requirement("imp.files.keys")
def test_keys_stay_when_a_conversation_goes_on_also_without_an_id() -> None:
    first = {"root": {"parent": None}, "q": node("root", "question")}
    later = {**first, "a": node("q", "answer", "assistant")}
    for more in ({}, {"conversation_id": None, "create_time": 1767614400.5}):
        one = records_of(CHATGPT, export(conversations__json=[chat(first, "q", **more)]), "conversations")
        other = records_of(
            CHATGPT, export(conversations__json=[chat(later, "a", title="New", **more)]), "conversations"
        )
        assert one[0]["id"] == other[0]["id"]


@requirement("imp.chats.twice")
def test_the_same_conversation_in_two_parts_is_there_once_and_another_of_its_id_is_rejected() -> None:
    one, other = chat({"q": node(None, "one")}, "q"), chat({"q": node(None, "other")}, "q", update_time=5)
    files = files_of({"conversations-000.json": [one], "conversations-001.json": [one, other]})
    assert [data["text"] for data in records_of(CHATGPT, files, "messages")] == ["one"]
    assert [rejection.place for rejection in rejections_of(CHATGPT, files)] == ["conversations-001.json:item 2"]


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
