"""The configuration files of MCP clients on this machine: where they are, and changing one without harm."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import click

BACKUP = ".before-pdpp"


def file_of(client: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The file of that client for this user, or for this folder where it keeps them by project."""
    match client:
        case "claude-code":
            return Path.cwd() / ".mcp.json"
        case "claude-desktop":
            return _applications(environ) / "Claude" / "claude_desktop_config.json"
        case "codex":
            return Path(environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"
        case "cursor":
            return Path.home() / ".cursor" / "mcp.json"
        case "vscode":
            return Path.cwd() / ".vscode" / "mcp.json"
        case _:
            return None


def files_of(client: str, environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Every file in which that client may list servers for this user and this folder; most are not there."""
    others = {
        "claude-code": Path.home() / ".claude.json",
        "cursor": Path.cwd() / ".cursor" / "mcp.json",
        "vscode": _applications(environ) / "Code" / "User" / "mcp.json",
    }
    found = (file_of(client, environ), others.get(client))
    return list(dict.fromkeys(path for path in found if path is not None))


def _applications(environ: Mapping[str, str]) -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def change(path: Path, edit: Callable[[str], str]) -> bool:
    """Whether it changed. What it was before the first time is kept beside it, empty where there was no file. It is
    replaced whole or not at all.

    Raises:
        click.ClickException: it cannot be read, understood or written, and is as it was.
    """
    target = path.resolve()  # a link stays one
    try:
        before = target.read_bytes().decode() if target.exists() else ""
        after = edit(before)
        if after == before:
            return False
        _replace(target, after)
    except UnicodeDecodeError:
        raise click.ClickException(f"{path} is not text. It is left as it was.") from None
    except ValueError as error:
        raise click.ClickException(f"{path} is left as it was: {error}. Mend it, or add the entry by hand.") from None
    except OSError as error:
        raise click.ClickException(f"{path} is left as it was: {error.strerror}.") from None
    return True


def take_out(path: Path, edit: Callable[[str], str], is_bare: Callable[[str], bool]) -> bool:
    """Whether it changed. A file that was not there before the first time goes with the last that stood in it.

    Raises:
        click.ClickException: as `change`.
    """
    changed = change(path, edit)
    target = path.resolve()
    original = _original(target)
    if changed and original.stat().st_size == 0 and is_bare(target.read_text("utf-8")):
        target.unlink()
        original.unlink()
    return changed


def _original(target: Path) -> Path:
    return target.with_name(target.name + BACKUP)


def _keep_original(target: Path) -> None:
    """Once: what we wrote ourselves since then is no original."""
    original = _original(target)
    if original.exists():
        return
    if target.exists():
        shutil.copy2(target, original)
    else:
        original.touch()


def _replace(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.pdpp-{os.urandom(4).hex()}")
    try:
        if target.exists():
            shutil.copy2(target, draft)  # for its permissions
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _keep_original(target)
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
