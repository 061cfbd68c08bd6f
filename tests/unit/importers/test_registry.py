"""Which importer knows the files that the owner named."""

from dataclasses import replace
from datetime import UTC
from pathlib import Path
from zipfile import ZipFile

import pytest

from pdpp_server.importers.files import open_files
from pdpp_server.importers.registry import SeveralKinds, look_into, nothing_known, recognise
from tests.importers.toys import TOY, lines
from tests.requirements import requirement


@requirement("imp.files.recognised")
def test_a_folder_of_exports_is_looked_into_and_a_broken_one_named(tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "plain.toy").write_text(lines(1, "plain"), "utf-8")
    with ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("in/a.toy", lines(1, "packed"))
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and no more")

    looked = look_into(folder, UTC, None, (TOY,))

    assert [found.account.name for found in looked.found] == ["plain", "packed"]
    assert list(looked.refused) == ["broken.zip"]


@requirement("imp.files.wrong-kind")
def test_a_file_that_two_importers_claim_is_a_question(tmp_path: Path) -> None:
    (tmp_path / "a.toy").write_text(lines(1), "utf-8")
    both = (TOY, replace(TOY, key="other"))

    with pytest.raises(SeveralKinds, match=r"'a\.toy' could be toy or other") as question:
        recognise(open_files(tmp_path / "a.toy", UTC), both)
    assert "--as toy or --as other" in question.value.remedy


@requirement("imp.files.recognised")
def test_an_account_tells_where_it_was_found_and_how_large_it_is(tmp_path: Path) -> None:
    for name, account in (("a/x.toy", "one"), ("a/y.toy", "one"), ("b/z.toy", "two")):
        path = tmp_path / "exports" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines(1, account), "utf-8")
    one, two = recognise(open_files(tmp_path / "exports", UTC), (TOY,))
    assert (one.account.name, one.where, one.size) == ("one", "exports/a", 2 * len(lines(1, "one")))
    assert (two.account.name, two.where) == ("two", "exports/b/z.toy")
    (alone,) = recognise(open_files(tmp_path / "exports/b/z.toy", UTC), (TOY,))
    assert alone.where == "z.toy"


@requirement("imp.files.wrong-kind")
def test_what_nobody_knows_is_refused_with_where_to_see_more() -> None:
    refusal = nothing_known("odd.bin")
    assert refusal.message == "odd.bin is nothing that is known here."
    assert refusal.remedy == "`pdpp import --list` shows what can be imported, and how to get it."
