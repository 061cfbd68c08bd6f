"""The blocks of the pages that are printed from the code. Cog calls these."""

import json
from pathlib import Path

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


def _title(page: Path) -> str:
    return page.read_text("utf-8").partition("\n")[0].removeprefix("# ")
