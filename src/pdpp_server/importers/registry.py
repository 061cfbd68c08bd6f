"""The importers there are, and which of them knows the files that the owner named."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cache, partial
from pathlib import Path
from posixpath import commonpath
from typing import NamedTuple

from pdpp_server.errors import InvalidRequest
from pdpp_server.importers.files import is_archive, is_litter, open_files
from pdpp_server.importers.guesses import UntakenPart, parts_left
from pdpp_server.importers.packages import AddedSources, added
from pdpp_server.importers.source import Account, Files, Importer, known_files
from pdpp_server.importers.sources.bank_csv import BANK_CSV
from pdpp_server.importers.sources.calendar import CALENDAR
from pdpp_server.importers.sources.camt import CAMT
from pdpp_server.importers.sources.chatgpt import CHATGPT
from pdpp_server.importers.sources.claude import CLAUDE
from pdpp_server.importers.sources.claude_code import CLAUDE_CODE
from pdpp_server.importers.sources.codex import CODEX
from pdpp_server.importers.sources.contacts import CONTACTS
from pdpp_server.importers.sources.mail import MAIL
from pdpp_server.importers.sources.markdown import MARKDOWN
from pdpp_server.importers.sources.mt940 import MT940
from pdpp_server.importers.sources.ofx import OFX
from pdpp_server.importers.sources.slack import SLACK
from pdpp_server.importers.sources.telegram import TELEGRAM
from pdpp_server.importers.sources.whatsapp import WHATSAPP
from pdpp_server.model.sources import Declaration
from pdpp_server.wire.declarations import parse_declaration

IMPORTERS: tuple[Importer, ...] = (
    BANK_CSV,
    CALENDAR,
    CAMT,
    CHATGPT,
    CLAUDE,
    CLAUDE_CODE,
    CODEX,
    CONTACTS,
    MAIL,
    MARKDOWN,
    MT940,
    OFX,
    SLACK,
    TELEGRAM,
    WHATSAPP,
)


def all_importers() -> tuple[Importer, ...]:
    """Ours, and those of packages that are installed beside us."""
    return IMPORTERS + from_packages().importers


def from_packages() -> AddedSources:
    return added(frozenset(importer.key for importer in IMPORTERS))


_DECLARATIONS = Path(__file__).with_name("declarations")


class SeveralKinds(InvalidRequest):
    """A file could be of more than one kind."""


class NothingKnown(InvalidRequest):
    """Nobody here knows what the owner named."""


class FoundAccount(NamedTuple):
    """One account of an export, and who can read it."""

    importer: Importer
    account: Account
    files: Files

    @property
    def declaration(self) -> Declaration:
        given = self.importer.declaration
        return parse_declaration(given) if given else declaration_of(self.importer.key)

    @property
    def where(self) -> str:
        """The file or folder that it was found in, from what the owner named on."""
        inside = commonpath([file.name for file in self.account.files]) if self.account.files else ""
        return self.files.name if inside in ("", self.files.name) else f"{self.files.name}/{inside}"

    @property
    def size(self) -> int:
        return sum(file.size for file in self.account.files)


@cache
def declaration_of(key: str) -> Declaration:
    """What the streams of that importer look like."""
    return parse_declaration((_DECLARATIONS / f"{key}.json").read_bytes())


def recognise(files: Files, importers: Iterable[Importer] = IMPORTERS) -> list[FoundAccount]:
    """Every account in the files. Different kinds may lie side by side. Raises: SeveralKinds."""
    found: list[FoundAccount] = []
    for importer, known in known_files(files, importers):
        found += [FoundAccount(importer, account, files) for account in importer.accounts(files, known)]
    claimed: dict[str, str] = {}
    for importer, account, _ in found:
        for file in account.files:
            other = claimed.setdefault(file.name, importer.key)
            if other != importer.key:
                raise SeveralKinds(
                    f"{file.name!r} could be {other} or {importer.key}.",
                    remedy=f"Say which: --as {other} or --as {importer.key}.",
                )
    return found


def with_mapping(found: FoundAccount, mapping: bytes) -> FoundAccount:
    """The same file, read as a mapping says. Raises: InvalidRequest."""
    files = replace(found.files, entries={file.name: file for file in found.account.files}, mapping=mapping)
    accounts = list(found.importer.recognise(files))
    return FoundAccount(found.importer, accounts[0], files) if accounts else found


class Looked(NamedTuple):
    """What lies under one path: accounts, parts that cannot be read with the reason, and parts that nobody takes."""

    found: list[FoundAccount]
    refused: dict[str, InvalidRequest]
    left: list[UntakenPart]


def look_into(
    path: Path,
    zone: tzinfo,
    mapping: bytes | None,
    importers: Sequence[Importer],
    now: datetime | None = None,
    heard: Callable[[int], None] | None = None,
) -> Looked:
    """The accounts of an export, or of a folder that holds several: zips and folders in it are exports of their own.

    Raises: InvalidRequest where the path itself cannot be read.
    """
    opened = partial(open_files, zone=zone, mapping=mapping, now=now, heard=heard)
    found, left = _known_and_left(opened(path), importers)
    refused: dict[str, InvalidRequest] = {}
    taken = {file.name.split("/")[0] for one in found for file in one.account.files}
    for inner in sorted(path.iterdir()) if path.is_dir() else ():
        if inner.name in taken or inner.is_symlink() or is_litter(inner.name):
            continue
        try:
            if not inner.is_dir() and not is_archive(inner):
                continue
            those, others = _known_and_left(opened(inner), importers)
        except InvalidRequest as refusal:
            refused[inner.name] = refusal
            those, others = [], []
        if those or inner.name in refused:  # else it is told as a part of this folder
            found += those
            left = [part for part in left if part.name != inner.name]
            left += [part._replace(name=f"{inner.name}/{part.name}") for part in others]
    return Looked(found, refused, left)


def _known_and_left(files: Files, importers: Sequence[Importer]) -> tuple[list[FoundAccount], list[UntakenPart]]:
    found = recognise(files, importers)
    return found, parts_left(files, (file.name for one in found for file in one.account.files))


LISTED = "`pdpp import --list` shows what can be imported, and how to get it."


def nothing_known(name: str, left: Sequence[UntakenPart] = ()) -> NothingKnown:
    """An export of the wrong kind: the best guess of what it is, what to do then, and where to see more."""
    told = next((part.guess for part in left if part.guess), None)
    if told is None:
        return NothingKnown(f"{name} is nothing that is known here.", remedy=LISTED)
    remedy = f"{told.todo} {LISTED}".strip()
    return NothingKnown(f"{name} is nothing that is known here; it looks like {told.what}.", remedy=remedy)
