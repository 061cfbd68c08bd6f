"""`make wheel`: build the wheel, install it in a clean environment, and run it outside of the tree."""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tools.tree import ROOT

UV = Path(sys.executable).with_name("uv")
DEMO_SECONDS = 120


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    """Run one step; its output is shown only when it fails."""
    # Nothing of the workshop may leak into the clean environment.
    inherited = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEMO_SECONDS,
        check=False,
    )
    words = " ".join(Path(part).name if part == command[0] else str(part) for part in command)
    if done.returncode:
        sys.exit(f"wheel: `{words}` ended with {done.returncode}\n{done.stdout}\n{done.stderr}")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pdpp-wheel-") as name:
        there = Path(name)
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", there / "dist", cwd=ROOT)
        (wheel,) = (there / "dist").glob("*.whl")
        venv.create(there / "clean", with_pip=False)
        python, pdpp = there / "clean" / "bin" / "python", there / "clean" / "bin" / "pdpp"
        pinned = ROOT / "requirements" / "run.txt"
        run(UV, "pip", "install", "--python", python, "--require-hashes", "-r", pinned, cwd=there)
        run(UV, "pip", "install", "--python", python, "--no-deps", "--offline", wheel, cwd=there)
        run(pdpp, "--help", cwd=there)
        run(pdpp, "demo", cwd=there, DEMO_ONCE="1", PDPP_HOME=str(there / "home"))
        print(f"wheel: {wheel.name}, {wheel.stat().st_size // 1024} kB, installed and tried outside of the tree")


if __name__ == "__main__":
    main()
