"""The blocks of the pages that are printed from the code. Cog calls these."""

import json
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from textwrap import wrap

from tools.map import map_lines
from tools.tree import ROOT, modules

WALK_CHARS = 118


def package_map() -> str:
    """The packages of `make map`, as a fenced block: whoever wants the modules too asks for them."""
    packages = [line for line in map_lines(modules()) if not line.startswith(" ")]
    return "\n".join(["", "```text", *packages, "```", ""])


def walk(name: str) -> str:
    """The files of one walk in the order of the first visit, a line for each stay in a package, as a fenced block.

    It is traced in a process of its own: what was done before would not be done again.
    """
    command = [sys.executable, "-m", "tools.walk", name]
    traced = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = [line.split()[0] for line in traced[:-1]]
    stays = [list(stay) for _, stay in groupby(files, key=lambda file: file.rpartition("/")[0])]
    lines = [line for stay in stays for line in wrap(" ".join(stay), WALK_CHARS, subsequent_indent="  ")]
    return "\n".join(["", "```text", *lines, f"{len(files)} files", "```", ""])


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
