"""Files beside the messages of a messenger."""

import io
from typing import BinaryIO

import pytest

from pdpp_server.importers.formats import media
from pdpp_server.importers.formats.media import attached, media_type
from pdpp_server.importers.source import Attachment, DamagedFile, File
from tests.requirements import requirement


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.OPUS", "audio/ogg"),
        ("sticker.webp", "image/webp"),
        ("a.b.jpg", "image/jpeg"),
        ("opus", "audio/ogg"),
        ("a.unheard-of", "application/octet-stream"),
        ("", "application/octet-stream"),
    ],
)
def test_a_kind_is_told_by_the_ending_of_the_name(name: str, kind: str) -> None:
    assert media_type(name) == kind


@requirement("imp.files.attachments")
def test_a_file_is_kept_up_to_a_size_and_else_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "MEDIA_BYTES_MAX", 3)
    kept, large = (File("a.jpg", size, lambda: io.BytesIO(b"abc")) for size in (3, 4))
    assert attached(kept, "messages", "1") == Attachment("messages", "1", b"abc", "image/jpeg")
    assert attached(large, "messages", "1") == "a.jpg is larger than 0 MiB and was left out; the message is kept"


@requirement("imp.files.attachments", "imp.files.damaged")
def test_a_file_that_is_missing_empty_or_damaged_is_none() -> None:
    def damaged() -> BinaryIO:
        raise DamagedFile("a.jpg is damaged.")

    assert attached(None, "messages", "1") is None
    assert attached(File("a.jpg", 0, damaged), "messages", "1") is None
    assert attached(File("a.jpg", 9, lambda: io.BytesIO(b"")), "messages", "1") is None
    assert (
        attached(File("a.jpg", 9, damaged), "messages", "1")
        == "a.jpg cannot be read and was left out; the message is kept"
    )
