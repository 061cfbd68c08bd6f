"""Health as the owner's command prints it: what the doctor found, and how far search by meaning is."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pdpp_server.model.health import Fault, Finding
from pdpp_server.wire.envelope import Json


class FaultTold(NamedTuple):
    """What is wrong, in words, and what to do."""

    says: str
    do: str


def encode_findings(findings: Iterable[Finding], told: Callable[[Fault], FaultTold]) -> Json:
    parts = [_encode_finding(finding, told) for finding in findings]
    return {"well": all(part["well"] for part in parts), "parts": parts}


def _encode_finding(finding: Finding, told: Callable[[Fault], FaultTold]) -> Json:
    return {
        "part": finding.part,
        "well": finding.is_well,
        "facts": dict(finding.facts),
        "faults": [{**_encode_fault(fault), **told(fault)._asdict()} for fault in finding.faults],
        "mended": [_encode_fault(fault) for fault in finding.mended],
    }


def _encode_fault(fault: Fault) -> Json:
    """Its remedy is told in words."""
    return {name: value for name, value in fault._asdict().items() if name != "remedy"}


def encode_meaning(state: str, *, model_bytes: int | None, indexed: int, waiting: int, index_bytes: int) -> Json:
    return {
        "state": state,
        "model_bytes": model_bytes,
        "indexed": indexed,
        "waiting": waiting,
        "index_bytes": index_bytes,
    }
