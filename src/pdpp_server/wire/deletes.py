"""Deletions: which record, or which stream, of which connection."""

from pdpp_server.model.ingest import Target
from pdpp_server.wire.params import TARGET, Params

PARAMETERS = TARGET


def decode_target(params: Params) -> Target:
    params.only(*PARAMETERS)
    return params.target()
