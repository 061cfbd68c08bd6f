"""Small documents, made here: a PDF, a Word file, and some that mean harm."""

from collections.abc import Sequence
from io import BytesIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile
from zlib import compress

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(*pages: str) -> bytes:
    """One line of text on each page."""
    return pdf_of([b"BT /F1 12 Tf 72 720 Td (" + page.encode("latin-1") + b") Tj ET" for page in pages])


def pdf_of(contents: Sequence[bytes], coded: bytes = b"") -> bytes:
    """After ISO 32000-1, with the objects in order and a table of where they stand."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(contents),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, content in enumerate(contents):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(page + b" /Contents %d 0 R >>" % (5 + 2 * number))
        objects.append(b"<< /Length %d %s >>\nstream\n" % (len(content), coded) + content + b"\nendstream")
    whole, places = b"%PDF-1.4\n", list[int]()
    for number, told in enumerate(objects, 1):
        places.append(len(whole))
        whole += b"%d 0 obj\n" % number + told + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    return whole + head + table + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(whole),
    )


def pdf_bomb(size: int) -> bytes:
    """A page that unpacks to many times its length."""
    return pdf_of([compress(b"BT (" + b"a" * size + b") Tj ET", 9)], b"/Filter /FlateDecode")


def docx(*paragraphs: str) -> bytes:
    runs = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    return docx_of(f'<?xml version="1.0"?><w:document xmlns:w="{_SPACE}"><w:body>{runs}</w:body></w:document>'.encode())


def docx_of(document: bytes, **others: bytes) -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        for name, part in {"document": document, **others}.items():
            file.writestr(f"word/{name}.xml", part)
    return packed.getvalue()
