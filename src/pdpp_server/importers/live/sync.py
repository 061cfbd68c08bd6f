"""One try of a live source: read what changed, note how it went, say it in a sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import partial
from typing import Any

from pdpp_server.errors import PdppError
from pdpp_server.importers.live.dav import KINDS as DAV_KINDS
from pdpp_server.importers.live.dav import sync_dav
from pdpp_server.importers.live.folder import sync_folder
from pdpp_server.importers.live.imap import mailbox_of, sync_imap
from pdpp_server.importers.live.oauth import secret_of
from pdpp_server.importers.live.trouble import SourceTrouble
from pdpp_server.importers.missing import ASK_NOBODY, Doubt, MissingChoice
from pdpp_server.importers.source import Importer
from pdpp_server.model.live import AGREED, WITHHELD, LiveSource
from pdpp_server.model.times import iso
from pdpp_server.owner.desk import Owner

PAUSES = {
    "folder": timedelta(minutes=1),
    "imap": timedelta(minutes=5),
    **dict.fromkeys(DAV_KINDS, timedelta(minutes=10)),
}
DAY_CHARS = 10


@dataclass(frozen=True, slots=True)
class Syncing:
    """What every try needs."""

    owner: Owner
    zone: tzinfo
    importers: Sequence[Importer]
    now: Callable[[], datetime]
    is_stopping: Callable[[], bool] = lambda: False
    missing: MissingChoice = ASK_NOBODY


def sync_one(syncing: Syncing, source: LiveSource) -> str:
    """What came of it. Raises: PdppError, which is noted with when it is tried again; Stopped, which is not."""
    withholding = Withholding(syncing.missing, source.agreed)
    try:
        said, state = _synced(replace(syncing, missing=withholding.choice), source)
    except PdppError as refusal:
        pause = timedelta(seconds=refusal.pause if isinstance(refusal, SourceTrouble) else 0)
        syncing.owner.live.went_wrong(source, f"{refusal.message} {refusal.remedy}".strip(), pause)
        raise
    state = {name: value for name, value in state.items() if name not in {WITHHELD, AGREED}}
    kept = {WITHHELD: withholding.count} if withholding.count else {}
    syncing.owner.live.went_well(source, state | kept, said, PAUSES[source.kind])
    return said


class Withholding:
    """What the owner wants done with what is missing, counting what waits for a word of theirs."""

    def __init__(self, missing: MissingChoice, agreed: int) -> None:
        self._missing, self._agreed = missing, agreed
        self.count = 0
        self.choice = MissingChoice(missing.keep, self._settled)

    def _settled(self, doubt: Doubt) -> bool:
        if doubt.missing <= self._agreed or self._missing.settled(doubt):
            return True
        self.count += doubt.missing
        return False


def _synced(syncing: Syncing, source: LiveSource) -> tuple[str, dict[str, Any]]:
    owner, zone, now = syncing.owner, syncing.zone, syncing.now()
    is_stopping, missing = syncing.is_stopping, syncing.missing
    if source.kind == "imap":
        today = iso(now)[:DAY_CHARS]
        is_new_day = source.state.get("day") != today
        mailbox, secret = mailbox_of(source.settings), secret_of(owner.live, source)
        said = sync_imap(mailbox, secret, owner, zone, is_stopping, missing, is_new_day)
        return said, {"day": today}
    if source.kind in DAV_KINDS:
        secret = partial(owner.live.secret, source.name)
        return sync_dav(source.settings, source.state, secret, owner, zone, now, is_stopping, missing)
    return sync_folder(source.settings, source.state, owner, zone, syncing.importers, now, is_stopping, missing)
