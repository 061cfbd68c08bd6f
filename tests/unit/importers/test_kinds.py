"""Which attached files have a text that can be read."""

import pytest

from pdpp_server.importers.attached.kinds import kind_of
from tests.importers.documents import WORD, pdf
from tests.requirements import requirement


@pytest.mark.parametrize(
    ("data", "media_type", "name", "kind"),
    [
        (pdf("x"), "application/octet-stream", "scan", "pdf"),
        (b"PK\3\4", WORD, "", "docx"),
        (b"PK\3\4", "application/octet-stream", "Letter.DOCX", "docx"),
        (b"PK\3\4", "application/zip", "all.zip", None),
        (b"a;b", "application/octet-stream", "table.csv", "plain"),
        (b"<p>", "text/html", "", "html"),
        (b"<p>", "text/plain", "page.html", "html"),
        (b"a\0b", "text/plain", "", None),
        (b"BEGIN:VCALENDAR", "text/calendar", "invite.ics", None),
        (b"\x89PNG", "image/png", "a.png", None),
        (b"no zip", WORD, "x.docx", None),
    ],
)
@requirement("imp.attached.text")
def test_a_kind_is_told_by_what_is_in_it(data: bytes, media_type: str, name: str, kind: str | None) -> None:
    assert kind_of(data, media_type, name) == kind
