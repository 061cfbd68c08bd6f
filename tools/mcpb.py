"""`make mcpb`: the bundle that Claude Desktop installs with a click, packed by the tool of its makers."""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from tools.tree import PACKAGE, ROOT

SOURCES = ROOT / "deploy" / "mcpb"
COMMANDS = ROOT / "tests" / "node" / "node_modules" / ".bin"
PINNED = re.compile(r"^(\w[^\\\n]*?)\s*\\?$", re.MULTILINE)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def gather(folder: Path) -> None:
    """Everything that goes in: nothing is fetched but what the project pins, and the package itself lies inside."""
    source = folder / "src"
    shutil.copytree(PACKAGE, source / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOURCES / "server.py", source)
    shutil.copy(SOURCES / "manifest.json", folder)
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "pyproject.toml").write_text(_project_file(), "utf-8")


def pack(folder: Path, bundle: Path) -> None:
    """Refused with the tool's own words where the manifest is not what it should be."""
    bundle.parent.mkdir(exist_ok=True)
    mcpb("validate", folder / "manifest.json")
    mcpb("pack", folder, bundle)


def mcpb(*words: str | Path) -> None:
    done = subprocess.run(
        [COMMANDS / "node", COMMANDS / "mcpb", *words], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        sys.exit(f"mcpb: `{' '.join(map(str, words))}` ended with {done.returncode}\n{done.stdout}\n{done.stderr}")


def _project_file() -> str:
    """Exact versions, as the tests have seen them; the package is no part of it, for it need not be built."""
    known = project()
    pinned = PINNED.findall((ROOT / "requirements" / "run.txt").read_text("utf-8"))
    lines = "".join(f'  "{line}",\n' for line in pinned)
    return (
        f'[project]\nname = "{known["name"]}-bundle"\nversion = "{known["version"]}"\n'
        f'requires-python = "{known["requires-python"]}"\ndependencies = [\n{lines}]\n\n[tool.uv]\npackage = false\n'
    )


def main() -> None:
    bundle = ROOT / "dist" / f"{project()['name']}-{project()['version']}.mcpb"
    with tempfile.TemporaryDirectory(prefix="pdpp-mcpb-") as name:
        gather(Path(name))
        pack(Path(name), bundle)
    print(f"mcpb: {bundle.relative_to(ROOT)}, {bundle.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
