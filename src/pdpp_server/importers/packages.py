"""Sources that packages of others add: found by their entry point, and only taken where they are whole."""

import re
from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from pdpp_server.importers.source import Importer
from pdpp_server.wire.declarations import FaultyDeclaration, parse_declaration

GROUP = "pdpp_server.importers"

_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class AddedSources(NamedTuple):
    importers: tuple[Importer, ...]
    troubles: tuple[str, ...]  # which package is left out, and why


@cache
def added(taken: frozenset[str]) -> AddedSources:
    """Those of the packages that are installed beside us; no key may be one that is taken."""
    importers: list[Importer] = []
    troubles: list[str] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        known = taken | {importer.key for importer in importers}
        told = _loaded(entry, known)
        if isinstance(told, Importer):
            importers.append(told)
        else:
            package = entry.dist.name if entry.dist else entry.value
            troubles.append(f"The package {package} adds no source {entry.name!r}: {told}.")
    return AddedSources(tuple(importers), tuple(troubles))


def _loaded(entry: EntryPoint, known: Collection[str]) -> Importer | str:
    """It, or why it is left out."""
    try:
        found: object = entry.load()
    except Exception as error:  # noqa: BLE001 - a package of somebody else must not end an import of ours
        return f"it cannot be loaded ({type(error).__name__}: {error})"
    if not isinstance(found, Importer):
        return f"{entry.value} is no Importer"
    if not _KEY.fullmatch(found.key) or found.key in known:
        return f"its key {found.key!r} is taken, or none"
    try:
        declared = parse_declaration(found.declaration)
    except FaultyDeclaration as faulty:
        return f"its declaration cannot be used ({faulty.message})"
    if declared.source.connector_key != found.key:
        return f"its declaration is of {declared.source.connector_key!r}, not of {found.key!r}"
    return found
