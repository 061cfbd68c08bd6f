"""A chart of what was measured, as SVG: a group of bars for each case, on a scale of powers of ten."""

from collections.abc import Mapping, Sequence
from math import log10
from xml.sax.saxutils import escape

COLOURS = ("#2f6f4f", "#9aa5b1", "#c9a227", "#b5543c")
LEFT, WIDTH, BAR, GAP = 230, 760, 9, 14
LEAST, MOST = 0.05, 2000.0  # milliseconds at the edges of the scale


def bars(sizes: Sequence[int], found: Sequence[Mapping[str, Mapping[str, float]]], columns: Sequence[str]) -> str:
    drawn: list[str] = []
    top = 34
    for size, costs in zip(sizes, found, strict=True):
        drawn.append(_text(8, top + 4, f"{size:,} records, CPU ms", weight="bold"))
        top += 16
        for name, numbers in costs.items():
            shown = [
                (colour, numbers[column]) for colour, column in zip(COLOURS, columns, strict=True) if column in numbers
            ]
            if "wall ms" not in numbers:
                continue
            drawn.append(_text(LEFT - 8, top + BAR, name, anchor="end"))
            for colour, number in shown:
                length = max(2.0, _place(number) - LEFT)
                drawn.append(f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR - 1}" fill="{colour}"/>')
                drawn.append(_text(LEFT + length + 4, top + BAR - 1, f"{number:.3g}", size=9))
                top += BAR
            top += GAP - BAR + 4
        top += 12
    return "\n".join([_opening(top), *_legend(columns), *_scale(top), *drawn, "</svg>", ""])


def _place(number: float) -> float:
    share = (log10(min(MOST, max(LEAST, number))) - log10(LEAST)) / (log10(MOST) - log10(LEAST))
    return LEFT + share * (WIDTH - LEFT - 50)


def _opening(height: int) -> str:
    sized = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" {sized} font-family="sans-serif">'
    return opened + '\n<rect width="100%" height="100%" fill="#fff"/>'


def _legend(columns: Sequence[str]) -> list[str]:
    told: list[str] = []
    for number, (column, colour) in enumerate(zip(columns, COLOURS, strict=True)):
        at = LEFT + number * 120
        told += [f'<rect x="{at}" y="8" width="10" height="10" fill="{colour}"/>']
        told += [_text(at + 14, 17, "this server" if number == 0 else column)]
    return told


def _scale(height: int) -> list[str]:
    lines: list[str] = []
    for power in (-1, 0, 1, 2, 3):
        at = _place(10.0**power)
        lines.append(f'<line x1="{at:.1f}" y1="26" x2="{at:.1f}" y2="{height}" stroke="#e3e6ea"/>')
    return lines


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal", size: int = 11) -> str:
    told = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="#222"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {told}>{escape(text)}</text>'
