"""Conversations as ChatGPT and Claude export them."""

from pdpp_server.wire.envelope import Json

CLAUDES = {"uuid": "c1", "name": "Roof", "chat_messages": [{"uuid": "m1", "text": "hello", "sender": "human"}]}


def node(parent: str | None, text: str, role: str = "user", **more: object) -> Json:
    content = {"content_type": "text", "parts": [text]}
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, **more}}


def chat(mapping: Json, current: str, **more: object) -> Json:
    return {"title": "Ferry", "conversation_id": "c1", "mapping": mapping, "current_node": current, **more}
