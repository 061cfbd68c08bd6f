"""Health as the owner's command prints it."""

from pdpp_server.evidence.text import compact_json
from pdpp_server.model.health import Fault, Finding
from pdpp_server.wire.command.health import FaultTold, encode_findings, encode_meaning


def told(fault: Fault) -> FaultTold:
    return FaultTold(f"{fault.number} wrong", "Mend it.")


def test_all_is_well_where_every_part_is() -> None:
    assert compact_json(encode_findings([Finding("home", facts={"made": 1})], told)) == (
        '{"well":true,"parts":[{"part":"home","well":true,"facts":{"made":1},"faults":[],"mended":[]}]}'
    )


def test_a_fault_is_told_in_words_with_what_to_do_and_what_was_mended_without() -> None:
    damaged, miscounted = Fault("damaged", 2, ("a",)), Fault("days_miscounted")
    assert compact_json(encode_findings([Finding("log"), Finding("database", (damaged,), (miscounted,))], told)) == (
        '{"well":false,"parts":[{"part":"log","well":true,"facts":{},"faults":[],"mended":[]},'
        '{"part":"database","well":false,"facts":{},'
        '"faults":[{"code":"damaged","number":2,"places":["a"],"says":"2 wrong","do":"Mend it."}],'
        '"mended":[{"code":"days_miscounted","number":1,"places":[]}]}]}'
    )


def test_how_far_search_by_meaning_is() -> None:
    assert compact_json(encode_meaning("ready", model_bytes=1, indexed=2, waiting=3, index_bytes=4)) == (
        '{"state":"ready","model_bytes":1,"indexed":2,"waiting":3,"index_bytes":4}'
    )
