"""Bring data in: choose files, see what they are, import them, and read what became of every part."""

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from pdpp_server.console.desks import Desks
from pdpp_server.console.following import follows
from pdpp_server.console.page import Page, SeeOther
from pdpp_server.console.visit import Visit, unreadable_form, whole_number
from pdpp_server.errors import NotFound
from pdpp_server.evidence.said import say
from pdpp_server.evidence.words import size_text
from pdpp_server.importers.guesses import PARTS_MAX
from pdpp_server.importers.registry import IMPORTERS, LISTED, declaration_of
from pdpp_server.importers.run import Survey, Tally
from pdpp_server.importers.upload_board import UploadTold
from pdpp_server.importers.uploads import Brought, Upload
from pdpp_server.model.ingest import Rejection
from pdpp_server.model.times import iso_micros

HOW_TO_AS_OF = "November 2026"
REJECTIONS_SHOWN = 100
NOTHING_SEEN = Survey({}, attachments=0, rejected=0, share=1)


class StreamSeen(NamedTuple):
    label: str
    records: int
    earliest: str
    latest: str


class AccountShown(NamedTuple):
    place: int
    name: str
    service: str
    where: str
    size: str
    streams: list[StreamSeen]
    share: int  # of it that was looked at, in percent
    attachments: int
    unreadable: int  # parts that cannot be read as a record
    notes: tuple[str, ...]
    lacks: str
    choices: tuple[str, ...]
    can_be_read: bool
    unchanged_since: str | None
    connection_id: str
    accepted: int
    unchanged: int
    rejected: int
    rejections: list[Rejection]
    removed: int
    undone: int | None  # what had been removed and is back
    missing: int  # stay until the owner says that they may go
    kept: list[str]  # why something stays that it has no longer
    said: str
    is_done: bool


def show(desks: Desks, visit: Visit) -> Page:
    values = {
        "upload_id": secrets.token_urlsafe(16),
        "most": size_text(desks.upload_bytes),
        "recent": [_line(told) for told in desks.uploads.recent()],
        "kinds": sorted((declaration_of(kind.key).name, kind.takes, kind.obtain) for kind in IMPORTERS),
        "as_of": HOW_TO_AS_OF,
        "follows": follows(desks),
    }
    return Page("import.html", values, has_script=True)


def show_one(desks: Desks, visit: Visit) -> Page:
    return Page("upload.html", _find(desks, visit), has_script=True)


def told(upload: Upload) -> UploadTold:
    """What its page says, in values that another process can be told."""
    accounts = [_shown(place, each) for place, each in enumerate(upload.accounts)]
    values = {
        "upload": {
            "id": upload.id,
            "stage": upload.stage,
            "said": upload.said,
            "refused": [(name, why.removesuffix(LISTED).strip()) for name, why in upload.refused],
            "is_under_way": upload.is_under_way,
        },
        "files": [(name, size_text(size)) for name, size in upload.files],
        "accounts": accounts,
        "can_be_read": any(each.can_be_read for each in accounts),
        "left": [(part.name, part.files, size_text(part.size), part.guess) for part in upload.left[:PARTS_MAX]],
        "left_to_do": any(part.guess and part.guess.todo for part in upload.left),
        "more_left": max(0, len(upload.left) - PARTS_MAX),
        "percent": upload.percent,
        "missing": sum(each.missing for each in accounts),
        "stored": sum(each.accepted for each in accounts),
    }
    return {name: _plain(value) for name, value in values.items()}


def _names(value: object) -> tuple[str, ...]:
    """Of the parts of a tuple, where they have any."""
    return getattr(value, "_fields", ())


def _plain(value: Any) -> Any:
    """As JSON would have it; half a character, in a name of some archive, is none."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case tuple() if names := _names(cast("object", value)):
            return _plain(dict(zip(names, cast("Sequence[object]", value), strict=True)))
        case list() | tuple():
            return [_plain(each) for each in cast("Sequence[object]", value)]
        case dict():
            return {name: _plain(each) for name, each in cast("dict[str, object]", value).items()}
        case _:
            return value


def take(desks: Desks, visit: Visit) -> Page | SeeOther:
    """Sent twice it does the thing once: what is under way, or over, is not begun again."""
    id: str = _find(desks, visit)["upload"]["id"]
    match visit.value("action"):
        case "import":
            chosen = {str(place): _choice(visit, place) for place in _places(visit)}
            desks.uploads.take(id, {"action": "import", "chosen": chosen})
        case "stop" | "remove" as action:
            desks.uploads.take(id, {"action": action})
        case action if (place := _undone(action)) is not None:
            desks.uploads.take(id, {"action": "undo", "place": place})
        case "discard":
            desks.uploads.take(id, {"action": "discard"})
            return SeeOther("/import")
        case _:
            raise unreadable_form()
    return SeeOther(f"/import/{id}")


def _find(desks: Desks, visit: Visit) -> UploadTold:
    found = desks.uploads.find(visit.named["upload_id"])
    if found is None:
        raise NotFound(
            say("These files are not here any more."),
            remedy=say(
                "What was imported of them is among your sources. To bring more in, choose them again: nothing is "
                "imported twice."
            ),
        )
    return found


def _places(visit: Visit) -> list[int]:
    numbers = [_place(value) for value in visit.values("account")]
    return [number for number in numbers if number is not None]


def _place(text: str) -> int | None:
    return whole_number(text, 5)


def _undone(action: str) -> int | None:
    """The account that is meant, by its place."""
    asks, _, place = action.partition(".")
    return _place(place) if asks == "undo" else None


def _choice(visit: Visit, place: int) -> int | None:
    return _place(visit.value(f"choice.{place}"))


def _line(told: UploadTold) -> tuple[str, str, str]:
    """Its id, its files, its stage."""
    upload, files = told["upload"], told["files"]
    first: str = files[0][0] if files else ""
    more = len(files) - 1
    named = say("{first} and {more} more", first=first, more=more) if more else first
    return upload["id"], named, upload["stage"]


def _shown(place: int, each: Brought) -> AccountShown:
    found, declaration = each.found, each.found.declaration
    seen = each.seen or NOTHING_SEEN
    tally = each.tally or Tally()
    return AccountShown(
        place=place,
        name=each.name,
        service=declaration.name,
        where=found.where,
        size=size_text(found.size),
        streams=[
            StreamSeen(declaration.streams[name].label or name, one.records, _day(one.earliest), _day(one.latest))
            for name, one in seen.streams.items()
        ],
        share=int(seen.share * 100),
        attachments=seen.attachments,
        unreadable=seen.rejected,
        notes=found.account.notes,
        lacks=found.account.lacks,
        choices=each.choices,
        can_be_read=each.can_be_read,
        unchanged_since=each.before.at if each.before else None,
        connection_id=each.connection_id,
        accepted=tally.accepted,
        unchanged=tally.unchanged,
        rejected=tally.rejected,
        rejections=tally.rejections[:REJECTIONS_SHOWN],
        removed=tally.removal.removed,
        undone=each.undone.restored.restored if each.undone else None,
        missing=tally.removal.missing - tally.removal.removed if each.awaits_owner else 0,
        kept=[*tally.removal.why_kept],
        said=each.said,
        is_done=bool(each.connection_id or each.said),
    )


def _day(micros: int | None) -> str:
    return "" if micros is None else iso_micros(micros)[:10]
