"""The tags of OFX files: SGML without ends and XML, read alike."""

import io

import pytest

from pdpp_server.importers.formats import ofx_tags
from pdpp_server.importers.formats.ofx_tags import charset_of
from tests.requirements import requirement


@requirement("imp.files.damaged")
@pytest.mark.parametrize(
    ("head", "charset"),
    [
        (b"OFXHEADER:100\nENCODING:USASCII\nCHARSET:1252\n", "cp1252"),
        (b"OFXHEADER:100\nENCODING:UTF-8\nCHARSET:1252\n", "utf-8"),
        (b"OFXHEADER:100\nENCODING:UNICODE\nCHARSET:NONE\n", "utf-8"),
        (b"OFXHEADER:100\nCHARSET:ISO-8859-1\n", "ISO-8859-1"),
        (b"OFXHEADER:100\nCHARSET:NONE\n", None),
        (b'<?xml version="1.0" encoding="utf-8"?><?OFX OFXHEADER="200"?>', "utf-8"),
    ],
)
def test_the_header_tells_the_charset(head: bytes, charset: str | None) -> None:
    assert charset_of(head) == charset


def told(data: bytes) -> list[tuple[int, str, str, bool]]:
    return [(one.line, one.name, one.value, one.is_end) for one in ofx_tags.tags(io.BytesIO(data))]


@requirement("imp.files.recognised")
@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (b"OFXHEADER:100\n", True),
        (b"\xef\xbb\xbf\n <OFX>", True),
        (b'<?xml version="1.0"?>\n<?OFX OFXHEADER="200"?>', True),
        (b'<?xml version="1.0"?><html>', False),
        (b"see OFXHEADER:100", False),
        (b"", False),
    ],
)
def test_a_file_is_known_by_how_it_begins(head: bytes, is_one: bool) -> None:
    assert ofx_tags.is_ofx(head) is is_one


@requirement("imp.files.damaged")
def test_values_need_no_end_and_are_one_line_of_text() -> None:
    text = b"CHARSET:1252\n\n<ofx>\n<NAME>Caf\xe9 &amp;\n Bar\n<MEMO><![CDATA[a <b> c]]></MEMO>\n</ofx>"
    assert told(text) == [
        (3, "OFX", "", False),
        (4, "NAME", "Café & Bar", False),
        (6, "MEMO", "a <b> c", False),
        (6, "MEMO", "", True),
        (7, "OFX", "", True),
    ]


@requirement("imp.files.damaged")
def test_a_tag_that_the_file_ends_in_is_not_told() -> None:
    assert told(b"<OFX><TRNAMT>-1<NAM") == [(1, "OFX", "", False), (1, "TRNAMT", "-1", False)]


@requirement("imp.files.garbage")
def test_a_mark_of_quoted_text_that_never_ends_hides_no_later_tag() -> None:
    assert [name for _, name, _, _ in told(b"<MEMO>" + b"<![CDATA[" * 3000 + b"<NAME>x</NAME>")] == [
        "MEMO",
        "NAME",
        "NAME",
    ]
