"""The zone of a clock on the wall: the one that the owner names, or that of this machine."""

import os
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

_LOCALTIME = Path("/etc/localtime")


def machine_zone() -> tzinfo:
    """By its name where that can be found out, so that times of other seasons are right too."""
    linked = str(_LOCALTIME.resolve()).rpartition("zoneinfo/")[2]
    for name in (os.environ.get("TZ", "").removeprefix(":"), linked):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return UTC


def named_zone(_: click.Context, __: click.Parameter, value: str | None) -> tzinfo | None:
    """A callback of click."""
    try:
        return None if value is None else ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter("a zone is named like Europe/Berlin or UTC.") from None
