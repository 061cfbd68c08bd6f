"""No file stops an importer: any bytes, and the samples cut, doubled or damaged anywhere."""

from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdpp_server.evidence.handles import mintable
from pdpp_server.importers.source import Importer, Outcome
from pdpp_server.importers.sources.calendar import CALENDAR
from pdpp_server.importers.sources.contacts import CONTACTS
from pdpp_server.importers.sources.mail import MAIL
from pdpp_server.model.ingest import Incoming
from pdpp_server.model.records import RecordId
from tests.importers.reading import read
from tests.requirements import requirement

HERE = Path(__file__).parent
CONNECTION = "cin_0123456789abcdef01234567"
STARTS = {
    "mail": b"From a@b Mon Jan  1 00:00:00 2024\nFrom: a@b\nContent-Type: multipart/mixed; boundary=cut\n",
    "calendar": b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nDTSTART:20260101T000000Z\n",
    "contacts": b"BEGIN:VCARD\nFN:A\n",
}
each_importer = pytest.mark.parametrize("importer", [MAIL, CALENDAR, CONTACTS], ids=lambda importer: importer.key)


def samples(importer: Importer) -> list[bytes]:
    found = (path for path in sorted((HERE / importer.key).rglob("*")) if path.is_file())
    return [path.read_bytes() for path in found if path.suffix not in (".py", ".pyc", ".jsonl")]


def require_sound(outcomes: Iterable[Outcome]) -> None:
    for outcome in outcomes:
        if isinstance(outcome, Incoming):
            assert isinstance(outcome.key, str)
            assert mintable(RecordId(CONNECTION, outcome.stream, outcome.key))
            orjson.dumps(outcome.data)


@each_importer
@requirement("imp.files.garbage", "imp.files.keys")
@settings(deadline=None)
@given(data=st.data())
def test_any_bytes_give_sound_outcomes(importer: Importer, data: st.DataObject) -> None:
    require_sound(read(importer, data.draw(st.binary()) if data.draw(st.booleans()) else _begun(importer, data)))


def _begun(importer: Importer, data: st.DataObject) -> bytes:
    """Bytes behind a right beginning, in lines that are nearly right."""
    seen = [line for sample in samples(importer) for line in sample.splitlines(keepends=True)]
    lines = data.draw(st.lists(st.one_of(st.sampled_from(seen), st.binary(max_size=40)), max_size=30))
    return STARTS[importer.key] + b"".join(lines)


@each_importer
@requirement("imp.files.garbage", "imp.files.keys")
@settings(deadline=None)
@given(data=st.data())
def test_a_sample_that_is_cut_or_damaged_gives_what_is_left(importer: Importer, data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(samples(importer)))
    at = data.draw(st.integers(0, len(sample)))
    skipped = data.draw(st.integers(0, 40))
    require_sound(read(importer, sample[:at] + data.draw(st.binary(max_size=8)) + sample[at + skipped :]))


@each_importer
@requirement("imp.files.keys")
def test_an_export_that_holds_everything_twice_has_the_same_keys(importer: Importer) -> None:
    once = _keys(read(importer, *samples(importer)))
    assert once
    assert _keys(read(importer, *samples(importer), *samples(importer))) == once


def _keys(outcomes: list[Outcome]) -> set[object]:
    return {(outcome.stream, outcome.key) for outcome in outcomes if isinstance(outcome, Incoming)}
