"""How good search is: `LOCOMO_DIR=… python -m bench.search` prints the table of docs/search.md."""

import os
import sys
from pathlib import Path

from bench.recall import FIRST, recall

SETTINGS = {
    "": "a home for each conversation",
    "_one_granted": "all in one home, a grant on one",
    "_all_granted": "all in one home, a grant on all",
}


def recall_table(numbers: dict[str, float]) -> str:
    lines = ["| evidence among the first | 5 | 10 | 25 |", "|---|---|---|---|"]
    for setting, says in SETTINGS.items():
        shares = " | ".join(f"{numbers[f'locomo_dev_recall{setting}_{k}']:.3f}" for k in FIRST)
        lines.append(f"| {says} | {shares} |")
    return "\n".join(lines)


def main() -> None:
    folder = os.environ.get("LOCOMO_DIR")
    if folder is None:
        sys.exit(
            "LOCOMO_DIR names a folder of conversations (*.records.ndjson, *.questions.json) to measure recall on."
        )
    print(recall_table(recall(Path(folder))))


if __name__ == "__main__":
    main()
