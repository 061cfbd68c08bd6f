"""What all answers share."""

from pdpp_server.model.catalogue import MissingConnection
from pdpp_server.model.records import Warned
from pdpp_server.wire.envelope import decode_warnings, encode_warnings, finish, sources_skipped, url


def test_an_answer_over_a_source_that_is_gone_is_partial() -> None:
    gone = tuple(MissingConnection(f"post-{n}", "post", "g1") for n in range(14))

    meta = finish({}, "/v1/search", sources_skipped(gone))["meta"]

    assert meta["partial"] is True
    detail = meta["warnings"][0]["detail"]
    assert (len(detail["sources"]), detail["total"]) == (12, 14)
    assert "post-0 of post and 13 more" in meta["warnings"][0]["message"]
    assert "partial" not in finish({}, "/v1/search")["meta"]


def test_a_remark_is_made_once_and_read_as_it_was_written() -> None:
    clamped = Warned("limit_clamped", "Lowered.", "limit", {"max_limit": 100})

    written = encode_warnings((clamped, clamped, Warned("other", "Else.")))

    assert [each["code"] for each in written] == ["limit_clamped", "other"]
    assert decode_warnings({"meta": {"warnings": written}}) == (clamped, Warned("other", "Else."))
    assert decode_warnings({"meta": "nothing of ours"}) == ()


def test_every_segment_of_an_address_stays_one_segment() -> None:
    assert url("streams", "a/b", "records", "?#%", fields=("x", "y"), view=None) == (
        "/v1/streams/a%2Fb/records/%3F%23%25?fields=x&fields=y"
    )
