"""What can go wrong with a source that is asked: a sentence, and what to do about it."""

from pdpp_server.errors import InvalidRequest


class SourceTrouble(InvalidRequest):
    """A live source could not be read; nothing of it is lost, and nothing is removed."""
