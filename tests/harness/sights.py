"""What a reader of one channel finds in an answer. Everything here is taken from the string that was shown."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

_WINDOW = re.compile(r"(.*?)\nrecord text follows, to (?P<end>\[end(?: \d+)?\]):\n(.*)\n(?P=end)", re.DOTALL)
STRING = r'"(?:[^"\\]|\\.)*"'
CONNECTION = r"(?:cin_|[a-z0-9_-]+-[2-9a-z]{5})\S* "
HANDLE = r'[^\s"/:]+/[^\s":]+:[^\s"]+'
_NAME = rf"({STRING}|[^\s\[\]\"]+)"
_PLACES = ("offset_chars", "cursor", "q", "before_chars", "after_chars")


class Call(NamedTuple):
    tool: str
    arguments: Mapping[str, Any]

    def but(self, **arguments: Any) -> "Call":
        return Call(self.tool, {**self.arguments, **arguments})

    def without(self, name: str) -> "Call":
        return Call(self.tool, {given: value for given, value in self.arguments.items() if given != name})


class Sight(Protocol):
    """One answer to one call, as far as it was seen."""

    @property
    def candidates(self) -> list[str]:
        """The connections that an ambiguity offers; none where the answer is no ambiguity."""
        ...

    @property
    def remedy(self) -> str:
        """What a refusal says after its reason."""
        ...

    @property
    def streams(self) -> dict[str, set[str]]:
        """The streams of an index, each with the ids of its connections."""
        ...

    @property
    def time_field(self) -> str:
        """A field of one stream by which can be counted over time."""
        ...

    @property
    def handles(self) -> list[str]: ...

    @property
    def opening(self) -> Call:
        """The first step that is offered."""
        ...

    @property
    def onward(self) -> Call | None:
        """The call for what comes after everything that was seen here."""
        ...

    @property
    def later(self) -> Call:
        """The call that will tell what has changed since."""
        ...

    @property
    def gone(self) -> list[str]:
        """The handles of records that were deleted."""
        ...

    @property
    def piece(self) -> str:
        """The text of a window."""
        ...

    @property
    def number(self) -> int:
        """What was counted, in all groups together."""
        ...


def words_of(text: str) -> str:
    """The part of a text in which our own words stand."""
    return split_window(text)[0]


def split_window(text: str) -> tuple[str, str]:
    """Our words, and the text of the record between their last line and the mark that they name."""
    found = _WINDOW.fullmatch(text)
    return (found[1], found[3]) if found else (text, "")


def unquoted(line: str) -> str:
    """Our own words of a line: everything of a record stands in JSON strings."""
    return re.sub(STRING, '""', line)


def name_at(found: str) -> str:
    return json.loads(found) if found.startswith('"') else found


class TextSight:
    """By the lines of the text."""

    def __init__(self, seen: str, asked: Call) -> None:
        self._seen, self._asked = seen, asked
        self._lines = words_of(seen).split("\n")

    @property
    def candidates(self) -> list[str]:
        if not self._seen.startswith("ambiguous_connection: "):
            return []
        return [line.split(" ")[0] for line in self._lines[1:] if re.match(CONNECTION, line)]

    @property
    def remedy(self) -> str:
        return self._lines[0].partition(". ")[2]

    @property
    def streams(self) -> dict[str, set[str]]:
        ids = dict(re.findall(r"^\[(\d+)\] (\S+) ", "\n".join(self._lines), re.MULTILINE))
        rows = [row for line in self._lines if line.startswith("connector ") for row in _numbered(line)]
        return _together((name, {ids[str(number)] for number in numbers}) for name, numbers in rows)

    @property
    def time_field(self) -> str:
        found = re.search(rf"(?:^|\| ){_NAME} [^|\n]*agg\([^)]*group_by_time", "\n".join(self._lines), re.MULTILINE)
        assert found
        return name_at(found[1])

    @property
    def handles(self) -> list[str]:
        firsts = [line.split(" ")[0] for line in self._lines[1:]]
        return [first for first in firsts if re.fullmatch(HANDLE, first)]

    @property
    def gone(self) -> list[str]:
        lines = [line.split(" ") for line in self._lines[1:]]
        return [first for first, *others in lines if re.fullmatch(HANDLE, first) and others[:1] == ["deleted"]]

    @property
    def opening(self) -> Call:
        step = self._step("next")
        assert step
        return step

    @property
    def onward(self) -> Call | None:
        return self._step("rest") or self._step("more") or (self._step("next") if split_window(self._seen)[1] else None)

    @property
    def later(self) -> Call:
        step = self._step("next time")
        assert step
        return step

    @property
    def piece(self) -> str:
        return split_window(self._seen)[1]

    @property
    def number(self) -> int:
        if " by " not in self._lines[0]:
            return int(self._lines[0].rpartition(" = ")[2])
        others = re.search(r"other_count=(\d+)", self._lines[0])
        return sum(int(group.rpartition(" ")[2]) for group in self._lines[1].split(" · ")) + int(
            others[1] if others else 0
        )

    def _step(self, word: str) -> Call | None:
        """The call behind a word of ours: one that can be copied, or what it says to change in the call just made."""
        said = [line.removeprefix(f"{word}: ") for line in self._lines[1:] if line.startswith(f"{word}: ")]
        if not said:
            return None
        if copied := re.match(r"(\w+) (?=\{)", said[-1]):
            return Call(copied[1], _json_at(said[-1], copied.end()))
        given = _json_at(said[-1], said[-1].index("{")) if "{" in said[-1] else {}
        words = said[-1].removesuffix(" instead of changes_since")
        asked = self._asked.without("changes_since") if words != said[-1] else self._asked
        match words.split(" "):
            case [tool, "with", "id", "=", "first_fetch_id", *_]:
                return Call(tool, {"id": self._mark("first_fetch_id"), **given})
            case ["the", "same", ("call" | "search"), "with", "cursor", "=", "next_cursor"]:
                return asked.but(cursor=self._mark("next_cursor"))
            case ["the", "same", ("call" | "search"), "with", *_]:
                return asked.but(**given)
            case ["the", "same", "id", "and", "field_path", "with", *_]:
                kept = {name: value for name, value in self._asked.arguments.items() if name not in _PLACES}
                return Call(self._asked.tool, {**kept, "cursor": re.findall(r'"cursor":"(\d+)"', said[-1])[0]})
            case ["query_records", "with", "changes_since", "=", "next_changes_since"]:
                return self._asked.but(changes_since=self._mark("next_changes_since"))
            case ["fetch", "with", "an", "id", *_] | ["read_record_field", "with", "id", "and", *_]:
                return Call("fetch", {"id": self.handles[0]})
            case _:
                raise AssertionError(said[-1])

    def _mark(self, name: str) -> str:
        found = re.search(rf"(?:^| ){name}=(\S+)$", self._lines[0])
        assert found, self._lines[0]
        return name_at(found[1])


class StructuredSight:
    """By the members of the structured answer."""

    def __init__(self, seen: str, asked: Call) -> None:
        self._body: dict[str, Any] = json.loads(seen)
        self._asked = asked

    @property
    def candidates(self) -> list[str]:
        error = self._body.get("error", {})
        offered = error.get("available_connections", []) if error.get("retry_with") == "connection_id" else []
        return [connection["connection_id"] for connection in offered]

    @property
    def remedy(self) -> str:
        return self._body["error"].get("next_step", "")

    @property
    def streams(self) -> dict[str, set[str]]:
        rows = [row for connector in self._body["data"]["connectors"] for row in connector["streams"]]
        numbered = {one["number"]: one["connection_id"] for one in self._body["data"].get("connections", ())}
        if not numbered:
            return _together((row["name"], set(row["holdings"])) for row in rows)
        return _together((row["name"], {numbered[number] for number in _ranges(row["connections"])}) for row in rows)

    @property
    def time_field(self) -> str:
        (connector, *_) = self._body["data"]["connectors"]
        flags: dict[str, str] = connector["streams"][0]["field_capabilities"]
        return next(name for name, said in flags.items() if "group_by_time" in said)

    @property
    def handles(self) -> list[str]:
        if "results" in self._body:
            return [result["id"] for result in self._body["results"]]
        return [record["handle"] for record in self._body["data"]["data"]]

    @property
    def gone(self) -> list[str]:
        return [record["handle"] for record in self._body["data"]["data"] if record.get("deleted")]

    @property
    def opening(self) -> Call:
        return self._steps[0]

    @property
    def onward(self) -> Call | None:
        if "window" in self._body and self._body["window"]["next_cursor"] is None:
            return None
        return next((step for step in self._steps if "cursor" in step.arguments), None)

    @property
    def later(self) -> Call:
        return next(step for step in self._steps if "changes_since" in step.arguments)

    @property
    def piece(self) -> str:
        return self._body["window"]["text"]

    @property
    def number(self) -> int:
        data = self._body["data"]
        groups = data.get("groups")
        return data["value"] if groups is None else sum(group["count"] for group in groups) + data["other_count"]

    @property
    def _steps(self) -> list[Call]:
        return [Call(step["tool"], step["arguments"]) for step in self._body["next"]]


def _together(rows: Iterable[tuple[str, set[str]]]) -> dict[str, set[str]]:
    """Sources may have streams of the same name."""
    streams: dict[str, set[str]] = {}
    for name, connections in rows:
        streams.setdefault(name, set()).update(connections)
    return streams


def _json_at(text: str, at: int) -> dict[str, Any]:
    return json.JSONDecoder().raw_decode(text, at)[0]


def _numbered(line: str) -> Iterator[tuple[str, set[int]]]:
    for name, numbers in re.findall(rf"{_NAME}\[([\d,-]+)\]", line):
        yield name_at(name), _ranges(numbers)


def _ranges(numbers: str) -> set[int]:
    """`1-3,7` as 1, 2, 3 and 7."""
    bounds = [part.partition("-") for part in numbers.split(",")]
    return {number for low, _, high in bounds for number in range(int(low), int(high or low) + 1)}
