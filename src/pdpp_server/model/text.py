"""Windows and positions inside long text. Every offset counts Unicode code points."""

from dataclasses import dataclass

from pdpp_server.model.records import RecordId, Warned


@dataclass(frozen=True, slots=True)
class FieldWindow:
    id: RecordId
    field: str
    type: str  # "string", or "json" for the canonical JSON of an object or array
    text: str
    start: int
    total: int
    limit: int
    match: tuple[int, int] | None = None
    clamped_from: int | None = None  # the limit that was asked for, where it was more than we give
    warnings: tuple[Warned, ...] = ()
    text_like: bool = True  # False where the value is bytes written as text, or has such inside

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def complete(self) -> bool:
        return self.start == 0 and self.end == self.total

    @property
    def next_offset(self) -> int | None:
        return self.end if self.end < self.total else None

    @property
    def previous_offset(self) -> int | None:
        return max(0, self.start - self.limit) if self.start > 0 else None
