"""Names that stay the same from one export to the next."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pdpp_server.evidence.handles import mintable
from pdpp_server.importers.identity import SeenRecords, account_name, digest, record_key
from pdpp_server.model.records import RecordId
from tests.requirements import requirement

CONNECTION = "cin_0123456789abcdef01234567"


@requirement("imp.files.keys")
@example("..")
@example("a/../b")
@example("x" * 5000)
@example("\ud800")
@given(st.text(min_size=1))
def test_any_id_becomes_a_key(text: str) -> None:
    assert mintable(RecordId(CONNECTION, "messages", record_key(text)))


@requirement("imp.files.keys")
@pytest.mark.parametrize("text", ["1", "a@b.example", "x" * 160, "a:b~c"])
def test_a_text_that_a_handle_can_show_is_its_own_key(text: str) -> None:
    assert record_key(text) == text


@requirement("imp.files.keys")
@pytest.mark.parametrize("text", ["", ".", "..", "a b", "a/b", "x" * 161, "ä", "a\n"])
def test_any_other_text_has_a_digest_as_its_key(text: str) -> None:
    assert record_key(text) == digest(text)
    assert len(record_key(text)) == 32


@requirement("imp.files.keys")
def test_parts_that_only_read_alike_have_other_digests() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", ""), digest()}) == 5
    assert digest("ä") == digest("ä".encode())


@requirement("imp.files.recognised")
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("Downloads/Home.ics", "Home"),
        ("Home (1).ics", "Home"),
        ("contacts-2026-03-01.vcf", "contacts"),
        ("export 20260301 at noon (2).zip", "export"),
        ("2026-03-01.zip", "2026-03-01"),  # nothing else is left of it
        ("v1.2.3", "v1.2.3"),
        (".zip", "export"),
        ("", "export"),
    ],
)
def test_an_account_is_called_as_its_file_whichever_download_it_is(file: str, name: str) -> None:
    assert account_name(file) == name


@requirement("imp.files.keys")
def test_the_same_record_again_has_no_key_and_another_one_has_another() -> None:
    seen = SeenRecords()
    assert seen.key("1", "0123456789abcdef") == "1"
    assert seen.key("1", "0123456789abcdef") is None
    assert seen.key("1", "fedcba9876543210") == "1~fedcba987654"
    assert seen.key("1", "fedcba9876543210") is None
    assert seen.key("2", "0123456789abcdef") == "2"
