"""`make wheel`: build the wheel, try it in a clean environment outside of the tree, and leave it in dist/."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from urllib.request import urlopen

from tools.tree import ROOT

UV = Path(sys.executable).with_name("uv")
DEMO_SECONDS = 120


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    """Run one step; its output is shown only when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=_inherited() | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEMO_SECONDS,
        check=False,
    )
    words = " ".join(Path(part).name if part == command[0] else str(part) for part in command)
    if done.returncode:
        sys.exit(f"wheel: `{words}` ended with {done.returncode}\n{done.stdout}\n{done.stderr}")


def serve(pdpp: Path, cwd: Path, **environment: str) -> None:
    """Start the server as a service would, and ask it whether it is well."""
    command = [str(pdpp), "serve", "--port", "0"]
    variables = _inherited() | environment | {"PYTHONUNBUFFERED": "1"}
    out, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, cwd=cwd, env=variables, stdout=out, stderr=nowhere, text=True) as server:
        try:
            assert server.stdout
            found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            if found is None:
                sys.exit("wheel: `pdpp serve` did not say where it serves")
            with urlopen(f"{found[0]}/healthz", timeout=DEMO_SECONDS) as answer:
                answer.read()
        finally:
            server.terminate()


def _inherited() -> dict[str, str]:
    """Nothing of the workshop may leak into the clean environment."""
    return {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "VIRTUAL_ENV"}}


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
        run(pdpp.with_name("pdpp-server"), "--version", cwd=there)
        serve(pdpp, there, PDPP_HOME=str(there / "served"))
        run(pdpp, "demo", cwd=there, DEMO_ONCE="1", PDPP_HOME=str(there / "home"))
        kept = ROOT / "dist" / wheel.name
        kept.parent.mkdir(exist_ok=True)
        shutil.copyfile(wheel, kept)
        size = f"{kept.stat().st_size // 1024} kB"
        print(f"wheel: {kept.relative_to(ROOT)}, {size}, installed and tried outside of the tree")


if __name__ == "__main__":
    main()
