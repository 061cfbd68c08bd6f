"""The zone of a clock on the wall that the owner names."""

from datetime import tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click


def named_zone(_: click.Context, __: click.Parameter, value: str | None) -> tzinfo | None:
    """A callback of click."""
    try:
        return None if value is None else ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise click.BadParameter("a zone is named like Europe/Berlin or UTC.") from None
