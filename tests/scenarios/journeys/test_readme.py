"""The README and the page on grants without a page, run as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.requirements import requirement

ROOT = Path(__file__).parents[3]
README = ROOT.joinpath("README.md").read_text("utf-8")
SCRIPTS = ROOT.joinpath("docs", "scripts.md").read_text("utf-8")


@requirement("cli.readme.commands")
def test_every_command_for_a_script_works_as_written(tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", SCRIPTS, re.DOTALL)
    newest = "$(pdpp grants list --json | grep -o 'grt_[0-9a-f]*' | head -n 1)"
    script = "set -e -u\n" + "".join(blocks).replace("GRANT_ID", newest)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PDPP_")}

    done = subprocess.run(
        ["bash", "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **kept,
            "PDPP_HOME": str(tmp_path / "home"),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert re.search(r"search: \d+ of \d+ matches", done.stdout)
    assert "is revoked since" in done.stdout


@requirement("cli.readme.commands")
def test_every_verb_and_tool_that_is_named_exists() -> None:
    verbs = set(re.findall(r"\bpdpp ([a-z]+)\b", README))
    listed = subprocess.run(
        [sys.executable, "-m", "pdpp_server.cli.main", "--help"], capture_output=True, text=True, check=True
    ).stdout

    assert {"import", "serve", "connect", "activity"} <= verbs
    assert [verb for verb in sorted(verbs) if f"\n  {verb} " not in listed] == []
