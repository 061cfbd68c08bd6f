"""What a search made of a question, in a few words: said only where that is not what was typed."""

from collections.abc import Sequence
from datetime import date

from pdpp_server.evidence.budgets import READ_AS_CHARS, READ_AS_SHOWN
from pdpp_server.evidence.text import clip_shown, number_of
from pdpp_server.model.records import Warned


def no_words() -> tuple[Warned, ...]:
    message = "The query has no word to look for: these are the newest records. query_records lists a whole stream."
    return (Warned("no_words", message, "q"),)


def read_as(days: Sequence[tuple[date, date, bool]], names: Sequence[str]) -> tuple[Warned, ...]:
    """The times and the names that rank higher; a time that comes again each year is written without one."""
    parts: list[str] = []
    if days:
        times = [_time(*each) for each in days[:READ_AS_SHOWN]]
        parts.append(f"time {' or '.join(times)}")
    if names:
        speakers = [clip_shown(name, READ_AS_CHARS) for name in names[:READ_AS_SHOWN]]
        parts.append(f"{', '.join(speakers)} as who wrote")
    if not parts:
        return ()
    return (Warned("read_as", f"ranked higher: {'; '.join(parts)}", "q"),)


def only_times(days: Sequence[tuple[date, date, bool]]) -> tuple[Warned, ...]:
    """The times of a question whose words stand nowhere: what is of that time is not found by it."""
    times = [_time(*each) for each in days[:READ_AS_SHOWN]]
    message = f"Time {' or '.join(times)} alone finds nothing: query_records lists it by a filter."
    return (Warned("read_as", message, "q"),) if times else ()


def _time(first: date, last: date, is_yearly: bool) -> str:
    start, end = (f"{day:%m-%d}" if is_yearly else day.isoformat() for day in (first, last))
    return start if start == end else f"{start} to {end}"


def words_left_out(told: int, asked: int) -> Warned:
    return Warned("words_left_out", f"Of the {asked} words of the query the first {told} are counted here.", "q")


def did_you_mean(typed: str, word: str, records: int) -> Warned:
    """Both are plain letters; of many records it is said that there are at least so many."""
    message = f"{typed} stands nowhere here, {word} in {number_of(records, 'record')}"
    return Warned("did_you_mean", message, "q", {"typed": typed, "word": word})
