"""Instants: ISO 8601 text to microseconds since 1970, and back."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY_MICROS = 86_400_000_000


def instant(value: object) -> int | None:
    """The moment that a date or date-time string names; None where it names none. Without a zone it is UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        since = moment - _EPOCH
        return since.days * DAY_MICROS + since.seconds * 1_000_000 + since.microseconds
    except (ValueError, OverflowError):
        return None


def iso(moment: datetime) -> str:
    """The one form in which we write times: UTC, milliseconds, `Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def iso_micros(micros: int) -> str:
    return iso(_EPOCH + timedelta(microseconds=micros))
