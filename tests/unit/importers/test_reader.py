"""The program that reads attached documents, without its limits."""

import io
from types import SimpleNamespace

import pytest

from pdpp_server.importers.attached import reader
from pdpp_server.importers.attached.frames import ask, told
from pdpp_server.importers.attached.kinds import AttachedDocument
from tests.requirements import requirement


@pytest.fixture
def pipes(monkeypatch: pytest.MonkeyPatch) -> tuple[io.BytesIO, io.BytesIO]:
    there, back = io.BytesIO(), io.BytesIO()
    streams = SimpleNamespace(stdin=SimpleNamespace(buffer=there), stdout=SimpleNamespace(buffer=back))
    monkeypatch.setattr(reader, "sys", streams)
    for limit in ("_limit", "_limit_time"):
        monkeypatch.setattr(reader, limit, lambda: None)
    return there, back


@requirement("imp.attached.text")
def test_every_document_is_answered_until_no_more_come(pipes: tuple[io.BytesIO, io.BytesIO]) -> None:
    there, back = pipes
    ask(there, "plain", b"one")
    ask(there, "html", b"<p>two</p>")
    there.seek(0)
    reader.main()
    back.seek(0)
    assert [told(back), told(back)] == [AttachedDocument("one", ""), AttachedDocument("two", "")]
    assert back.read() == b""


@requirement("imp.attached.hostile")
def test_one_that_needs_too_much_memory_is_told_and_ends_the_program(
    pipes: tuple[io.BytesIO, io.BytesIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    def document(_kind: str, _data: bytes) -> AttachedDocument:
        raise MemoryError

    monkeypatch.setattr(reader, "document", document)
    there, back = pipes
    ask(there, "plain", b"one")
    ask(there, "plain", b"two")
    there.seek(0)
    reader.main()
    back.seek(0)
    assert told(back) == AttachedDocument("", "To read it would take more memory than it may have.")
    assert back.read() == b""
