"""One try of a live source: read what changed, note how it went, say it in a sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any

from pdpp_server.errors import PdppError
from pdpp_server.importers.live.folder import sync_folder
from pdpp_server.importers.missing import ASK_NOBODY, Missing
from pdpp_server.importers.source import Importer
from pdpp_server.model.live import LiveSource
from pdpp_server.owner.desk import Owner

PAUSES = {"folder": timedelta(minutes=1)}
KINDS = tuple(PAUSES)


@dataclass(frozen=True, slots=True)
class Syncing:
    """What every try needs."""

    owner: Owner
    zone: tzinfo
    importers: Sequence[Importer]
    now: Callable[[], datetime]
    is_stopping: Callable[[], bool] = lambda: False
    missing: Missing = ASK_NOBODY


def sync_one(syncing: Syncing, source: LiveSource) -> str:
    """What came of it. Raises: PdppError, which is noted with when it is tried again; Stopped, which is not."""
    try:
        said, state = _synced(syncing, source)
    except PdppError as refusal:
        syncing.owner.live.went_wrong(source, f"{refusal.message} {refusal.remedy}".strip())
        raise
    syncing.owner.live.went_well(source, state, said, PAUSES[source.kind])
    return said


def _synced(syncing: Syncing, source: LiveSource) -> tuple[str, dict[str, Any]]:
    assert source.kind == "folder"
    given = (syncing.owner, syncing.zone, syncing.importers, syncing.now(), syncing.is_stopping, syncing.missing)
    return sync_folder(source.settings, source.state, *given)
