"""Whether the log says what left: random calls at every door, and what their lines got wrong."""

import logging
import tempfile
from pathlib import Path

from tests.log_truth.ask import asking
from tests.worlds.marked import build

CALLS = 600


def log_truth(many: int = CALLS) -> dict[str, float]:
    """How much left and was not logged, and how much was logged and did not leave."""
    logging.disable(logging.INFO)
    try:
        with tempfile.TemporaryDirectory(prefix="pdpp-bench-") as home:
            life = build(Path(home))
            with asking(life, seed=0) as ask:
                tally = ask.run(many)
            life.close()
    finally:
        logging.disable(logging.NOTSET)
    return {"log_truth.unlogged": len(tally.unlogged), "log_truth.unsent": len(tally.unsent), "log_truth.calls": many}
