"""What can go wrong with a source that is asked: a sentence, and what to do about it."""

from collections.abc import Generator
from contextlib import contextmanager

from pdpp_server.errors import InvalidRequest

AGAIN = "It is tried again by itself."
NOT_YET = "It is not followed yet: add it again later."


class SourceTrouble(InvalidRequest):
    """A live source could not be read; nothing of it is lost, and nothing is removed."""

    def __init__(self, message: str, *, remedy: str, pause: int = 0) -> None:
        super().__init__(message, remedy=remedy)
        self.pause = pause  # seconds that the server itself asks for


@contextmanager
def not_followed_yet() -> Generator[None, None, None]:
    """Nobody tries a source again that could not be added. Raises: SourceTrouble."""
    try:
        yield
    except SourceTrouble as trouble:
        raise SourceTrouble(trouble.message, remedy=trouble.remedy.replace(AGAIN, NOT_YET)) from trouble
