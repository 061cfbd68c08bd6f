"""What a question calls by its whole title: the card of a person, a note, a project."""

from collections.abc import Iterable, Mapping, Sequence

from pdpp_server.store.engine import Reading
from pdpp_server.store.records.rank import HeldPhrases, NotedRecords, by_stream
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.words import Phrase, openings, stands_at

CALLED = 4.0  # how many times the score of what is called so; neighbours and talks give nearly as much
LOOKED_AT = 100  # records of a stream whose titles are read, those that hold the most of the question there
TITLE_CHARS = 200  # a longer one is no name, and would have to be cut into words for nothing


def title_column(reach: Reach) -> int:
    """The column of its titles, as a bit; none where records are said by somebody, whose title is that of a talk."""
    field = _title_field(reach)
    return 0 if field is None else 1 << reach.place.slots[field]


def of_titles(
    reading: Reading, reaches: Iterable[Reach], question: str, scores: Mapping[int, float]
) -> Mapping[int, float]:
    """The scores, where a record whose whole title stands in the question counts several times."""
    titled = {reach.place.sid: (reach, field) for reach in reaches if (field := _title_field(reach))}
    if not titled:
        return scores
    asked = reading.tokenizer.tokens(question)
    called: list[int] = []
    for sid, noted in by_stream(reading.words.noted).items():
        if sid in titled:
            reach, field = titled[sid]
            titles = reading.records.field_of(_likely(noted, title_column(reach)), field)
            called += [rid for rid, title in titles.items() if _stands_in(reading, asked, title)]
    return {**scores, **{rid: CALLED * scores[rid] for rid in called}}


def _title_field(reach: Reach) -> str | None:
    """None where it is not declared, granted and searched, and where records have somebody who says them."""
    stream = reach.scope.stream
    title = stream.field_of("primary-title")
    return title if reach.searches(title) and stream.field_of("actor") is None else None


def _likely(noted: NotedRecords, column: int) -> list[int]:
    """Those that hold the most phrases in their titles; none that ties with one left out: what so many are called, is
    no name."""
    known = {id(note.held): _phrases_in(column, note.held) for note in noted.values()}
    phrases = {rid: count for rid, note in noted.items() if (count := known[id(note.held)])}
    if len(phrases) <= LOOKED_AT:
        return sorted(phrases)
    left_out = sorted(phrases.values(), reverse=True)[LOOKED_AT]
    return sorted(rid for rid, count in phrases.items() if count > left_out)


def _phrases_in(column: int, held: HeldPhrases) -> int:
    return sum(1 for slots in held.slots if slots & column)


def _stands_in(reading: Reading, asked: Sequence[str], title: object) -> bool:
    if not isinstance(title, str) or len(title) > TITLE_CHARS:
        return False
    tokens = reading.tokenizer.tokens(title)
    whole = Phrase(title, tokens)
    return bool(tokens) and any(stands_at(asked, place, whole) for place in openings(asked, whole))
