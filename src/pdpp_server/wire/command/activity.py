"""The log as the owner's command prints it: what was disclosed, and whether the log is as it was written."""

from collections.abc import Iterable
from dataclasses import asdict

from pdpp_server.model.activity import Disclosure, Verdict
from pdpp_server.wire.envelope import Json


def encode_activity(disclosures: Iterable[Disclosure]) -> Json:
    return {"activity": [_encode_disclosure(disclosure) for disclosure in disclosures]}


def _encode_disclosure(disclosure: Disclosure) -> Json:
    return {**disclosure._asdict(), "query": dict(disclosure.query)}


def encode_verdicts(verdicts: Iterable[Verdict], *, sound: bool, root: str | None) -> Json:
    return {"sound": sound, "root": root, "segments": [asdict(verdict) for verdict in verdicts]}


def encode_kept(days: int | None, lines_let_go: int) -> Json:
    return {"days": days, "lines_let_go": lines_let_go}


def encode_exported(segments: int, folder: str) -> Json:
    return {"segments": segments, "folder": folder}
