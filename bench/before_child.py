"""Run among another version's files (`bench/before.py`): fills a home where there is none yet, reads a question a line,
and answers with its processor time in milliseconds."""

import sys
from pathlib import Path
from time import thread_time

from bench.world import SOURCE, fill, now
from pdpp_server.model.queries import SearchQuery
from pdpp_server.owner.desk import Owner
from pdpp_server.reads import search
from pdpp_server.reads.services import Call, open_services
from pdpp_server.store.opened import open_database
from pdpp_server.wire.grants import decode_selection
from tests.worlds.told import told


def answer(home: Path, count: int) -> None:
    is_new = not (home / "pdpp.sqlite").exists()
    home.mkdir(parents=True, exist_ok=True)
    services = open_services(home, now=now, database=open_database(home, read_seconds=600))
    if is_new:
        fill(services, home, count)
    details = {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": SOURCE},
        "purpose_code": "https://pdpp.dev/purpose/agent_context",
        "access_mode": "continuous",
        "streams": [{"name": "messages"}],
    }
    call = Call(Owner(services, home).create_grant(decode_selection([details]), "bench", None).token, "req_bench")
    print("ready", flush=True)
    for line in sys.stdin:
        query = SearchQuery(line.strip(), ("messages",), limit=10)
        start = thread_time()
        told(search.serve(services, call, query))
        print((thread_time() - start) * 1e3, flush=True)
    services.close()


if __name__ == "__main__":
    answer(Path(sys.argv[1]), int(sys.argv[2]))
