"""The blocks of the pages that are printed from the code. Cog calls these."""

import json
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from pdpp_server.settings import Settings, Variable
from tools.map import map_lines
from tools.tree import ROOT, modules


def package_map() -> str:
    """The packages of `make map`, as a fenced block: whoever wants the modules too asks for them."""
    packages = [line for line in map_lines(modules()) if not line.startswith(" ")]
    return "\n".join(["", "```text", *packages, "```", ""])


def decision_list(folder: Path = ROOT / "docs" / "decisions") -> str:
    """One line for each decision page, from its title."""
    rows = [f"- [{_title(page)}](decisions/{page.name})" for page in sorted(folder.glob("[0-9]*.md"))]
    return "\n".join(["", *rows, ""])


def client_matrix(seen: Path = ROOT / "tests" / "scenarios" / "clients" / "matrix.json") -> str:
    """What the tests saw of each client."""
    rows = [
        f"| {name} | {row['version']} | {row['revoked']} | {row['shows'] or 'has no model'} |"
        for name, row in json.loads(seen.read_text("utf-8")).items()
    ]
    head = ["| client | version | when revoked | its model sees |", "|---|---|---|---|"]
    return "\n".join(["", *head, *rows, ""])


def settings_table() -> str:
    """One row for each variable."""
    rows = [_setting_row(each.metadata["variable"], _default_words(each)) for each in fields(Settings)]
    head = ["| variable | takes | without it | what it does |", "|---|---|---|---|"]
    return "\n".join(["", *head, *rows, ""])


def _setting_row(variable: Variable, default: str) -> str:
    return f"| `{variable.name}` | {variable.takes} | {default} | {variable.says} |"


def _default_words(setting: Field[Any]) -> str:
    """What is found out on each machine has no words of its own."""
    if setting.default is MISSING:
        return "as the machine has it"
    match setting.default:
        case None | "" | ():
            return "none"
        case bool() as is_on:
            words = ("off", "on") if setting.metadata["variable"].takes == "on or off" else ("0", "1")
            return f"`{words[is_on]}`"
        case value:
            return f"`{value}`"


def _title(page: Path) -> str:
    return page.read_text("utf-8").partition("\n")[0].removeprefix("# ")
