"""The style sheet: text is readable in both schemes (WCAG AA), and nothing is fetched."""

import re
from pathlib import Path

import pytest

import pdpp_server.console

SHEET = (Path(pdpp_server.console.__file__).parent / "pages.css").read_text("utf-8")
TEXT = [(ink, paper) for ink in ("ink", "soft", "accent", "danger") for paper in ("paper", "card")] + [
    ("ink", "tint"),
    ("ink", "mark"),
    ("on-accent", "accent"),
    ("warn", "warn-tint"),
    ("warn", "card"),
]
EDGES = [("edge", "paper"), ("edge", "card"), ("accent", "paper")]


def schemes() -> list[dict[str, str]]:
    light, dark = re.findall(r":root \{(.*?)\}", SHEET, re.DOTALL)
    named = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", scheme)) for scheme in (light, dark)]
    return [named[0], {**named[0], **named[1]}]


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", schemes(), ids=["light", "dark"])
def test_text_and_edges_stand_out(scheme: dict[str, str]) -> None:
    weak = {pair for pair in TEXT if contrast(scheme[pair[0]], scheme[pair[1]]) < 4.5}
    faint = {pair for pair in EDGES if contrast(scheme[pair[0]], scheme[pair[1]]) < 3}

    assert (weak, faint) == (set(), set())


def test_nothing_is_fetched() -> None:
    assert not re.search(r"url\(|@import|https?:", SHEET)
