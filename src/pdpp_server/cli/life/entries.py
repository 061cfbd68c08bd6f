"""What a life leaves behind in its services: mails, posts, messages, events, payments, talks, notes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from typing import NamedTuple


class Person(NamedTuple):
    name: str
    address: str = ""

    @property
    def first(self) -> str:
        return self.name.split()[0]


class Mail(NamedTuple):
    account: str  # "private" or "work"
    at: datetime
    sender: Person
    to: Person
    subject: str
    text: str
    key: str  # of the Message-ID
    answers: str = ""  # the key of the mail that it answers
    label: str = "Inbox"


class Post(NamedTuple):
    """In a channel of a Slack workspace."""

    workspace: str
    channel: str
    at: datetime
    sender: str  # the first name, or a bot
    text: str


class ChatMessage(NamedTuple):
    """In a chat of Telegram."""

    chat: str
    at: datetime
    sender: str
    text: str


class LifeEvent(NamedTuple):
    """Times are those on the wall of the zone; a date alone is a whole day."""

    title: str
    start: datetime | date
    end: datetime | date
    zone: str = "Europe/Amsterdam"
    place: str = ""
    text: str = ""
    rule: str = ""


class Payment(NamedTuple):
    day: date
    cents: int
    payee: str
    memo: str


class Talk(NamedTuple):
    """With ChatGPT: what was asked and answered, in turns."""

    title: str
    at: datetime
    turns: tuple[str, ...]


class LifeNote(NamedTuple):
    path: str
    created: datetime
    text: str
    tags: tuple[str, ...] = ()


def digest(*parts: str) -> str:
    """What stands for an id that a service would have made up."""
    return sha256("\n".join(parts).encode()).hexdigest()


LifeEntry = Mail | Post | ChatMessage | LifeEvent | Payment | Talk | LifeNote


@dataclass(frozen=True, slots=True)
class Life:
    """All of it, by kind and each kind in the order of time."""

    mails: list[Mail] = field(default_factory=list[Mail])
    posts: list[Post] = field(default_factory=list[Post])
    messages: list[ChatMessage] = field(default_factory=list[ChatMessage])
    events: list[LifeEvent] = field(default_factory=list[LifeEvent])
    payments: list[Payment] = field(default_factory=list[Payment])
    talks: list[Talk] = field(default_factory=list[Talk])
    notes: list[LifeNote] = field(default_factory=list[LifeNote])

    @classmethod
    def of(cls, entries: Iterable[LifeEntry]) -> "Life":
        life = cls()
        for entry in entries:
            match entry:
                case Mail():
                    life.mails.append(entry)
                case Post():
                    life.posts.append(entry)
                case ChatMessage():
                    life.messages.append(entry)
                case LifeEvent():
                    life.events.append(entry)
                case Payment():
                    life.payments.append(entry)
                case Talk():
                    life.talks.append(entry)
                case LifeNote():
                    life.notes.append(entry)
        for timed in (life.mails, life.posts, life.messages, life.talks):
            timed.sort(key=lambda entry: entry.at)
        life.payments.sort(key=lambda payment: payment.day)
        return life
