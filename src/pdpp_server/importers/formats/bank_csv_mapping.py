"""The mapping file, in which the owner says what the columns of a bank's CSV mean."""

import codecs
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpp_server.errors import InvalidRequest
from pdpp_server.wire.shapes import TEXT, Shape, list_of, members

# What a column may hold; several may describe.
MEANINGS = (
    "date", "value_date", "amount", "debit", "credit", "currency", "description", "counterparty",
    "counterparty_account", "balance", "id",
)  # fmt: skip

_NAMES = {"anyOf": [TEXT, list_of(TEXT, minItems=1)]}
_SHAPE = Shape(
    members(
        {
            "date_format": TEXT,
            "columns": members({"date": TEXT}, {name: _NAMES if name == "description" else TEXT for name in MEANINGS}),
        },
        {
            "account": TEXT,
            "delimiter": {"type": "string", "minLength": 1, "maxLength": 1},
            "encoding": TEXT,
            "skip_lines": {"type": "integer", "minimum": 0, "maximum": 1000},
            "decimal": {"enum": [",", "."]},
            "currency": TEXT,
            "flip_sign": {"type": "boolean"},
            "sign": members({"column": TEXT, "negative": list_of(TEXT, minItems=1)}),
        },
    )
)


class UnusableMapping(InvalidRequest):
    """The mapping file says something that cannot be followed."""

    remedy = "Without --mapping, `pdpp import` prints a mapping to begin with."


@dataclass(frozen=True, slots=True)
class BankMapping:
    """How to read a CSV; the columns by what they hold."""

    columns: Mapping[str, str]
    descriptions: tuple[str, ...]
    date_format: str
    account: str = ""
    delimiter: str = ";"
    encoding: str = "utf-8"
    skip_lines: int = 0
    decimal: str = "."
    currency: str = ""
    flip_sign: bool = False
    sign_column: str = ""
    negative: frozenset[str] = field(default_factory=frozenset[str])

    def needed(self) -> list[str]:
        """The columns that a file must have."""
        sign = (self.sign_column,) if self.sign_column else ()
        return list(dict.fromkeys((*self.columns.values(), *self.descriptions, *sign)))


def parse_mapping(text: bytes) -> BankMapping:
    """Raises: UnusableMapping."""
    try:
        told = tomllib.loads(text.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UnusableMapping(f"The mapping is not TOML: {error}.") from error
    for fault in _SHAPE.faults(told):
        raise UnusableMapping(f"The mapping is refused. {fault.path}: {fault.reference!r} {fault.says}.")
    columns: dict[str, Any] = dict(told["columns"])
    if "amount" not in columns and not columns.keys() & {"debit", "credit"}:
        raise UnusableMapping("The mapping names no column with money: `amount`, or `debit` and `credit`.")
    _require_encoding(told.get("encoding", "utf-8"))
    described = columns.pop("description", [])
    sign = told.get("sign", {})
    return BankMapping(
        columns=columns,
        descriptions=(described,) if isinstance(described, str) else tuple(described),
        date_format=told["date_format"],
        account=told.get("account", ""),
        delimiter=told.get("delimiter", ";"),
        encoding=told.get("encoding", "utf-8"),
        skip_lines=told.get("skip_lines", 0),
        decimal=told.get("decimal", "."),
        currency=told.get("currency", ""),
        flip_sign=told.get("flip_sign", False),
        sign_column=sign.get("column", ""),
        negative=frozenset(word.strip().lower() for word in sign.get("negative", ())),
    )


def _require_encoding(name: str) -> None:
    try:
        codecs.lookup(name)
    except LookupError:
        raise UnusableMapping(f"The mapping names the encoding {name!r}, which is unknown.") from None


def mapping_lines(mapping: BankMapping) -> list[str]:
    """The same as TOML."""
    described = [_quoted(name) for name in mapping.descriptions]
    columns = [f"{name} = {_quoted(column)}" for name, column in mapping.columns.items()]
    return [
        f"delimiter = {_quoted(mapping.delimiter)}",
        f"encoding = {_quoted(mapping.encoding)}",
        f"skip_lines = {mapping.skip_lines}",
        f"decimal = {_quoted(mapping.decimal)}",
        f"date_format = {_quoted(mapping.date_format)}",
        f"currency = {_quoted(mapping.currency)}" if mapping.currency else '# currency = "EUR"',
        *(["flip_sign = true"] if mapping.flip_sign else []),
        "[columns]",
        *columns,
        *([f"description = [{', '.join(described)}]"] if described else []),
        *(_sign_lines(mapping) if mapping.sign_column else []),
    ]


def _sign_lines(mapping: BankMapping) -> list[str]:
    words = ", ".join(_quoted(word) for word in sorted(mapping.negative))
    return ["[sign]", f"column = {_quoted(mapping.sign_column)}", f"negative = [{words}]"]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'
