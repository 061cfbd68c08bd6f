"""What a child process writes: lines drawn from a seed, in batches, and what is there after each of them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import apsw
import orjson

from pdpp_server.model.ingest import Incoming
from tests.worlds import chat

ACCOUNT = chat.WORK
BATCH = 20
LINES = 290  # so that the last batch is a small one

Key = tuple[str, str]  # stream, key
State = Mapping[Key, str]  # live records, as canonical JSON


def lines(seed: int, count: int = LINES) -> list[Incoming]:
    """New records, changed ones, the same again, deletions; each text has a word of its own."""
    random = Random(f"lines {seed}")
    made = [_line(random, f"{seed}x{number}") for number in range(count)]
    for number in range(10, count, 17):
        made[number] = made[number - random.randint(1, 9)]
    return made


def _line(random: Random, word: str) -> Incoming:
    if random.random() < 0.15:
        return chat.channel(f"team{word}", random.randint(1, 9), f"topic zt{word} of the team")
    key = f"m{random.randint(1, 90)}"
    if random.random() < 0.2:
        return chat.deletion(key)
    data: dict[str, Any] = {
        "subject": f"subject zs{word}",
        "text": f"The lease zq{word} " + "filling " * random.randint(0, 60),
    }
    if random.random() < 0.9:
        data["sent_at"] = f"2026-0{random.randint(1, 4)}-1{random.randint(0, 3)}T1{random.randint(0, 9)}:00:00Z"
    if random.random() < 0.5:
        data["likes"] = random.randint(0, 5)
    return chat.message(key, **data)


def batches(written: list[Incoming]) -> list[list[Incoming]]:
    return [written[start : start + BATCH] for start in range(0, len(written), BATCH)]


def states(steps: Iterable[Iterable[Incoming]], before: State | None = None) -> list[State]:
    """What is there before the first batch, and after each."""
    state: dict[Key, str] = dict(before or {})
    passed: list[State] = [dict(state)]
    for step in steps:
        for line in step:
            name = (line.stream, key_of(line))
            if line.data is None:
                state.pop(name, None)
            elif line.stream == "messages" or name not in state:
                state[name] = orjson.dumps(line.data, option=orjson.OPT_SORT_KEYS).decode()
        passed.append(dict(state))
    return passed


def key_of(line: Incoming) -> str:
    if line.data is None:
        return str(line.key)
    if line.stream == "messages":
        return line.data["id"]
    return orjson.dumps([line.data["team"], str(line.data["number"])]).decode()


def written_to(file: Path, written: Iterable[Incoming]) -> Path:
    file.write_bytes(b"".join(map(encoded, written)))
    return file


def encoded(line: Incoming) -> bytes:
    """As a line of NDJSON."""
    body: dict[str, Any] = {"stream": line.stream, "emitted_at": line.emitted_at}
    body |= {"key": line.key, "op": "delete"} if line.data is None else {"data": line.data}
    return orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)


def stored(path: Path) -> State:
    """What is in the database, by a connection of its own."""
    connection = apsw.Connection(str(path))
    try:
        if not connection.execute("select 1 from sqlite_schema where name = 'records'").get:
            return {}
        found: list[Any] = connection.execute(
            "select streams.name, key, data from records join streams using(sid) where data is not null"
        ).fetchall()
        return {(stream, key): data for stream, key, data in found}
    finally:
        connection.close()


def words_of(data: str) -> list[str]:
    """The words of a record's own."""
    return [
        word
        for text in orjson.loads(data).values()
        if isinstance(text, str)
        for word in text.split()
        if "x" in word and word[0] == "z"
    ]
