"""Related records in short."""

from pdpp_server.evidence.expansions import ExpandedText, expanded_text, expanded_ways
from pdpp_server.model.records import Expanded
from tests.unit.evidence.entries import record


def test_related_records_are_named_counted_or_summed_up() -> None:
    whole = record(expanded={"files": Expanded((record("a"), record("b")), has_more=True), "thread": Expanded(())})
    assert expanded_ways(whole) == [
        "files 2 and more cin_1/messages:a cin_1/messages:b; thread none",
        "files 2 and more; thread none",
        "2 records",
    ]
    assert expanded_ways(record()) == []


def test_only_the_way_that_gives_handles_has_named_anybody() -> None:
    related = (record("a"), record("b"))
    whole = record(expanded={"files": Expanded(related)})
    assert expanded_text(whole, 200) == ExpandedText("files 2 cin_1/messages:a cin_1/messages:b", related)
    assert expanded_text(whole, 12) == ExpandedText("files 2", ())
    assert expanded_text(whole, 3, "") == ExpandedText("", ())
