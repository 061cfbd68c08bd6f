"""Chats as files: the zip of a Slack workspace, Telegram's `result.json`, ChatGPT's `conversations.json`."""

import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import orjson

from pdpp_server.cli.life.entries import ChatMessage, Post, Talk, digest
from pdpp_server.cli.life.everyday import HOME, ME
from pdpp_server.cli.life.grammar import table

ZIPPED_AT = (2026, 4, 30, 20, 0, 0)
FIRST_CHANNEL, FIRST_USER, FIRST_CHAT = 0x0C0, 0x0A0, 700_100


def as_json(document: Any) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


# Slack ------------------------------------------------------------------------------------------------------------


def slack(posts: Sequence[Post], workspace: str) -> bytes:
    """Both workspaces number their channels and people from the same start, as different workspaces may."""
    people = {name: f"U0{FIRST_USER + n:03X}" for n, name in enumerate(table("people")["slack"][workspace])}
    channels = {name: f"C0{FIRST_CHANNEL + n:03X}" for n, name in enumerate(_channels(posts))}
    made = int(posts[0].at.timestamp())
    files: dict[str, Any] = {
        "users.json": [_user(name, number, workspace) for name, number in people.items()],
        "channels.json": [
            {
                "id": number,
                "name": name,
                "created": made,
                "creator": people[ME],
                "members": [*people.values()],
                "topic": {"value": ""},
                "purpose": {"value": f"Everything about {name}"},
            }
            for name, number in channels.items()
        ],
    }
    for post in posts:
        day = f"{post.channel}/{post.at.astimezone(UTC):%Y-%m-%d}.json"
        files.setdefault(day, []).append(_post(post, people))
    return _zip({name: as_json(document) for name, document in files.items()})


def _channels(posts: Iterable[Post]) -> list[str]:
    """`general` first in every workspace."""
    return sorted({post.channel for post in posts}, key=lambda name: (name != "general", name))


def _user(name: str, number: str, workspace: str) -> dict[str, Any]:
    first = name.split()[0]
    phone = f"+31 10 555 01{int(number[2:], 16) % 100:02}"
    profile = {
        "real_name": name,
        "display_name": first,
        "email": f"{first.lower()}@{workspace}.example",
        "phone": phone,
    }
    return {
        "id": number,
        "team_id": f"T0{workspace.upper()}",
        "name": first.lower(),
        "deleted": False,
        "real_name": name,
        "tz": str(HOME),
        "profile": profile,
    }


def _post(post: Post, people: Mapping[str, str]) -> dict[str, Any]:
    who = {"subtype": "bot_message", "username": post.sender}
    if post.sender in people:
        who = {"user": people[post.sender]}
    escaped = post.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"type": "message", **who, "text": escaped, "ts": f"{int(post.at.timestamp())}.000100"}


def _zip(files: Mapping[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = ZipInfo(name, ZIPPED_AT)
            entry.compress_type, entry.external_attr = ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return whole.getvalue()


# Telegram ---------------------------------------------------------------------------------------------------------


def telegram(messages: Iterable[ChatMessage]) -> bytes:
    """Among the contacts is one without name and number, as every real export has it; it cannot be a record."""
    chats: dict[str, list[ChatMessage]] = {}
    for message in messages:
        chats.setdefault(message.chat, []).append(message)
    members = table("people")["telegram"]
    everybody = sorted({ME, *(name for names in members.values() for name in names)})
    numbers = {name: FIRST_CHAT + n for n, name in enumerate(everybody)}
    listed = [
        {
            "name": name,
            "type": "personal_chat" if len(members[name]) == 1 else "private_group",
            "id": FIRST_CHAT + 900 + n,
            "messages": [_message(number, message, numbers) for number, message in enumerate(said, 1)],
        }
        for n, (name, said) in enumerate(chats.items())
    ]
    contacts = [_contact(name, numbers[name], f"+31 6 555 {numbers[name] % 10_000:04}") for name in everybody]
    owner = {"user_id": numbers[ME], "first_name": "Nora", "last_name": "Lindqvist", "username": "@noralindqvist"}
    return as_json(
        {
            "about": "Here is the data you asked for.",
            "personal_information": owner,
            "contacts": {"list": [*contacts, _contact("", 0, "")]},
            "chats": {"about": "All chats.", "list": listed},
        }
    )


def _contact(name: str, number: int, phone: str) -> dict[str, Any]:
    return {"user_id": number, "first_name": name, "last_name": "", "phone_number": phone}


def _message(number: int, message: ChatMessage, people: Mapping[str, int]) -> dict[str, Any]:
    at = message.at.astimezone(HOME)
    return {
        "id": number,
        "type": "message",
        "date": f"{at:%Y-%m-%dT%H:%M:%S}",
        "date_unixtime": str(int(at.timestamp())),
        "from": message.sender,
        "from_id": f"user{people[message.sender]}",
        "text": message.text,
        "text_entities": [],
    }


# ChatGPT ----------------------------------------------------------------------------------------------------------

USER = {"id": "user-nora", "email": "nora.lindqvist@mail.example", "chatgpt_plus_user": False}


def chatgpt(talks: Iterable[Talk]) -> bytes:
    return as_json([_conversation(talk) for talk in talks])


def _conversation(talk: Talk) -> dict[str, Any]:
    begun = talk.at.timestamp()
    names = ["client-created-root", *(_uuid(talk.title, str(talk.at), str(n)) for n in range(len(talk.turns)))]
    mapping: dict[str, Any] = {}
    for n, name in enumerate(names):
        mapping[name] = {
            "id": name,
            "parent": names[n - 1] if n else None,
            "children": names[n + 1 : n + 2],
            "message": _turn(name, talk.turns[n - 1], n, begun) if n else None,
        }
    return {
        "title": talk.title,
        "create_time": begun,
        "update_time": begun + 40 * len(talk.turns),
        "mapping": mapping,
        "current_node": names[-1],
        "conversation_id": _uuid(talk.title, str(talk.at)),
        "default_model_slug": "gpt-4o",
    }


def _turn(name: str, text: str, number: int, begun: float) -> dict[str, Any]:
    return {
        "id": name,
        "author": {"role": "user" if number % 2 else "assistant"},
        "create_time": begun + 40 * (number - 1),
        "content": {"content_type": "text", "parts": [text]},
        "recipient": "all",
        "metadata": {},
    }


def _uuid(*parts: str) -> str:
    found = digest(*parts)
    return "-".join((found[:8], found[8:12], found[12:16], found[16:20], found[20:32]))
