"""`make pages`: every page of the owner's in every state, as pictures to look at, into `build/pages/`."""

import logging
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from tests.scenarios.console.chromium import chromium
from tests.scenarios.console.states import Walk, every_state
from tests.worlds.lived import empty, lived
from tools.tree import ROOT

FOLDER = ROOT / "build" / "pages"
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main(wanted: list[str]) -> None:
    """Only states whose name holds one of the words, where any are given."""
    if not wanted:
        shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    logging.getLogger("pdpp_server.access").setLevel(logging.WARNING)
    with (
        TemporaryDirectory(prefix="pdpp-pages-") as folder,
        empty(Path(folder) / "empty") as nothing,
        lived(Path(folder)) as life,
        chromium() as browser,
    ):
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        walk = Walk(page, nothing, life)
        taken = 0
        for name, state in every_state():
            if wanted and not any(word in name for word in wanted):
                continue
            state(walk)
            for size, (width, height) in SIZES.items():
                page.set_viewport_size({"width": width, "height": height})
                for scheme in SCHEMES:
                    page.emulate_media(color_scheme=scheme)
                    page.screenshot(path=FOLDER / f"{name}.{size}.{scheme}.png", full_page=True)
                    taken += 1
    print(f"{taken} pictures are in {FOLDER.relative_to(ROOT)}.")


if __name__ == "__main__":
    main(sys.argv[1:])
