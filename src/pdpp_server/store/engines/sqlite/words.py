"""Words in FTS5: one table as a list of places, narrowed by ranges of its rows."""

from collections.abc import Callable, Iterator, Sequence

import apsw
import orjson

from pdpp_server.store.engines.sqlite.beginnings import Beginnings
from pdpp_server.store.engines.sqlite.counted import Counted
from pdpp_server.store.engines.sqlite.mapped import is_mapped
from pdpp_server.store.engines.sqlite.ranking import NotedRow, Ranking, TakenNotes
from pdpp_server.store.engines.sqlite.tables import SqliteTables
from pdpp_server.store.records.asked import Fullest, Narrowed, Where
from pdpp_server.store.records.rank import MatchCounts
from pdpp_server.store.records.reach import Reach
from pdpp_server.store.records.words import Phrase, WordQuery
from pdpp_server.store.session import Session

# From the newest on: forwards FTS5 walks through every page of some words, backwards it skips.
_STANDS = "select 1 from words where words match :match and {where} order by rowid desc limit 1"
_COUNT = "select count(*) from (select 1 from words where words match :match and {where} limit :most)"
_SOME = "select json_group_array(rowid) from (select rowid from words where words match :match and {where} limit :most)"
_MATCHING = "select json_group_array(words.rowid) from words where words match :match and {where}"
# The sizes of its columns stand beside the index; asked for by the function, they would be looked up more slowly.
_NOTED = """
select words.rowid, {held}(words), sizes.sz from words cross join words_docsize sizes on sizes.id = words.rowid
where words match :match and {where}
"""
_NOTED_NEWEST = _NOTED + " order by words.rowid desc limit :most"
_NOTED_OFTEN = _NOTED + " and held_times(words) >= :times"
_FIRST_OF_NEWEST = """
select coalesce(min(rid), :high) from (
    select words.rowid rid from words where words match :match and {where} order by words.rowid desc limit :newest)
"""

COUNTS_KEPT, NOTES_KEPT = 50_000, 50_000  # of each connection, in things of about 150 bytes
FAR = 50_000  # records; where nearly all of a count is its beginning, it is made once, as far as any is wanted
MANY = 24  # words: of more, each would be cut by a call of its own

SayPhrase = Callable[[Phrase], str]  # how a phrase is said in a match expression


class SqliteWords:
    def __init__(
        self, connection: apsw.Connection, session: Session, tables: SqliteTables, beginnings: Beginnings
    ) -> None:
        self._ranking = Ranking(connection)
        self._session, self._tables, self._beginnings = session, tables, beginnings
        self._counted = Counted[int](connection, session, COUNTS_KEPT)
        self._taken = Counted[TakenNotes](
            connection, session, NOTES_KEPT, lambda taken: len(taken.rows) + len(taken.cases)
        )

    @property
    def noted(self) -> dict[int, MatchCounts]:
        return self._ranking.noted

    def stands(self, where: Where, phrase: Phrase) -> bool:
        if self._beginnings.is_endless(phrase):
            return self.count(where, [phrase], 1) > 0
        asked = f"{columns_of(where)}({phrase.match})"
        return self._counted.of(where, asked, lambda: self._stands(where, phrase)) > 0

    def _stands(self, where: Where, phrase: Phrase) -> bool:
        columns = columns_of(where)
        for part in self._beginnings.parts(phrase):
            for narrowing, values in self._spans(where.reaches):
                bound = {"match": f"{columns}({part})", **values}
                if self._session.rows(_STANDS.format(where=narrowing), bound):
                    return True
        return False

    def count(self, where: Where, any_of: Sequence[Phrase], most: int) -> int:
        if len(any_of) == 1 and most < FAR and self._beginnings.is_endless(any_of[0]):
            return min(most, self.count(where, any_of, FAR))
        return self._counted.of(where, (columns_of(where), *any_of, most), lambda: self._count(where, any_of, most))

    def _count(self, where: Where, any_of: Sequence[Phrase], most: int) -> int:
        if len(any_of) > MANY and all(map(_is_one_word, any_of)):
            words = self._beginnings.any_of([phrase.tokens[0] for phrase in any_of])
        else:
            parts = [[*self._beginnings.parts(phrase)] for phrase in any_of]
            if any(len(of_phrase) > 1 for of_phrase in parts):
                return self._count_each(where, [part for of_phrase in parts for part in of_phrase], most)
            words = any_match(any_of, self._beginnings.match)
        asked = f"{columns_of(where)}({words})"
        total = 0
        for narrowing, values in self._spans(where.reaches):
            if total >= most:
                return most
            bound = {"match": asked, "most": most - total, **values}
            total += self._session.one(_COUNT.format(where=narrowing), bound)
        return total

    def _count_each(self, where: Where, parts: Sequence[str], most: int) -> int:
        """Part by part: where many words are asked for at once, every row is compared with each of them."""
        found: set[int] = set()
        for part in parts:
            for narrowing, values in self._spans(where.reaches):
                bound = {"match": f"{columns_of(where)}({part})", "most": most, **values}
                found.update(orjson.loads(self._session.one(_SOME.format(where=narrowing), bound)))
                if len(found) >= most:
                    return most
        return len(found)

    def matching(self, where: Where, any_of: Sequence[Phrase]) -> list[int]:
        return self._rids(where, f"{columns_of(where)}({any_match(any_of, self._beginnings.match)})")

    def note(self, where: Where, words: WordQuery, narrowed: Narrowed | None = None, newest: int | None = None) -> None:
        besides = narrowed.phrases if narrowed and not _is_all(words, narrowed) else ()
        match = match_of(where, words, narrowed, self._beginnings.match)
        held = self._ranking.use([1 + besides.count(phrase) for phrase in words.wanted], where.slots)
        statement, bound = (_NOTED if newest is None else _NOTED_NEWEST), {"match": match, "most": newest}

        def taken() -> TakenNotes:
            rows: list[NotedRow] = []
            for narrowing, values in self._spans(where.reaches):
                rows += self._session.rows(statement.format(held=held, where=narrowing), {**bound, **values})
            return self._ranking.taken(rows)

        is_dear = any(map(self._beginnings.is_endless, words.all)) or any(map(is_mapped, where.reaches))
        is_kept = newest is not None and is_dear
        self._ranking.note(self._taken.of(where, (match, newest), taken) if is_kept else taken())

    def note_fullest(self, where: Where, words: WordQuery, narrowed: Narrowed, asked: Fullest) -> None:
        """Every record that holds the phrase is asked how often: once, until something changes."""
        match = match_of(where, words, narrowed, self._beginnings.match)
        held = self._ranking.use([1], where.slots)

        def taken() -> TakenNotes:
            rows: list[NotedRow] = []
            for narrowing, values in self._spans(where.reaches):
                bound = {"match": match, "times": asked.times, "newest": asked.newest, **values}
                if asked.newest is not None:
                    bound["low"] = self._session.one(_FIRST_OF_NEWEST.format(where=narrowing), bound)
                rows += self._session.rows(_NOTED_OFTEN.format(held=held, where=narrowing), bound)
            return self._ranking.fullest(rows, asked.most)

        self._ranking.note(self._taken.of(where, (match, asked), taken))

    def holding(self, where: Where, words: WordQuery, narrowed: Narrowed) -> list[int]:
        return self._rids(where, match_of(where, words, narrowed, self._beginnings.match))

    def _rids(self, where: Where, match: str) -> list[int]:
        rids: list[int] = []
        for narrowing, values in self._spans(where.reaches):
            found = self._session.one(_MATCHING.format(where=narrowing), {"match": match, **values})
            rids += orjson.loads(found)
        return rids

    def _spans(self, reaches: Sequence[Reach]) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Reaches as few ranges: neighbours of which nothing is hidden become one."""
        spans: list[tuple[Reach, dict[str, int | str]]] = []
        for reach in sorted(reaches, key=lambda reach: reach.values["low"]):
            last = spans[-1] if spans else None
            if last and reach.is_whole and last[0].is_whole and last[1]["high"] == reach.values["low"]:
                last[1]["high"] = reach.values["high"]
            else:
                spans.append((reach, dict(reach.values)))
        for reach, values in spans:
            yield self._tables.narrowing(reach, "words.rowid"), values


def columns_of(where: Where) -> str:
    """What narrows an expression to the granted columns; nothing where there are no others."""
    return "{" + " ".join(f"s{slot}" for slot in where.slots) + "} : " if where.is_part else ""


def _is_one_word(phrase: Phrase) -> bool:
    return len(phrase.tokens) == 1 and not phrase.is_prefix


def any_match(phrases: Sequence[Phrase], say: SayPhrase) -> str:
    return " OR ".join(map(say, phrases))


def _is_all(words: WordQuery, narrowed: Narrowed) -> bool:
    """Whether all that is wanted has to be held: then nothing has to be looked for twice."""
    is_one = len(words.wanted) == 1
    return {*narrowed.phrases} == {*words.wanted} and (is_one or narrowed.hold_all)


def match_of(where: Where, words: WordQuery, narrowed: Narrowed | None, say: SayPhrase) -> str:
    """All wanted phrases come first, so that they are the ones that are noted, then what narrows, if anything does.

    No AND may stand below another node: there FTS5 forgets the positions of a phrase that is ahead of a row which
    matches in other columns only, and a hidden word would change a score. NOT binds to the last part of what narrows.
    """
    columns, wanted = columns_of(where), any_match(words.wanted, say)
    unwanted = "".join(f" NOT {say(phrase)}" for phrase in words.unwanted)
    if narrowed is None:
        return f"{columns}({wanted})"
    if _is_all(words, narrowed):
        every = " AND ".join(map(say, words.wanted))
        return f"{columns}({every}{unwanted})"
    besides = " AND ".join(map(say, narrowed.phrases))
    if not narrowed.hold_all:
        besides = f"({any_match(narrowed.phrases, say)})"
    return f"{columns}(({wanted}) AND {besides}{unwanted})"
