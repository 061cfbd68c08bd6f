"""The ordinary days between the stories: what arrives, is said, eaten, paid and written down on each of them."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from pdpp_server.cli.life.entries import ChatMessage, LifeEntry, LifeEvent, LifeNote, Mail, Payment, Person, Post, Talk
from pdpp_server.cli.life.grammar import Grammar, capitalized, table

FIRST, LAST = date(2023, 5, 1), date(2026, 4, 30)
AWAY = (date(2025, 3, 22), date(2025, 3, 30))  # one of the stories
LEFT_WORK, LEFT_FLAT = date(2026, 3, 27), date(2026, 3, 31)
HOME = ZoneInfo("Europe/Amsterdam")
ME = "Nora Lindqvist"
CHATS = {"Sam": 0.6, "Yael Bar-Lev": 0.22, "Lindqvist hemma": 0.22, "Sunday soup": 0.2}  # by how likely on a day
REMINDER = "Good morning! What is on this week?"
RENTS = {2023: 132_500, 2024: 136_100, 2025: 139_400}  # from each October on
SERVICE_COSTS = 4_500


class Days:
    """Every chance is drawn from one seeded source, day by day, so that two runs are the same."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._people = table("people")
        self._words = table("words")
        self._grammar = Grammar(self._words["words"], rng)
        self._written = 0

    def entries(self) -> Iterator[LifeEntry]:
        yield from self._dates()
        day = FIRST
        while day <= LAST:
            yield from self._mails("private", day, singles=(0, 1, 1, 2), threads=0.32)
            if day.weekday() < 5 and day <= LEFT_WORK:
                yield from self._mails("work", day, singles=(1, 2, 2, 3), threads=0.6)
            if day.weekday() in (0, 2, 3) and day <= LEFT_WORK:
                yield from self._posts("work", day, self._rng.randint(4, 12))
            if day.weekday() in (0, 5):
                yield from self._posts("rowing", day, self._rng.randint(2, 8))
            yield from self._messages(day)
            yield from self._payments(day)
            yield from self._notes(day)
            if self._rng.random() < 0.11:
                yield self._talk(day)
            day += timedelta(days=1)

    # Mail -----------------------------------------------------------------------------------------------------------

    def _person(self, account: str, name: str) -> Person:
        return Person(name, self._people[account][name])

    def _mails(self, account: str, day: date, singles: Sequence[int], threads: float) -> Iterator[Mail]:
        kinds = self._words["mail"][account]
        for _ in range(self._rng.choice(singles)):
            yield self._single(account, day, self._often(kinds["single"]))
        if self._rng.random() < threads:
            yield from self._thread(account, day, self._rng.choice(kinds["thread"]))

    def _single(self, account: str, day: date, kind: dict[str, Any]) -> Mail:
        told: dict[str, str] = {}
        subject = self._grammar.text(kind["subject"], told)
        text = self._grammar.text(kind["text"], told)
        sender = self._person(account, kind["from"])
        to = self._person(account, ME)
        at = self._at(day, 6, 20)
        return Mail(account, at, sender, to, subject, text, self._key(), label=kind["label"])

    def _often(self, kinds: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """By how often each comes, which is 10 where the table does not say."""
        return self._rng.choices(kinds, [kind.get("often", 10) for kind in kinds])[0]

    def _thread(self, account: str, day: date, kind: dict[str, Any]) -> Iterator[Mail]:
        """To and fro over a few hours; every answer quotes what it answers."""
        other = self._rng.choice(kind["with"])
        pair = [self._person(account, ME), self._person(account, other)]
        self._rng.shuffle(pair)
        title = self._grammar.one_of(kind["subject"], {})
        at = self._at(day, 7, 12)
        answers = self._rng.randint(2, 4) - 1
        greetings = [self._rng.choice(kind["open"]), *self._rng.sample(kind["answer"], answers)]
        quoted = answered = ""
        for greeting in greetings:
            sender, to = pair
            said = [self._grammar.text(greeting, {"to": to.first})]
            said += self._grammar.some_of(kind["middle"], self._rng.randint(1, 3))
            said.append(self._signed(account, sender))
            label = "Sent" if sender.name == ME else "Inbox"
            text = "\n\n".join(said)
            mail = Mail(account, at, sender, to, title, text + quoted, self._key(), answered, label)
            yield mail
            quoted, answered = _quoted(mail), mail.key
            title = title if title.startswith("Re: ") else f"Re: {title}"
            pair.reverse()
            at += timedelta(minutes=self._rng.randint(9, 300))

    def _signed(self, account: str, sender: Person) -> str:
        if account != "private":
            return sender.first
        closing = self._grammar.one_of(["{close}"])
        return f"{closing}\n{sender.first}"

    def _key(self) -> str:
        self._written += 1
        return f"{self._written:06}.{self._rng.getrandbits(32):08x}"

    # Chats ----------------------------------------------------------------------------------------------------------

    def _posts(self, workspace: str, day: date, count: int) -> Iterator[Post]:
        """One channel is awake on a day; on Mondays a bot speaks in both workspaces at the same instant."""
        channels = self._words["slack"][workspace]
        people = self._people["slack"][workspace]
        if day.weekday() == 0:
            yield Post(workspace, "general", datetime.combine(day, time(9), HOME), "Reminder", REMINDER)
        channel = self._rng.choice(sorted(channels))
        at = self._at(day, 8, 16)
        for text in self._grammar.some_of(channels[channel], count):
            yield Post(workspace, channel, at, self._rng.choice(people), text)
            at += timedelta(seconds=self._rng.randint(20, 1500))

    def _messages(self, day: date) -> Iterator[ChatMessage]:
        for chat, share in CHATS.items():
            if self._rng.random() < share:
                yield from self._chat(chat, self._at(day, 7, 22))

    def _chat(self, chat: str, at: datetime) -> Iterator[ChatMessage]:
        people = [ME, *self._people["telegram"][chat]]
        for text in self._grammar.some_of(self._words["telegram"][chat], self._rng.randint(1, 4)):
            yield ChatMessage(chat, at, self._rng.choice(people), text)
            at += timedelta(seconds=self._rng.randint(8, 900))

    # Money ----------------------------------------------------------------------------------------------------------

    def _payments(self, day: date) -> Iterator[Payment]:
        yield from self._regular(day)
        payees = self._words["bank"]
        if day.weekday() in (1, 4, 5):
            cents = self._rng.randint(900, 7800)
            yield Payment(day, -cents, self._rng.choice(payees["shops"]), "Groceries")
        small = payees["small"]
        first_most_often = range(len(small), 0, -1)
        for _ in range(self._rng.choice((0, 0, 1, 1, 2, 3))):
            (payee,) = self._rng.choices(small, first_most_often)
            yield Payment(day, -self._rng.randint(280, 3900), payee, "Card")

    def _regular(self, day: date) -> Iterator[Payment]:
        match day.day:
            case 1 if date(2023, 10, 1) <= day < LEFT_FLAT:
                since = day.year if day.month >= 10 else day.year - 1
                rent = RENTS[since] + SERVICE_COSTS
                yield Payment(day, -rent, "De Wit Verhuur", f"Rent Maaskade 118 {day:%Y-%m}")
            case 3:
                yield Payment(day, -self._rng.randint(7800, 14_500), "Maas Energie", "Electricity and heat")
                yield Payment(day, -1950, "Lijn Telecom", "Telephone")
            case 12 if day.month in (1, 4, 7, 10):
                yield Payment(day, -9600, "Maas Rowing", "Club fee for the quarter")
            case 25:
                employer, cents = ("Tidewater Charts BV", 312_650)
                if day > LEFT_WORK:
                    employer, cents = ("Northlight Instruments", 341_200)
                yield Payment(day, cents, employer, f"Salary {day:%Y-%m}")
            case _:
                pass

    # Calendar -------------------------------------------------------------------------------------------------------

    def _dates(self) -> Iterator[LifeEvent]:
        """What repeats, then single appointments."""
        until = f"UNTIL={LEFT_WORK:%Y%m%d}T220000Z"
        yield self._event(
            "Planning at Tidewater", date(2023, 5, 8), 10, 45, f"FREQ=WEEKLY;BYDAY=MO;{until}", "Plot room"
        )
        yield self._event(
            "Rowing", date(2023, 5, 2), 19, 90, f"FREQ=WEEKLY;BYDAY=TU,TH;{until}", "Boathouse, Nassauhaven"
        )
        yield self._event("Sunday soup", date(2023, 5, 7), 18, 150, "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU", "Whoever cooks")
        for name, day in (("Mamma", date(2023, 11, 8)), ("Sam", date(2024, 1, 29)), ("Yael", date(2024, 5, 17))):
            yield LifeEvent(f"Birthday: {name}", day, day + timedelta(days=1), rule="FREQ=YEARLY")
        day = FIRST
        while (day := day + timedelta(days=self._rng.randint(2, 9))) < LAST:
            if AWAY[0] <= day <= AWAY[1]:
                continue
            title = self._grammar.one_of(self._words["calendar"]["title"])
            place = self._grammar.one_of(("{cafe}", "{place}", "{street}"))
            hour = self._rng.randint(8, 20)
            minutes = self._rng.choice((30, 60, 90, 120))
            yield self._event(title, day, hour, minutes, "", place)

    def _event(self, title: str, day: date, hour: int, minutes: int, rule: str, place: str) -> LifeEvent:
        start = datetime.combine(day, time(hour))
        return LifeEvent(title, start, start + timedelta(minutes=minutes), place=place, rule=rule)

    # Notes and talks ------------------------------------------------------------------------------------------------

    def _notes(self, day: date) -> Iterator[LifeNote]:
        at = self._at(day, 20, 23)
        draw = self._rng.random()
        if draw < 0.24:
            lines = [f"- {line}" for line in self._some_lines("line", 3, 7)]
            week = f"Week: [[Weeks/{day:%G}-W{day:%V}]]"
            yield _note(f"Days/{day}", at, f"{day:%d.%m.%Y}", "\n".join(lines) + f"\n\n{week}", "diary")
        elif draw < 0.29:
            dish = self._grammar.text("{dish}")
            steps = [f"{number}. {step}" for number, step in enumerate(self._some_lines("step", 4, 6), 1)]
            yield _note(f"Recipes/{dish} {day}", at, dish.capitalize(), "\n".join(steps), "recipe")
        elif draw < 0.33:
            book = self._grammar.text("{book}")
            thoughts = self._some_lines("thought", 2, 4)
            yield _note(f"Books/{book} {day}", at, capitalized(book), "\n\n".join(thoughts), "book")

    def _some_lines(self, kind: str, fewest: int, most: int) -> list[str]:
        return self._grammar.some_of(self._words["note"][kind], self._rng.randint(fewest, most))

    def _talk(self, day: date) -> Talk:
        kind = self._rng.choice(self._words["talk"])
        told: dict[str, str] = {}
        title = self._grammar.text(kind["title"], told)
        turns: list[str] = []
        for ask, answer in zip(kind["ask"], kind["answer"], strict=True):
            turns.append(self._grammar.text(ask, told))
            turns.append(self._grammar.text(answer, told))
        return Talk(title, self._at(day, 8, 23), tuple(turns))

    def _at(self, day: date, first: int, last: int) -> datetime:
        """Some time of that day, between two hours at home."""
        hour = self._rng.randint(first, last - 1)
        minute, second = self._rng.randrange(60), self._rng.randrange(60)
        return datetime.combine(day, time(hour, minute, second), HOME)


def _quoted(mail: Mail) -> str:
    """What it said itself, as an answer to it quotes that."""
    own = mail.text.partition("\n\nOn ")[0]
    lines = "\n".join(f"> {line}" for line in own.splitlines())
    return f"\n\nOn {mail.at:%Y-%m-%d} at {mail.at:%H:%M} {mail.sender.name} wrote:\n{lines}"


def _note(name: str, at: datetime, title: str, text: str, tag: str) -> LifeNote:
    return LifeNote(f"{name}.md", at, f"# {title}\n\n{text}", (tag,))
