"""Evidence recall through the search tool, on conversations that whoever measures brings along (LOCOMO_DIR)."""

import json
import shutil
import tempfile
from pathlib import Path
from statistics import mean

from bench.world import now
from pdpp_server.mcp.surface import TOOLS
from pdpp_server.model.ingest import Incoming
from pdpp_server.owner.desk import Owner
from pdpp_server.port.local import LocalReader
from pdpp_server.reads.services import open_services
from pdpp_server.wire.declarations import decode_declaration
from pdpp_server.wire.grants import decode_selection
from tests.worlds.told import told

_SOURCE = "https://registry.pdpp.dev/connectors/dialog"
_PROPERTIES = {
    "id": {"type": "string"},
    "session": {"type": "string"},
    "sent_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
    "sender": {"type": "string", "x_pdpp_role": "actor"},
    "text": {"type": "string", "x_pdpp_role": "primary-body"},
}
DECLARATION = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": _SOURCE},
    "declaration_version": "1",
    "publisher": {"id": "https://registry.pdpp.dev/"},
    "display": {"name": "Dialog"},
    "streams": [
        {
            "name": "turns",
            "semantics": "append_only",
            "schema": {"type": "object", "properties": _PROPERTIES},
            "primary_key": ["id"],
            "cursor_field": "sent_at",
            "consent_time_field": "sent_at",
            "selection": {"fields": True, "resources": True},
            "query": {"search": {"lexical_fields": ["sender", "text"]}},
        }
    ],
}
DETAILS = [
    {
        "type": "https://pdpp.dev/data-access",
        "source": {"id": _SOURCE},
        "purpose_code": "https://pdpp.dev/purpose/research",
        "access_mode": "continuous",
        "streams": [{"name": "turns"}],
    }
]


def recall(folder: Path) -> dict[str, float]:
    """recall@5/10/25: the share of a question's evidence among the first hits, averaged over all questions."""
    shares: dict[int, list[float]] = {5: [], 10: [], 25: []}
    for file in sorted(folder.glob("*.records.ndjson")):
        questions = json.loads(file.with_name(file.name.replace(".records.ndjson", ".questions.json")).read_text())
        for question, hits in _searches(file, [question["question"] for question in questions]):
            evidence = next(set(q["evidence"]) for q in questions if q["question"] == question)
            for k, values in shares.items():
                if evidence:
                    values.append(len(evidence & set(hits[:k])) / len(evidence))
    return {f"locomo_dev_recall_{k}": mean(values) for k, values in shares.items()}


def _searches(file: Path, questions: list[str]) -> list[tuple[str, list[str]]]:
    home = Path(tempfile.mkdtemp(prefix="pdpp-bench-"))
    services = open_services(home, now=now)
    try:
        owner = Owner(services, home)
        writer = owner.writer(decode_declaration(DECLARATION), file.stem)
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        writer.deliver([Incoming(str(i), "turns", None, row, None) for i, row in enumerate(rows)])
        token = owner.create_grant(decode_selection(DETAILS), "bench", None).token
        tool = next(tool for tool in TOOLS if tool.name == "search")
        reader = LocalReader(services, token)
        return [
            (question, _hits(told(tool.call(reader, {"query": question, "limit": 25})).structured))
            for question in questions
        ]
    finally:
        services.close()
        shutil.rmtree(home)


def _hits(structured: dict) -> list[str]:
    return [hit["record_key"] for hit in structured["data"]["data"]]
