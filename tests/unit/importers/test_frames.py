"""How documents and their texts pass between two processes."""

import io

import pytest

from pdpp_server.importers.attached.frames import TOLD_BYTES_MAX, Unreadable, ask, asked, tell, told
from pdpp_server.importers.attached.kinds import KINDS, AttachedDocument
from tests.requirements import requirement


def test_what_is_asked_and_told_arrives_one_after_the_other() -> None:
    there, back = io.BytesIO(), io.BytesIO()
    for kind in KINDS:
        ask(there, kind, b"of " + kind.encode())
    tell(back, AttachedDocument("Grüße", ""))
    tell(back, AttachedDocument("", "It holds no text."))
    there.seek(0)
    back.seek(0)
    assert [asked(there) for _ in KINDS] == [(kind, b"of " + kind.encode()) for kind in KINDS]
    assert asked(there) is None
    assert [told(back), told(back)] == [AttachedDocument("Grüße", ""), AttachedDocument("", "It holds no text.")]


@requirement("imp.attached.hostile")
@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\0\0\0",
        b"\0\0\0\2\0\0\0\0a",  # it ends inside the text
        b"\0\0\0\1\0\0\0\0\xff",  # no UTF-8
        (TOLD_BYTES_MAX // 2 + 1).to_bytes(4) * 2 + b"a",  # more than is ever waited for
    ],
)
def test_what_is_no_frame_is_never_taken_for_a_text(frame: bytes) -> None:
    with pytest.raises(Unreadable):
        told(io.BytesIO(frame))
