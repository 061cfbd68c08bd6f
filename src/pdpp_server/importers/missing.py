"""What the last export of a collection had and a newer one has not: whether it goes, and what is said of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pdpp_server.model.runs import Covered, FoundCollection, Loss
from pdpp_server.owner.recipient import RecordTaker


class Doubt(NamedTuple):
    """What only the owner can tell before records are removed."""

    missing: int
    before: int
    why: str  # why the export cannot be shown to be newer; empty where it is, and what is missing is odd
    odd: str = "it is more than half of what was there"


@dataclass(frozen=True, slots=True)
class MissingChoice:
    """What the owner wants done with what is missing; asked only where that is in doubt."""

    keep: bool = False
    settled: Callable[[Doubt], bool] = lambda _: False


class Removal(NamedTuple):
    """What became of what was missing."""

    run: int = 0
    before: int = 0  # records of the collections that were covered, before the run and after
    after: int = 0
    missing: int = 0
    removed: int = 0
    why_kept: tuple[str, ...] = ()
    awaits_owner: bool = False  # a word of theirs would remove it


OF_SOME_DAYS = "all of it lies before the first or after the last in this export, as if that were of some days only"
OF_SOME_LABEL = "all in this export has a label and nothing of it has, as if that were of one label only"
ASK_NOBODY, NOTHING_REMOVED = MissingChoice(), Removal()


def settle(
    writer: RecordTaker,
    run: int,
    covered: Mapping[int, Covered],
    fingerprint: str | None,
    rejected: int,
    missing: MissingChoice,
) -> tuple[Removal, list[str]]:
    """End the run; and say of which streams it was a complete picture."""
    found = writer.found_of(run, covered, fingerprint)
    going: list[Loss] = []
    why_kept: dict[str, None] = {}
    awaits_owner = False
    for number, one in enumerate(found):
        if missing.keep or rejected:
            if one.missing:
                why_kept["you asked to keep them" if missing.keep else "parts of this export were rejected"] = None
            continue
        doubt = _unsettled(one, missing)
        if doubt is not None:
            why_kept[doubt.why or doubt.odd] = None
            awaits_owner = True
            continue
        if one.missing:
            found[number] = one._replace(doubt="")
        if not found[number].doubt:
            going += [loss for loss in one.losses if loss.unseen]
    removed = writer.finish_run(run, found, fingerprint, going)
    losses = [loss for one in found for loss in one.losses]
    before = sum(loss.before for loss in losses)
    now = sum(loss.now for loss in losses)
    lost = sum(loss.missing for loss in losses)
    removal = Removal(run, before, now - removed, lost, removed, tuple(why_kept), awaits_owner)
    return removal, _complete(writer, found)


def _unsettled(found: FoundCollection, missing: MissingChoice) -> Doubt | None:
    """What only the owner can mean, where anything is missing."""
    if found.missing:
        for doubt in _doubts(found):
            if not missing.settled(doubt):
                return doubt
    return None


def _doubts(found: FoundCollection) -> Iterator[Doubt]:
    before = sum(loss.before for loss in found.losses)
    if found.doubt:
        yield Doubt(found.missing, before, found.doubt)
    if any(loss.is_large for loss in found.losses):
        yield Doubt(found.missing, before, "")
    elif filtered := next((loss.coverage.sieve for loss in found.losses if loss.is_likely_filtered), None):
        yield Doubt(found.missing, before, "", OF_SOME_DAYS if filtered.within else OF_SOME_LABEL)


def _complete(writer: RecordTaker, found: Sequence[FoundCollection]) -> list[str]:
    """The streams that a newest export covered as a whole, and that nothing else fills."""
    whole = [
        (stream, one.collection)
        for one in found
        if one.is_first or not one.doubt
        for stream, coverage in one.covered.streams.items()
        if coverage.after is None and coverage.before is None
    ]
    return [stream for stream, collection in whole if writer.is_alone(stream, collection)]
