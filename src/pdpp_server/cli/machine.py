"""The machine around a home, as the doctor looks at it: nothing is changed."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pdpp_server.cli.client_files import files_of
from pdpp_server.cli.home import own_address
from pdpp_server.importers.watch import REFUSED, waiting
from pdpp_server.model.health import Fault, Finding
from pdpp_server.port.credentials import client_names
from pdpp_server.settings import Settings
from pdpp_server.wire.address import is_same, local_address, server_address
from pdpp_server.wire.client_entries import decode_entries
from pdpp_server.wire.client_formats import SECTIONS, ClientEntry, Command
from pdpp_server.wire.discovery import MCP

OUR_PROGRAM = re.compile(r"pdpp(?:-server)?(?:\.exe)?|pdpp_server\.cli\.main")
OUR_NAMES = frozenset({"my-data", "pdpp"})  # what `pdpp connect` calls an entry, and what people do


def inbox(settings: Settings) -> Finding:
    """What waits is well; what was refused lies there until somebody looks."""
    folder = settings.inbox_folder
    if folder is None or (not folder.exists() and settings.inbox is True):
        return Finding("inbox")
    if not folder.is_dir():
        return Finding("inbox", (Fault("inbox_no_folder", places=(str(folder),)),))
    faults: list[Fault] = []
    if not os.access(folder, os.W_OK | os.X_OK):
        faults.append(Fault("inbox_locked", places=(str(folder),)))
    if refused := _refused(folder / REFUSED):
        faults.append(Fault("export_refused", len(refused), refused))
    return Finding("inbox", tuple(faults), facts={"waiting": len(waiting(folder))})


def _refused(folder: Path) -> tuple[str, ...]:
    """Each has its reason beside it, under its own name and `.txt`."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set[str]()
    return tuple(sorted(name for name in names if f"{name}.txt" in names))


def client_files(settings: Settings) -> Finding:
    """Entries that start this program or lead to this server, in whatever file a client keeps them."""
    wrong: dict[str, list[str]] = {}
    entries = 0
    for client in SECTIONS:
        for path in files_of(client):
            for place, code in _looked_into(client, path, settings):
                entries += 1
                if code:
                    wrong.setdefault(code, []).append(place)
    faults = tuple(Fault(code, len(places), tuple(places)) for code, places in wrong.items())
    return Finding("client files", faults, facts={"entries": entries})


def _looked_into(client: str, path: Path, settings: Settings) -> Iterator[tuple[str, str | None]]:
    """Each entry of ours: where it stands, and what is wrong with it."""
    text = ""
    with suppress(OSError):
        text = path.read_text("utf-8", errors="replace")
    try:
        entries = decode_entries(client, text)
    except ValueError:
        if "pdpp" in text:
            yield str(path), "file_unreadable"
        return
    for entry in entries:
        if _is_ours(entry, settings):
            yield f"{entry.name} in {path}", _wrong(entry, settings)


def _is_ours(entry: ClientEntry, settings: Settings) -> bool:
    if entry.command:
        words = (Path(entry.command.program).name, *entry.command.words)
        return any(OUR_PROGRAM.fullmatch(word) for word in words) and "mcp" in words
    return entry.address is not None and (entry.name in OUR_NAMES or _leads_here(entry.address, settings))


def _wrong(entry: ClientEntry, settings: Settings) -> str | None:
    if entry.command:
        return _wrong_command(entry.command, settings)
    return None if _leads_here(entry.address or "", settings) else "entry_elsewhere"


def _wrong_command(command: Command, settings: Settings) -> str | None:
    if shutil.which(command.program) is None:
        return "entry_program_gone"
    home = Path(command.variables.get("PDPP_HOME") or settings.home)
    named = [after for word, after in zip(command.words, command.words[1:], strict=False) if word == "--client"]
    return "entry_client_gone" if set(named) - set(client_names(str(home))) else None


def _leads_here(address: str, settings: Settings) -> bool:
    local = local_address(settings.host, settings.port)
    known = (server_address(f"{place}{MCP}", plain_http=True) for place in (own_address(settings), local))
    return any(is_same(place, address) for place in known)
