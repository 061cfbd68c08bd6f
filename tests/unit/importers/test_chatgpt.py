"""ChatGPT: a conversation is a tree, of which one path ended it."""

from pdpp_server.importers.sources.chatgpt import CHATGPT
from pdpp_server.wire.envelope import Json
from tests.requirements import requirement
from tests.unit.importers.conversations import chat, node
from tests.unit.importers.exports import export, records_of


def messages(mapping: Json, current: str) -> list[tuple[str, int, bool]]:
    found = records_of(CHATGPT, export(conversations__json=[chat(mapping, current)]), "messages")
    return [(one["text"], one["position"], one["is_current"]) for one in found]


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
