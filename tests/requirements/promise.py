"""What a promise is: one sentence that a test proves, where it comes from, and what became of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Promise:
    """`scenario` and `ruling` are the numbers it answers; `deferred` and `diverges` say why, in words."""

    source: str
    says: str
    scenario: tuple[str, ...] = ()
    ruling: tuple[int, ...] = ()
    deferred: str | None = None
    diverges: str | None = None
