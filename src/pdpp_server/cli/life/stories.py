"""The stories that were written by hand, out of `stories.toml`, and the lease that they are about."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pdpp_server.cli.life.entries import ChatMessage, LifeEntry, LifeEvent, LifeNote, Mail, Payment, Person, Post, Talk
from pdpp_server.cli.life.everyday import HOME, ME
from pdpp_server.cli.life.grammar import table
from pdpp_server.cli.life.lease import lease_text

LEASE = LifeNote(
    "Home/Lease Maaskade 118.md", datetime(2023, 10, 8, 15, 30, tzinfo=HOME), lease_text(), ("home", "contract")
)


def stories() -> Iterator[LifeEntry]:
    told, people = table("stories"), table("people")
    yield LEASE
    yield from (_mail(row, people) for row in told["mail"])
    yield from (Post(row["workspace"], row["channel"], row["at"], row["from"], row["text"]) for row in told["post"])
    yield from (ChatMessage(row["chat"], row["at"], row["from"], row["text"]) for row in told["message"])
    yield from (LifeEvent(**row) for row in told["event"])
    yield from (Payment(**row) for row in told["payment"])
    yield from (Talk(row["title"], row["at"], tuple(row["turns"])) for row in told["talk"])
    yield from (LifeNote(row["path"], row["created"], row["text"].strip(), tuple(row["tags"])) for row in told["note"])


def _mail(row: dict[str, Any], people: dict[str, dict[str, str]]) -> Mail:
    account = row.get("account", "private")
    sender, to = (Person(name, people[account][name]) for name in (row["from"], row.get("to", ME)))
    text, answers, label = row["text"].strip(), row.get("answers", ""), row.get("label", "Inbox")
    return Mail(account, row["at"], sender, to, row["subject"], text, row["key"], answers, label)
