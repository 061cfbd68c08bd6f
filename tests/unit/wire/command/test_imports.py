"""Imports as the owner's command prints them."""

from pdpp_server.evidence.text import compact_json
from pdpp_server.model.ingest import Finished
from pdpp_server.model.runs import Restored, Run, Undone
from pdpp_server.wire.command.imports import (
    encode_kind,
    encode_receipt,
    encode_removal,
    encode_runs,
    encode_survey,
    encode_unchanged,
    encode_undone,
    encode_without_text,
)

RUN = Run(7, "notes-1", "a.zip", "2026-01-01T00:00:00Z", 2)


def test_a_kind_of_export_and_how_to_get_it() -> None:
    assert compact_json(encode_kind("mail", "an mbox", "Ask.")) == '{"key":"mail","takes":"an mbox","obtain":"Ask."}'


def test_what_a_first_look_found() -> None:
    survey = encode_survey(
        "notes",
        "Mine",
        file="a.zip",
        size=9,
        share=2 / 3,
        attachments=1,
        rejected=0,
        notes=("as UTC",),
        streams={"notes": (3, 0, None)},
    )
    assert compact_json(survey) == (
        '{"connector_key":"notes","name":"Mine","file":"a.zip","size_bytes":9,"read_share":0.667,"attachments":1,'
        '"rejected":0,"notes":["as UTC"],'
        '"streams":[{"name":"notes","records":3,"earliest":"1970-01-01T00:00:00.000Z","latest":null}]}'
    )


def test_a_receipt_counts_and_then_tells_the_rest() -> None:
    counted = '{"connection_id":"notes-1","accepted":1,"unchanged":2,"rejected":3'
    assert compact_json(encode_receipt("notes-1", 1, 2, 3, {})) == f"{counted}}}"
    assert compact_json(encode_receipt("notes-1", 1, 2, 3, encode_without_text(4))) == f'{counted},"without_text":4}}'
    assert encode_without_text(0) == {}


def test_an_export_that_was_read_before_is_all_unchanged() -> None:
    assert compact_json(encode_unchanged("notes-1", Finished("a.zip", 5, 1, "t"))) == (
        '{"connection_id":"notes-1","accepted":0,"unchanged":5,"rejected":1,"unchanged_since":"t"}'
    )


def test_why_something_is_kept_is_told_where_something_is() -> None:
    removed = encode_removal(7, before=5, after=3, removed=2, kept=0, why_kept=())
    assert compact_json(removed) == '{"run":7,"before":5,"after":3,"removed":2}'
    kept = encode_removal(7, before=5, after=5, removed=0, kept=2, why_kept=("it is damaged",))
    assert compact_json(kept) == (
        '{"run":7,"before":5,"after":5,"removed":0,"missing_kept":2,"kept_because":["it is damaged"]}'
    )


def test_what_can_be_brought_back_and_what_was() -> None:
    assert compact_json(encode_runs([RUN])) == (
        '{"runs":[{"run":7,"connection_id":"notes-1","file":"a.zip","at":"2026-01-01T00:00:00Z","removed":2}]}'
    )
    assert compact_json(encode_undone(7, Undone(RUN, Restored(1, 2, 3, 4, 5, 6)))) == (
        '{"run":7,"connection_id":"notes-1","restored":1,"changed_back":2,'
        '"withdrawn":3,"there_again":4,"left":5,"unfit":6}'
    )
