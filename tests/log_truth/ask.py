"""Random calls at every door, and whether the line of each says what its answer showed."""

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, get_args
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import orjson
from httpx2 import Response
from starlette.testclient import TestClient

from pdpp_server.app import create_app
from pdpp_server.evidence.handles import mint, parse
from pdpp_server.mcp.server import STRUCTURED, TEXT, McpServer
from pdpp_server.mcp.session import ProtocolFault
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.activity import Disclosure
from pdpp_server.model.queries import Mode
from pdpp_server.model.records import RecordId
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.port.local import LocalReader
from pdpp_server.settings import Settings
from tests.log_truth.left import Finder, Left
from tests.scenarios.console.visitor import ORIGIN, PASSWORD, Visitor, cheap_passwords, fields_of
from tests.worlds.marked import (
    FACTS,
    FIELDS,
    LETTERS,
    RELATIONS,
    SEARCHED,
    THREADS,
    VIEWS,
    WORDS,
    Marked,
    minute,
)

STREAMS = (LETTERS, LETTERS, LETTERS, THREADS, THREADS, FACTS)
SHORTENED = ("page_shortened", "expansion_shortened", "fields_not_shown")  # to fit a channel
QUESTIONS = {"schema": 1, "query_records": 3, "aggregate": 1, "search": 2, "fetch": 2, "read_record_field": 1}
Arguments = dict[str, Any]
_SUGGESTS = b" stands nowhere here, "
_COUNTED_IN = re.compile(r'several_currencies|all in "|= -?[\d.]+ "|-?[\d.]+ "[^"]*" \(\d+\)')  # of a sum
_MONTHS = re.compile(r"\b\d{4}-\d\d\.\.\d{4}-\d\d\b")
_DAY = re.compile(r'"\d{4}-\d\d(?:-\d\d)?"')  # or month, of the first and the last record, as `schema` tells it


@dataclass
class Tally:
    """What was asked, and what the log got wrong about it."""

    calls: Counter[str] = field(default_factory=Counter[str])
    arguments: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    unlogged: list[str] = field(default_factory=list[str])  # left, and is not in the line
    unsent: list[str] = field(default_factory=list[str])  # in the line, and did not leave

    def add(self, where: str, line: Disclosure, left: Left) -> None:
        said = {"records": {*line.records}, "fields": {*line.fields}}
        found = {"records": left.records, "fields": left.fields}
        for what in said:
            if missing := found[what] - said[what]:
                self.unlogged.append(f"{where}: {what} {sorted(missing)[:5]} left unlogged")
            if more := said[what] - found[what]:
                self.unsent.append(f"{where}: {what} {sorted(more)[:5]} logged, and did not leave")
        if len(line.records) != len({*line.records}):
            self.unsent.append(f"{where}: a record is named twice")

    def require(self, holds: bool, where: str, what: str) -> None:
        if not holds:
            self.unlogged.append(f"{where}: {what}")


class Asking:
    """One world behind all its doors."""

    def __init__(self, marked: Marked, http: TestClient, visitor: Visitor, seed: int) -> None:
        self.marked, self.http, self.visitor = marked, http, visitor
        self.random, self.tally, self.finder = Random(seed), Tally(), Finder(marked)
        self.beside = Random(seed)  # of its own: the other questions stay what they were
        self.deciding = Random(seed)
        self._asked = ""
        self._server = McpServer(TOOLS)
        self.ways: dict[str, list[tuple[str, str]]] = {}  # ways on, by stream, each with the token that knows it
        self._links: list[tuple[str, str]] = []
        self._known_to: str | None = None
        self._last_token = ""

    def run(self, many: int) -> Tally:
        doors: tuple[tuple[int, Callable[[], None]], ...] = (
            (8, self.by_tool),
            (3, self.by_one_channel),
            (6, self.by_rest),
            (1, self.by_head),
            (2, self.by_resource),
            (1, self.by_completion),
            (1, self.by_blob),
            (2, self.by_page),
            (1, self.by_hosted_tool),
            (1, self.by_looking_back),
        )
        weights = [weight for weight, _ in doors]
        for _ in range(many):
            (door,) = self.random.choices([door for _, door in doors], weights)
            door()
        return self.tally

    # Doors ----------------------------------------------------------------------------------------------------------

    def by_tool(self, asked: tuple[str, Arguments] | None = None) -> None:
        name, arguments = asked or self.question()
        reader = LocalReader(self.marked.services, self._token(), self.random.choice((None, "https://me.example")))
        with self.lines() as lines:
            answer = orjson.loads(self._server.call(lambda: reader, name, arguments))
        self._check_tool("tool", name, arguments, answer, lines)

    def by_one_channel(self) -> None:
        """As the command shows it."""
        name, arguments = self.question()
        reader = LocalReader(self.marked.services, self._token())
        channel = self.random.choice((TEXT, STRUCTURED))
        with self.lines() as lines:
            answer = orjson.loads(self._server.call(lambda: reader, name, arguments, frozenset({channel})))
        if not answer.get("isError"):
            assert len(answer) == 1
        self._check_tool(channel, name, arguments, answer, lines)

    def by_hosted_tool(self) -> None:
        name, arguments = self.question()
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        headers = {"Authorization": f"Bearer {self._token()}", "Accept": "application/json, text/event-stream"}
        with self.lines() as lines:
            answer = self.http.post("/mcp", json=message, headers=headers).json()["result"]
        self._check_tool("hosted", name, arguments, answer, lines)

    def by_resource(self) -> None:
        id = self._id()
        uri, tool = self.random.choice(
            (
                (f"pdpp://record/{mint(id)}", "fetch"),
                (f"pdpp://stream/{id.stream}", "schema"),
                (f"pdpp://field-window/{mint(id)}?field_path={self._field(id.stream)}&limit_chars=80", "window"),
            )
        )
        with self.lines() as lines:
            answer = self._live("resources/read", {"uri": uri})
        where = f"resource {uri}"
        if answer is None:
            return self._refused(where, lines)
        (text,) = (each["text"] for each in answer["contents"])
        self.tally.calls[f"resource {tool}"] += 1
        if tool == "schema":
            return self._check_catalogue(where, lines, text, None)
        left = self.finder.document(orjson.loads(text)) if tool == "fetch" else self.finder.text(text)
        return self._compare(where, lines, left, orjson.dumps(answer))

    def by_completion(self) -> None:
        argument = self.random.choice(("connection_id", "stream", "field_path"))
        uri = (
            "pdpp://field-window/{connection_id}/{stream}:{record_id}"
            "{?field_path,offset_chars,limit_chars,q,before_chars,after_chars}"
        )
        known = {"arguments": {"stream": self.random.choice(STREAMS)}}
        asked = {"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": argument, "value": ""}}
        with self.lines() as lines:
            answer = self._live("completion/complete", {**asked, "context": known})
        assert answer is not None
        (line,) = lines
        self.tally.calls["completion"] += 1
        named = {"connection_id": line.connections, "stream": line.streams, "field_path": ()}[argument]
        values = set() if argument == "field_path" else {*answer["completion"]["values"]}
        self.tally.require({*named} == values, "completion", f"{argument}: {named} is logged, {values} left")
        self.tally.require(line.records == line.fields == (), "completion", "it names records or fields")

    def by_rest(self, asked: str | None = None) -> None:
        path = asked or self.address()
        with self.lines() as lines:
            response = self.get(path)
        assert response.status_code < 500, path
        if response.status_code >= 400:
            return self._refused(path, lines)
        return self._check_rest(path, response, lines)

    def by_head(self) -> None:
        """What headers tell: whether a record that was asked for by its name is there."""
        path = self.address()
        token = self._token(owner=True)
        with self.lines():
            whole = self.get(path, token=token)
        with self.lines() as lines:
            response = self.get(path, method="HEAD", token=token)
        assert (response.status_code, response.content) == (whole.status_code, b"")
        if response.status_code >= 400:
            return self._refused(path, lines)
        self.tally.calls["head"] += 1
        (line,) = lines
        body = whole.json()
        named = self.finder.json(body).records if line.operation in ("fetch", "read_record_field") else set[str]()
        if "expanded" in body:
            named = self.finder.json({**body, "expanded": {}}).records
        return self.tally.add(f"HEAD {path}", line, Left(named))

    def by_blob(self) -> None:
        blob = self.random.choice([*self.marked.blobs, "blob_sha256_" + "0" * 64])
        extra = self.random.choice(({}, {"Range": "bytes=2-9"}, {"Range": "bytes=99999-"}, {"If-None-Match": "*"}))
        method = self.random.choice(("GET", "GET", "HEAD"))
        with self.lines() as lines:
            response = self.get(f"/v1/blobs/{blob}", method=method, **extra)
        where = f"{method} blob {extra}"
        if response.status_code in (400, 401, 403, 404, 409):
            return self._refused(where, lines)
        self.tally.calls["blob"] += 1
        (line,) = lines
        self.tally.require({*line.records} <= self.marked.blobs[blob], where, f"{line.records} do not refer to it")
        self.tally.require((len(line.records), line.fields) == (1, ("f_scan",)), where, "not one record and its field")
        sent = 0 if response.status_code in (304, 416) else len(response.content)
        return self.tally.require(line.bytes == sent, where, f"{line.bytes} bytes are logged, {sent} left")

    def by_page(self) -> None:
        id = self._id()
        record = f"/records/{quote(mint(id), safe='/:')}"
        words = self.random.choice(WORDS)  # which the page repeats, so that they have no marks
        path = self.random.choice((record, f"{record}?field={self._field(id.stream)}", f"/search?q={words}"))
        if self.beside.random() < 0.5:
            path = self._another_page(id)
        self._last_token = self.marked.owner_token
        with self.lines() as lines:
            response = self.visitor.get(path)
        assert response.status_code < 500, path
        if response.status_code >= 400:
            return self._refused(path, lines)
        self.tally.calls["page"] += 1
        self.tally.calls[path.split("/")[1].partition("?")[0]] += 1
        left = self.finder.page(response.text)
        if "field=" in path:
            left.fields.add(path.rpartition("field=")[2])
        return self._compare(f"page {path}", lines, left, response.content)

    def by_looking_back(self) -> None:
        """What was read, and what would be: pages that show titles of records and ask for each stream by itself."""
        if self.deciding.random() < 0.4:
            return self._by_deciding()
        grant = self.random.choice(self.marked.owner.grants()).grant.grant_id
        record = quote(mint(self._id()), safe="")
        path = self.random.choice(
            ("/", "/activity", f"/activity?record={record}", f"/clients/{grant}", f"/clients/{grant}/preview")
        )
        with self.lines() as lines:
            response = self.visitor.get(path)
        assert response.status_code < 400, path
        self.tally.calls["looking back"] += 1
        left = self.finder.looked_back(response.text)
        named = {handle for line in lines for handle in line.records}
        fields = {name for line in lines for name in line.fields}
        self.tally.require(left.records <= named, path, f"{left.records - named} left unlogged")
        self.tally.require(left.fields <= fields, path, f"{left.fields - fields} left unlogged")
        if path.endswith("/preview"):
            return self._check_samples(path, response.text, lines)
        if more := named - left.records:
            self.tally.unsent.append(f"{path}: {more} logged, and did not leave")
        return None

    def _by_deciding(self) -> None:
        """What a client would see: of a consent before it is given, of a grant before it is changed."""
        grant = self.deciding.choice(self.marked.owner.grants()).grant.grant_id
        path = self.deciding.choice((self._consent(), f"/clients/{grant}/change"))
        with self.lines() as before:
            page = self.visitor.page(path)
        self._check_samples(path, page, before)
        (action,) = re.findall(r'action="(/consent|/clients/[^"]+/change)"', page)
        with self.lines() as lines:
            response = self.visitor.post(action, [*self._decided(page, action), ("action", "review")])
        assert response.status_code == 200, path
        self.tally.calls["deciding"] += 1
        self.tally.calls["decided"] += bool(lines)
        self._check_samples(f"review of {path}", response.text, lines)

    def _consent(self) -> str:
        """The page on which one client waits all the time, for whatever the owner picks."""
        if not self._asked:
            said = {"client_name": "Agent X", "redirect_uris": ["https://x.example/"]}
            client = self.http.post("/oauth/register", json=said).json()["client_id"]
            code = {"response_type": "code", "code_challenge": "c" * 43, "code_challenge_method": "S256"}
            asked = urlencode({"client_id": client, "redirect_uri": "https://x.example/", **code})
            self._asked = self.visitor.get(f"/oauth/authorize?{asked}").headers["location"]
        return self._asked

    def _decided(self, page: str, action: str) -> list[tuple[str, str]]:
        """Some of the ways that a source can be given; of a grant that stands, some of it left out."""
        standing = fields_of(page, action)
        if action == "/consent":
            ways = re.findall(r'name="(pick[.]\d+)" id="[\w-]+" value="([^"]*)"', page)
            return list((dict(standing) | dict(self.deciding.choices(ways, k=3))).items())
        return [pair for pair in standing if pair[0] not in ("stream", "field") or self.deciding.random() < 0.8]

    def _check_samples(self, where: str, html: str, lines: list[Disclosure]) -> None:
        """Some have no name of their own, so that all are counted."""
        left = self.finder.looked_back(html)
        named = {handle for line in lines for handle in line.records}
        self.tally.require(left.records <= named, where, f"{left.records - named} left unlogged")
        fields = {name for line in lines for name in line.fields}
        self.tally.require(left.fields <= fields, where, f"{left.fields - fields} left unlogged")
        logged, samples = sum(len(line.records) for line in lines), self.finder.samples(html)
        self.tally.require(logged == samples, where, f"{logged} records are logged, {samples} left")

    def _another_page(self, id: RecordId) -> str:
        stream = f"/sources/{id.connection_id}/{id.stream}"
        day = minute(self.beside.randrange(len(self.marked.ids)))[:10]
        return self.beside.choice(
            (
                stream,
                f"{stream}?talk={self.beside.choice(('t2', 't5'))}",
                f"{stream}?around={quote(mint(id), safe='')}",
                f"{stream}?month=2019-01",
                f"/timeline?day={day}",
                f"/attachments/{self.beside.choice([*self.marked.blobs])}",
                f"/search?q={quote(self._mistyped())}",
            )
        )

    # Checks ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def lines(self) -> Generator[list[Disclosure]]:
        """The lines that are written meanwhile."""
        before = len(self.marked.log.lines)
        found: list[Disclosure] = []
        yield found
        found += self.marked.log.lines[before:]
        if len(self.marked.log.lines) > 10_000:
            self.marked.log.lines.clear()

    def _refused(self, where: str, lines: list[Disclosure]) -> None:
        self.tally.calls["refused"] += 1
        self.tally.require(not lines, where, "it was refused, and is logged")

    def _compare(
        self, where: str, lines: list[Disclosure], left: Left, sent: bytes, asked: Iterable[str] | None = None
    ) -> None:
        if len(lines) != 1:
            return self.tally.require(False, where, f"{len(lines)} lines for one answer")
        (line,) = lines
        suggested = self._suggested_from(sent, asked)
        left.fields.update(*suggested.values())
        self.tally.add(where, line, left)
        named = [self.marked.by_handle[handle] for handle in line.records]
        if named:
            streams = {id.stream for id in named} | suggested.keys()
            connections = {id.connection_id for id in named}
            self.tally.require({*line.streams} == streams, where, f"streams {line.streams} are logged")
            self.tally.require({*line.connections} >= connections, where, f"connections {line.connections} are logged")
        return self.tally.require(line.bytes == len(sent), where, f"{line.bytes} bytes are logged, {len(sent)} left")

    def _suggested_from(self, sent: bytes, asked: Iterable[str] | None) -> dict[str, frozenset[str]]:
        """Another word than the one that was asked for tells of every field, of each stream, that it may stand in."""
        if _SUGGESTS not in sent:
            return {}
        self.tally.calls["suggestion"] += 1
        granted = self.marked.granted[self._last_token]
        return {name: granted[name] & {*SEARCHED[name]} for name in asked or granted}

    def _check_tool(self, door: str, name: str, arguments: Arguments, answer: Any, lines: list[Disclosure]) -> None:
        where = f"{door} {name} {arguments}"
        for argument in arguments:
            self.tally.arguments[name, argument] += 1
        if answer.get("isError"):
            return self._refused(where, lines)
        self.tally.calls[f"{door} {name}"] += 1
        text = answer["content"][0]["text"] if "content" in answer else ""
        structured = answer.get("structuredContent")
        if structured and "request_id" in structured and lines:
            self.tally.require(structured["request_id"] == lines[0].request_id, where, "another request id")
        self._keep_marks(arguments, structured)
        for shortened in SHORTENED:
            self.tally.calls[shortened] += shortened in orjson.dumps(answer).decode()
        if name == "schema":
            return self._check_catalogue(where, lines, text, structured)
        if name == "aggregate":
            return self._check_numbers(where, lines, arguments, text, structured or {})
        left = self.finder.structured(structured) if structured else Left()
        if text:
            left |= self.finder.document(orjson.loads(text)) if name == "fetch" else self.finder.text(text)
        return self._compare(where, lines, left, orjson.dumps(answer), arguments.get("streams"))

    def _check_numbers(
        self, where: str, lines: list[Disclosure], asked: Mapping[str, Any], text: str, structured: Mapping[str, Any]
    ) -> None:
        """No record is shown; the values of a field are: extremes, the keys of groups, and what amounts are in."""
        (line,) = lines
        told = {asked[name] for name in ("field", "group_by", "group_by_time") if name in asked}
        counted_in = structured.get("data", structured).get("currency_field")
        if counted_in or _COUNTED_IN.search(text):
            told.add(counted_in or "f_more00")
        self.tally.add(where, line, Left(set(), told))
        self.tally.require(line.streams == (asked["stream"],), where, f"streams {line.streams} are logged")

    def _check_catalogue(self, where: str, lines: list[Disclosure], text: str, body: Any) -> None:
        """Names of connections and streams, and the first and the last day of each."""
        if len(lines) != 1:
            return self.tally.require(False, where, f"{len(lines)} lines for one answer")
        (line,) = lines
        told = {name: value for name, value in (body or {}).items() if name != "links"}  # which repeat what was asked
        shown = text + orjson.dumps(told).decode()
        connections = {id for id in self.marked.connections if id in shown}
        self.tally.require({*line.connections} == connections, where, f"{line.connections} logged, {connections} left")
        dated = _DAY.search(shown) is not None or _MONTHS.search(text) is not None
        said = {*line.fields} <= {"f_sent", "f_started"} and bool(line.fields) == dated
        self.tally.require(said, where, f"fields {line.fields} are logged, days left: {dated}")
        return self.tally.require(line.records == (), where, "records are logged")

    def _check_rest(self, path: str, response: Response, lines: list[Disclosure]) -> None:
        body = response.json()
        (line,) = lines
        self.tally.calls[f"rest {line.operation}"] += 1
        if following := body.get("links", {}).get("next"):
            self._links = [*self._links[-30:], (following, self._last_token)]
        match line.operation:
            case "schema" | "streams" | "connectors" | "stream_metadata":
                if line.operation in ("schema", "streams"):
                    self._check_catalogue(path, lines, "", body)
                self.tally.require(line.bytes == len(response.content), path, "other bytes are logged")
            case "aggregate":
                asked = {name: body[name] for name in ("field", "group_by", "group_by_time") if body[name] is not None}
                self._check_numbers(path, lines, {"stream": body["stream"], **asked}, "", body)
            case _:
                mode = body.get("meta", {}).get("retrieval_mode", "words")
                self.tally.calls[f"by {mode}"] += line.operation == "search"
                streams = parse_qs(urlsplit(path).query).get("streams")
                self._compare(path, lines, self.finder.rest(body), response.content, streams)

    # Questions ------------------------------------------------------------------------------------------------------

    def question(self) -> tuple[str, Arguments]:
        (tool,) = self.random.choices([*QUESTIONS], [*QUESTIONS.values()])
        asked: Arguments = getattr(self, f"_{tool}")()
        return tool, {name: value for name, value in asked.items() if value is not None}

    def _schema(self) -> Arguments:
        stream = self._maybe(self.random.choice(STREAMS))
        detail = self._maybe("full" if stream else "compact")
        return {"stream": stream, "detail": detail, "connection_id": self._maybe(self._connection(), 0.3)}

    def _query_records(self) -> Arguments:
        stream = self.random.choice(STREAMS)
        if (ways := self.ways.get(stream)) and self.random.random() < 0.2:
            return self._way_on(ways)
        if self.random.random() < 0.15:
            return {
                "stream": stream,
                "changes_since": "beginning",
                "limit": self.random.choice((2, 10, 100)),
                "connection_id": self._connection(),
            }
        projected = self.random.choice(("none", "none", "fields", "view"))
        asked = {
            "stream": stream,
            "limit": self._maybe(self.random.choice((1, 2, 5, 25, 100)), 0.8),
            "fields": self._fields(stream) if projected == "fields" else None,
            "view": VIEWS[stream] if projected == "view" else None,
            "filter": self._filter(stream),
            "sort": self._maybe(self.random.choice(("f_sent", "-f_sent", "f_started")), 0.1),
            **self._expansion(stream),
            "count": self._maybe(self.random.choice(("none", "exact")), 0.2),
            "connection_id": self._maybe(self._connection(), 0.6),
        }
        return self._around(asked) if self.beside.random() < 0.15 else asked

    def _around(self, asked: Arguments) -> Arguments:
        """The same fields of the records beside one."""
        stream = asked["stream"]
        id = self.beside.choice([id for id in self.marked.ids if id.stream == stream])
        limit = self.beside.choice((None, 1, 4, 11, 60))
        kept = {name: asked[name] for name in ("stream", "fields", "view", "count")}
        return {**kept, "around": mint(id), "limit": limit}

    def _aggregate(self) -> Arguments:
        stream = self.random.choice((LETTERS, LETTERS, THREADS))
        time = "f_sent" if stream == LETTERS else "f_started"
        asked: Arguments = {"stream": stream, "metric": "count"}
        match self.random.randrange(4):
            case 0:
                metric = self.random.choice(("sum", "min", "max", "count_distinct"))
                field = {"sum": "f_pages", "count_distinct": "f_actor"}.get(metric) or self.random.choice(
                    ("f_pages", "f_sent")
                )
                asked |= {"metric": metric, "field": field}
                if self.beside.random() < 0.5:
                    asked["group_by"] = self.beside.choice(("f_actor", "f_stamp"))
            case 1:
                group = self.random.choice(("f_actor", "f_stamp", "f_subject")) if stream == LETTERS else "f_open"
                asked |= {"group_by": group, "limit": self.random.choice((1, 10, 100))}
            case 2:
                asked |= {"group_by_time": time, "granularity": self.random.choice(("day", "hour", "month"))}
                asked |= {"time_zone": self.random.choice(("UTC", "Europe/Zurich"))}
            case _:
                pass
        return {**asked, "filter": self._filter(stream), "connection_id": self._maybe(self._connection(), 0.6)}

    def _search(self) -> Arguments:
        if (marks := self.ways.get("")) and self.random.random() < 0.2:
            return self._way_on(marks)
        words = self._words() if self.beside.random() < 0.8 else self._mistyped()
        streams = self._maybe([self.random.choice(STREAMS)], 0.4)
        return {
            self.random.choice(("query", "query", "q")): words,
            "streams": streams,
            "filter": self._filter(streams[0]) if streams else None,
            "limit": self._maybe(self.random.choice((1, 5, 25, 40, 100)), 0.7),
            "mode": self.beside.choice((None, *get_args(Mode))),
            "connection_id": self._maybe(self._connection(), 0.3),
        }

    def _fetch(self) -> Arguments:
        id = self._id()
        short = self.random.random() < 0.1 and ":" not in id.key and "/" not in id.key
        return {
            "id": f"{id.stream}:{id.key}" if short else mint(id),
            "connection_id": self._maybe(id.connection_id, 0.9 if short else 0.1),
            "fields": self._maybe(self._fields(id.stream), 0.3),
            **self._expansion(id.stream, 0.5),
        }

    def _read_record_field(self) -> Arguments:
        id = self._id()
        parts = {"connection_id": id.connection_id, "stream": id.stream, "record_id": id.key}
        named: Arguments = {"id": mint(id)} if self.random.random() < 0.8 else parts
        match self.random.randrange(4):
            case 0:
                place: Arguments = {"q": self.random.choice(WORDS), "before_chars": self.random.choice((0, 40))}
                place["after_chars"] = self.random.choice((20, 200))
            case 1:
                place = {"cursor": str(self.random.choice((0, 7, 300)))}
            case 2:
                place = {"offset_chars": self.random.choice((0, 7, 300))}
            case _:
                place = {}
        limit = self._maybe(self.random.choice((1, 9, 80, 4000, 16_000)))
        return {**named, "field_path": self._field(id.stream), **place, "limit_chars": limit}

    def address(self) -> str:
        """The same questions over HTTP, and those that only HTTP has."""
        if self._links and self.random.random() < 0.15:
            link, self._known_to = self.random.choice(self._links)
            return link
        if self.random.random() < 0.15:
            stream = self.random.choice(STREAMS)
            where = self._maybe(f"?connection_id={self._connection()}") or ""
            return self.random.choice(
                (f"/v1/streams{where}", "/v1/connectors", f"/v1/streams/{stream}{where}", f"/v1/schema{where}")
            )
        name, asked = self.question()
        path = {"schema": "schema", "search": "search"}.get(name, "")
        if name in ("query_records", "aggregate"):
            path = f"streams/{asked.pop('stream')}/{'records' if name == 'query_records' else name}"
        if "around" in asked:
            id = parse(asked["around"])
            asked |= {"around": id.key, "connection_id": id.connection_id}
        if name in ("fetch", "read_record_field"):
            id = self._id()
            path = f"streams/{id.stream}/records/{quote(id.key, safe='')}"
            path += "/field-window" if name == "read_record_field" else ""
            asked = {k: v for k, v in asked.items() if k not in ("id", "stream", "record_id", "cursor")}
            asked["connection_id"] = id.connection_id
        renamed = {"query": "q", "field_path": "field"}
        pairs = [pair for k, v in asked.items() for pair in _pairs(renamed.get(k, k), v)]
        if name == "query_records" and asked.keys().isdisjoint(("changes_since", "cursor", "around")):
            pairs += [("order", self.random.choice(("asc", "desc")))] if "sort" not in asked else []
            pairs += [("window", "exact")] if self.random.random() < 0.3 else []
        return f"/v1/{path}?{urlencode(pairs)}"

    def get(self, path: str, *, method: str = "GET", token: str | None = None, **headers: str) -> Response:
        sent = {"Authorization": f"Bearer {token or self._token(owner=True)}", **headers}
        return self.http.request(method, path, headers=sent)

    def _live(self, method: str, params: Arguments) -> Any:
        reader = LocalReader(self.marked.services, self._token())
        try:
            return orjson.loads(self._server.serve(lambda: reader, method, params).result)
        except ProtocolFault:
            return None

    def _keep_marks(self, asked: Mapping[str, Any], structured: Any) -> None:
        """Some of the ways on, to be taken later."""
        for step in (structured or {}).get("next", ()):
            arguments = step["arguments"]
            if step["tool"] == "query_records" and {"cursor", "changes_since"} & arguments.keys():
                self.ways.setdefault(asked["stream"], []).append((orjson.dumps(arguments).decode(), self._last_token))
            elif step["tool"] == "search" and "cursor" in arguments:
                self.ways.setdefault("", []).append((orjson.dumps(arguments).decode(), self._last_token))
        for kept in self.ways.values():
            del kept[:-30]

    def _token(self, *, owner: bool = False) -> str:
        known_to, self._known_to = self._known_to, None
        self._last_token = known_to or self._any_token(owner=owner)
        return self._last_token

    def _way_on(self, ways: list[tuple[str, str]]) -> Arguments:
        asked, self._known_to = self.random.choice(ways)
        return orjson.loads(asked)

    def _any_token(self, *, owner: bool) -> str:
        tokens = {**self.marked.tokens, **({"owner": self.marked.owner_token} if owner else {})}
        if owner:
            del tokens["package"]  # which is heard by the tools alone
        return self.random.choice([tokens["everything"], *tokens.values()])

    def _id(self) -> RecordId:
        """Mostly of the first source, of which most tokens are."""
        known = self.marked.ids if self.random.random() < 0.2 else self.marked.ids[: len(self.marked.ids) // 2]
        return self.random.choice(known)

    def _connection(self) -> str:
        return self._id().connection_id

    def _field(self, stream: str) -> str:
        return self.random.choice([name for name in FIELDS[stream] if name not in ("f_scan", "f_stamp", "f_open")])

    def _fields(self, stream: str) -> list[str]:
        return self.random.sample(FIELDS[stream], self.random.randint(1, 3))

    def _words(self) -> str:
        word = self.random.choice(WORDS)
        number = self.random.randrange(len(self.marked.ids))
        return self.random.choice((word, word, f"{word} {self.random.choice(WORDS)}", f'"{word}"', f"q{number}x3z", f"{word[:4]}*"))  # fmt: skip  # noqa: E501

    def _mistyped(self) -> str:
        """A word of which a letter is missing, alone or at a time, so that another is suggested."""
        word = self.beside.choice(WORDS)
        place = self.beside.randrange(1, len(word))
        return word[:place] + word[place + 1 :] + self.beside.choice(("", " last month", " in March 2019"))

    def _filter(self, stream: str) -> Arguments | None:
        """By values that nothing has where a value is repeated: what an asker says is no disclosure."""
        if stream == FACTS or self.random.random() < 0.7:
            return None
        if stream == THREADS:
            return {"f_open": self.random.choice((True, False))}
        since = f"{minute(self.random.randrange(200))}:30Z"[:15] + "9:30Z"
        return self.random.choice(
            (
                {"f_stamp": True},
                {"f_sent": {"gte": since}},
                {"f_thread": "t1"},
                {"f_pages": {"lt": 8_000_000}},
                {"f_stamp": False, "f_sent": {"lt": since}},
            )
        )

    def _expansion(self, stream: str, chance: float = 0.3) -> Arguments:
        relation = RELATIONS[stream]
        if relation is None or self.random.random() > (0.7 if stream == THREADS else chance):
            return {}
        limit = {relation: self.random.choice((1, 3, 50, 50))} if relation == "letters" else None
        return {"expand": [relation], "expand_limit": self._maybe(limit, 0.8)}

    def _maybe(self, value: Any, chance: float = 0.5) -> Any:
        return value if self.random.random() < chance else None


def _pairs(name: str, value: Any) -> list[tuple[str, str]]:
    match value:
        case dict():
            return [pair for key, inner in value.items() for pair in _pairs(f"{name}[{key}]", inner)]
        case list() if name == "fields":
            return [(name, ",".join(value))]
        case list():
            return [(name, str(each)) for each in value]
        case bool():
            return [(name, "true" if value else "false")]
        case _:
            return [(name, str(value))]


@contextmanager
def asking(marked: Marked, seed: int) -> Generator[Asking]:
    """All doors of that world open, and the owner signed in."""
    with cheap_passwords():
        SignIn(marked.services).set_password(PASSWORD)
        app = create_app(Settings(home=marked.home, rate_burst=10_000_000, rate_per_second=1_000_000), marked.services)
        with TestClient(app, base_url=ORIGIN) as http:
            visitor = Visitor(http, app.state.sign_in)
            assert visitor.sign_in().status_code == 303
            yield Asking(marked, http, visitor, seed)
