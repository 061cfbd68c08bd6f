"""Amounts of money as banks write them: read exactly, kept as a number that can be summed and as the text it was."""

import re
from decimal import Decimal

from pdpp_server.importers.formats.json_values import without_gaps
from pdpp_server.importers.identity import record_key
from pdpp_server.importers.statements import Balance
from pdpp_server.model.ingest import Incoming
from pdpp_server.wire.envelope import Json

DIGITS_MAX = 15  # what a JSON number keeps exactly
WRITTEN_MAX = 40  # with the zeros that some banks put before every amount

_SPACES = re.compile(r"[\s'\u2019\u00a0\u202f]+")
_UNIT = r"[A-Za-z$€£¥₹₽₺₴¤]+"
_UNITS = re.compile(rf"\A([+-]?){_UNIT}|{_UNIT}\Z")  # also as `- $5.00`
_WHOLE, _FRACTION = re.compile(r"[+-]?[0-9]*"), re.compile(r"[0-9]*")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?=([,.]))(?:\1[0-9]{2,3})*\1[0-9]{3}")  # also as in India: 1,23,456


def amount(text: str, decimal: str | None = None) -> Decimal | None:
    """The number; None where it is none. Without a decimal mark given, the last comma or point is taken for it.

    A mark that stands there twice parts thousands, whatever is given: an amount has one fraction.
    """
    plain = _SPACES.sub("", text).replace("\u2212", "-")
    plain = _UNITS.sub(r"\1", plain)
    is_negative = plain.startswith("(") and plain.endswith(")")
    plain = plain.strip("()")
    if plain.endswith(("-", "+")):
        plain = plain[-1] + plain[:-1]
    mark = decimal or max(",.", key=plain.rfind)
    whole, fraction = plain, ""
    if plain.count(mark) == 1:
        whole, _, fraction = plain.rpartition(mark)
    if _THOUSANDS.fullmatch(whole):
        whole = re.sub(r"[,.]", "", whole)
    if not _is_exact(whole, fraction):
        return None
    value = Decimal(f"{whole}.{fraction}")
    return -value if is_negative else value


def _is_exact(whole: str, fraction: str) -> bool:
    """Whether these are digits, some and not too many."""
    if not (_WHOLE.fullmatch(whole) and _FRACTION.fullmatch(fraction)):
        return False
    digits = whole.strip("+-")
    counted = len(digits.lstrip("0")) + len(fraction)
    return bool(digits or fraction) and len(digits) <= WRITTEN_MAX and counted <= DIGITS_MAX


def money(value: Decimal, name: str = "amount") -> Json:
    """The fields of an amount: whole numbers stay whole, so that they are summed exactly."""
    is_whole = value == value.to_integral_value()
    return {name: int(value) if is_whole else float(value), f"{name}_text": f"{value:f}"}


def balance_record(place: str, account: str, kind: str, balance: Balance, currency: str) -> Incoming:
    """One for each account, kind and day, as every format of statements has them."""
    key = f"{account}:{record_key(kind)}:{balance.day}"
    data = {
        "id": key,
        "account_id": account,
        "kind": kind,
        **money(balance.value),
        "currency": currency,
        "as_of": balance.day,
    }
    return Incoming(place, "balances", key, without_gaps(data), None)


def direction(value: Decimal) -> str:
    return "out" if value < 0 else "in"
