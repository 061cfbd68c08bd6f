"""What each client did when the tests ran it last: kept beside them, and printed in docs/clients.md."""

import json
import os
from pathlib import Path

FILE = Path(__file__).with_name("matrix.json")
PRINT = "PRINT_MATRIX"


def ran(client: str, **did: str) -> None:
    """The row that is kept must be this one; with the variable set, it becomes so."""
    kept = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    if os.environ.get(PRINT) == "1":
        kept[client] = did
        FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=2) + "\n", "utf-8")
        return
    again = f"{PRINT}=1 .venv/bin/pytest tests/scenarios/clients, then make fix"
    assert kept.get(client) == did, f"{client} did something else than docs/clients.md says: {again}"
