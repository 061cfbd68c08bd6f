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
    told = table("stories")
    people = table("people")
    yield LEASE
    for row in told["mail"]:
        yield _mail(row, people)
    for row in told["post"]:
        yield Post(row["workspace"], row["channel"], row["at"], row["from"], row["text"])
    for row in told["message"]:
        yield ChatMessage(row["chat"], row["at"], row["from"], row["text"])
    for row in told["event"]:
        yield LifeEvent(**row)
    for row in told["payment"]:
        yield Payment(**row)
    for row in told["talk"]:
        yield Talk(row["title"], row["at"], tuple(row["turns"]))
    for row in told["note"]:
        yield LifeNote(row["path"], row["created"], row["text"].strip(), tuple(row["tags"]))


def _mail(row: dict[str, Any], people: dict[str, dict[str, str]]) -> Mail:
    account = row.get("account", "private")
    addresses = people[account]
    sender, to = row["from"], row.get("to", ME)
    return Mail(
        account,
        row["at"],
        Person(sender, addresses[sender]),
        Person(to, addresses[to]),
        row["subject"],
        row["text"].strip(),
        row["key"],
        row.get("answers", ""),
        row.get("label", "Inbox"),
    )
