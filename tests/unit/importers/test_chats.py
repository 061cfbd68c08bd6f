"""What the exports of ChatGPT and Claude have in common: whose they are, and conversations that come twice."""

from pdpp_server.importers.sources.chatgpt import CHATGPT
from pdpp_server.importers.sources.claude import CLAUDE
from tests.requirements import requirement
from tests.unit.importers.conversations import CLAUDES, chat, node
from tests.unit.importers.exports import export, files_of, records_of, rejections_of


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


@requirement("imp.chats.twice")
def test_the_same_conversation_in_two_parts_is_there_once_and_another_of_its_id_is_rejected() -> None:
    one, other = chat({"q": node(None, "one")}, "q"), chat({"q": node(None, "other")}, "q", update_time=5)
    files = files_of({"conversations-000.json": [one], "conversations-001.json": [one, other]})
    assert [data["text"] for data in records_of(CHATGPT, files, "messages")] == ["one"]
    assert [rejection.place for rejection in rejections_of(CHATGPT, files)] == ["conversations-001.json:item 2"]
