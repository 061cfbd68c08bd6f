"""What left: the records and fields that stand in the bytes of an answer, whoever wrote them there."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import unquote

import orjson

from tests.worlds.marked import FIELDS, MARK, MINUTE, NUMBER, TIMES, TITLES, Marked

NAMES = frozenset(name for names in FIELDS.values() for name in names)
# Lines that repeat what was asked.
STEPS = ("next:", "more:", "rest:", "next time:", "previous:", "no match:", "records:")

_TOKENS = re.compile(r"[\s\"'()\[\]{}<>;,|`=\\]+")
_MEMBER = re.compile(r'"(id|f_\w+)":')
_LINE = re.compile(r"^(id|f_\w+): ", re.MULTILINE)
_MATCHED_TITLE = re.compile(r' title "[^"]*<mark>')
_OPENED = re.compile(r'"field_path":"(f_\w+|id)"')

_SAMPLES = re.compile(r'<ul class="titles".*?</ul>', re.DOTALL)


@dataclass
class Left:
    """`fields` are told of; `records` are named, or a value of theirs is shown."""

    records: set[str] = field(default_factory=set[str])
    fields: set[str] = field(default_factory=set[str])

    def __or__(self, other: "Left") -> "Left":
        return Left(self.records | other.records, self.fields | other.fields)


class Finder:
    def __init__(self, marked: Marked) -> None:
        self._marked = marked
        self._by_name: dict[tuple[Any, ...], str] = {tuple(id): handle for handle, id in marked.by_handle.items()}
        self._handles = [self._by_name[tuple(id)] for id in marked.ids]

    # By marks: these are in the values, and nobody who shapes an answer knows of them.

    def marks(self, text: str) -> Left:
        left = Left()
        for number, place in MARK.findall(text):
            self._add(left, int(number), int(place))
        for minute in MINUTE.findall(text):
            if (number := self._marked.by_minute.get(minute)) is not None:
                self._add(left, number, None)
        for told in NUMBER.findall(text):
            number = int(told.replace(",", "")) - 7_000_000
            if number < len(self._marked.ids):
                self._add(left, number, FIELDS["letters"].index("f_pages"))
        return left

    def _add(self, left: Left, number: int, place: int | None) -> None:
        stream = self._marked.ids[number].stream
        name = TIMES[stream] if place is None else FIELDS[stream][place]
        assert name
        left.records.add(self._handles[number])
        left.fields.add(name)

    def handles(self, text: str) -> set[str]:
        known = self._marked.by_handle
        return {token for each in _TOKENS.split(text) for token in (each, each.rstrip(".:")) if token in known}

    # By shape: what has no mark is found by where it stands.

    def json(self, body: Any) -> Left:
        """A record, a hit, a window, or anything that holds some."""
        left = Left()
        for place in _objects(body):
            if handle := self._named(place):
                left.records.add(handle)
                if isinstance(data := place.get("data"), Mapping):
                    left.fields |= NAMES & data.keys()
            left.fields |= {*place.get("matched_fields", ())}
            left.fields |= {name for name in (place.get("field_path"),) if name in NAMES}
            if "window" in place and isinstance(place.get("field"), Mapping):
                left.fields.add(place["field"]["path"])
        return left

    def _named(self, place: Mapping[str, Any]) -> str | None:
        handle = place.get("handle")  # of a record of a talk, which says its connection and stream once
        if isinstance(handle, str) and handle in self._marked.by_handle and "data" in place:
            return handle
        key = place.get("record_key") or place.get("record_id") or place.get("id")
        named = (place.get("connection_id"), place.get("stream"), key)
        return self._by_name.get(named)

    def text(self, text: str) -> Left:
        """The text channel of a tool: rows that begin with a handle, documents, windows; and steps to take."""
        left = Left(self.handles(text))
        for line in text.split("\n"):
            if line.startswith(STEPS):
                left.fields |= {*_OPENED.findall(line)}
                continue
            left |= self.marks(line)
            first, _, rest = line.partition(" ")
            if self.handles(first) or ", all with {" in line:
                left.fields |= {*_MEMBER.findall(line), *(NAMES & {rest.partition(" ")[0]})}
            if _MATCHED_TITLE.search(line):  # of which there may be room for the word that matched, and for no mark
                titles = {TITLES[self._marked.by_handle[handle].stream] for handle in self.handles(first)}
                left.fields |= {name for name in titles if name}
        return left

    def structured(self, body: Mapping[str, Any]) -> Left:
        """The structured channel of a tool; the steps that it names repeat what was asked."""
        if "metadata" in body:
            return self.document(body)
        steps = body.get("next", [])
        told = {name: value for name, value in body.items() if name not in ("next", "read_with")}
        if isinstance(meta := body.get("data", {}).get("meta"), Mapping):  # how often words occur that were asked for
            told["data"] = {**body["data"], "meta": {name: meta[name] for name in meta if name != "words"}}
        left = self.json(told) | self.json(steps) | self.marks(orjson.dumps(told).decode())
        left.records |= self.handles(orjson.dumps(body).decode())
        return left

    def rest(self, body: Mapping[str, Any]) -> Left:
        """An answer over HTTP; the times of the first and the last of all records are of no record in it."""
        told = {name: value for name, value in body.items() if name != "links"}
        meta = dict(told.get("meta", {}))
        window = meta.pop("window", {})
        left = self.json(told) | self.marks(orjson.dumps({**told, "meta": meta}).decode())
        left.fields |= self.marks(orjson.dumps(window).decode()).fields
        return left

    def document(self, document: Mapping[str, Any]) -> Left:
        """What `fetch` gives: all of it is text."""
        said = [document["title"], document["text"], *document["metadata"].values()]
        left = Left(self.handles(" ".join((document["id"], *said))))
        for part in said:
            left |= self.marks(part)
        for part in (document["text"], document["metadata"].get("fields", "")):
            left.fields |= {*_LINE.findall(part)}
        return left

    def page(self, html: str) -> Left:
        """A page for the owner, without the list of who read what, which is the log itself."""
        shown = html.partition("<h2>Who read it")[0]
        text = unescape(shown)
        addresses = " ".join(unquote(address) for address in re.findall(r'href="/records/([^"?]+)', shown))
        left = self.marks(re.sub(r"</?mark>", "", text))
        left.records |= self.handles(text) | self.handles(unescape(addresses))
        if 'class="month"' in shown:  # a day has its place there
            left.fields |= {name for handle in left.records if (name := TIMES[self._marked.by_handle[handle].stream])}
        if "?talk=" in shown:  # the way to a talk, by the name that its records give it
            left.fields.add("f_thread")
        if 'href="/attachments/' in shown:  # by whose name bytes are called
            left.fields.add("f_scan")
        left.fields |= {name.replace(" ", "_") for name in re.findall(r"<dt[^>]*>(id|f \w+)</dt><dd", shown)}
        return left

    def looked_back(self, html: str) -> Left:
        """A page that tells of earlier reads, or of what a client would see: by the titles on it.

        What was asked at the time stands there too, in the words of whoever asked, which tells of no record.
        """
        left = Left()
        for address, title in re.findall(r'href="/records/([^"?]+)"[^>]*>(.*?)</a>', html):
            if title != "this record":  # which the address of the page names
                left.records |= self.handles(unescape(unquote(address)))
                left.fields |= self.marks(unescape(title)).fields
        for titles in _SAMPLES.findall(html):
            left |= self.marks(unescape(titles))
        return left

    def samples(self, html: str) -> int:
        """How many records a preview draws."""
        return sum(titles.count("<li>") for titles in _SAMPLES.findall(html))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner)
