"""Exports of banks and messengers, damaged anywhere: what is left is sound, and fits its declaration."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from pdpp_server.importers.registry import IMPORTERS, declaration_of
from pdpp_server.importers.source import Importer, Outcome
from pdpp_server.model.ingest import Incoming
from tests.importers.exports import contents_of, export_of, read_export, sample
from tests.importers.test_garbage import require_sound
from tests.requirements import requirement

FOLDERS = {
    "ofx/sgml": "ofx",
    "ofx/xml": "ofx",
    "ofx/broker": "ofx",
    "bank_csv/giro": "bank-csv",
    "bank_csv/preview": "bank-csv",
    "camt/statements": "camt053",
    "mt940/statements": "mt940",
    "telegram/everything": "telegram",
    "telegram/one_chat": "telegram",
    "whatsapp/android": "whatsapp",
    "whatsapp/iphone": "whatsapp",
    "whatsapp/arabic": "whatsapp",
    "slack/workspace": "slack",
}
BY_KEY = {importer.key: importer for importer in IMPORTERS}
SAMPLES = {folder: sample(folder) for folder in FOLDERS}
CONTENTS = {folder: contents_of(files) for folder, files in SAMPLES.items()}
SCHEMAS = {
    (key, name): Draft202012Validator(dict(stream.schema))
    for key in set(FOLDERS.values())
    for name, stream in declaration_of(key).streams.items()
}
each_sample = pytest.mark.parametrize("folder", FOLDERS)


def require_fitting(importer: Importer, outcomes: list[Outcome]) -> None:
    require_sound(outcomes)
    for one in outcomes:
        if isinstance(one, Incoming):
            SCHEMAS[importer.key, one.stream].validate(dict(one.data or {}))


@each_sample
@requirement("imp.files.garbage", "imp.files.keys")
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_an_export_with_a_damaged_file_gives_what_is_left(folder: str, data: st.DataObject) -> None:
    importer, contents = BY_KEY[FOLDERS[folder]], dict(CONTENTS[folder])
    name = data.draw(st.sampled_from(sorted(contents)))
    at = data.draw(st.integers(0, len(contents[name])))
    skipped = data.draw(st.sampled_from([0, 1, 7, 40, 1 << 20]))
    contents[name] = contents[name][:at] + data.draw(st.binary(max_size=8)) + contents[name][at + skipped :]

    files = export_of(contents, SAMPLES[folder].name, SAMPLES[folder].mapping)

    require_fitting(importer, read_export(importer, files))


@each_sample
@requirement("imp.files.garbage")
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_lines_in_any_order_give_sound_records(folder: str, data: st.DataObject) -> None:
    importer, contents = BY_KEY[FOLDERS[folder]], dict(CONTENTS[folder])
    name = max(contents, key=lambda one: len(contents[one]))
    lines = contents[name].splitlines(keepends=True)
    others = data.draw(st.lists(st.one_of(st.sampled_from(lines), st.binary(max_size=40)), max_size=20))
    contents[name] = b"".join([*lines[:1], *others])

    files = export_of(contents, SAMPLES[folder].name, SAMPLES[folder].mapping)

    require_fitting(importer, read_export(importer, files))


@pytest.mark.parametrize("importer", [BY_KEY[key] for key in sorted(set(FOLDERS.values()))], ids=lambda one: one.key)
@requirement("imp.files.garbage")
@settings(deadline=None, max_examples=50)
@given(content=st.binary(), name=st.sampled_from(["result.json", "users.json", "a.txt", "a.csv", "a.xml", "a"]))
def test_any_bytes_stop_nothing(importer: Importer, content: bytes, name: str) -> None:
    require_fitting(importer, read_export(importer, export_of({name: content, "channels.json": content}, name)))


@each_sample
@requirement("imp.files.recognised")
def test_an_export_is_known_to_its_own_importer_only(folder: str) -> None:
    knowing = [importer.key for importer in IMPORTERS if list(importer.recognise(SAMPLES[folder]))]
    assert knowing == [FOLDERS[folder]]
