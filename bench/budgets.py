"""The most bytes of every tool, in both channels, over worlds that were made to break their budgets."""

import tempfile
from pathlib import Path

from tests.budgets.measure import STRUCTURED_BYTES, TEXT_BYTES, sized_answers
from tests.worlds.lives import crowd, hostile

REACH = {
    **{f"text_bytes_max.{name}": most for name, most in TEXT_BYTES.items()},
    **{f"structured_bytes_max.{name}": most for name, most in STRUCTURED_BYTES.items()},
}


def worst_bytes() -> dict[str, float]:
    """Over fields of a megabyte, hundreds of fields, the longest handles, a crowd of streams, connections and hits."""
    most: dict[str, float] = dict.fromkeys(REACH, 0)
    for build in (hostile, crowd):
        with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as home:
            life = build(Path(home))
            life.grant()
            for name, _, text, structured in sized_answers(life):
                for key, size in ((f"text_bytes_max.{name}", text), (f"structured_bytes_max.{name}", structured)):
                    most[key] = max(most[key], size)
            life.close()
    return most
