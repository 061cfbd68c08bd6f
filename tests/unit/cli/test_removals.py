"""What a newer export has no longer: who decides, and what the receipt says of it."""

import pytest

from pdpp_server.cli.removals import removal_document, say_removal, settled_by_owner
from pdpp_server.importers.missing import Doubt, Removal

MANY = Doubt(missing=6, before=10, why="")
PERHAPS_OLD = Doubt(missing=6, before=10, why="it has no date")


@pytest.mark.parametrize(
    ("doubt", "yes", "is_newer", "goes"),
    [
        (MANY, True, False, True),
        (MANY, False, True, False),  # that it is newer does not say that so many may go
        (PERHAPS_OLD, False, True, True),
        (PERHAPS_OLD, True, False, False),
    ],
)
def test_where_nobody_can_be_asked_the_option_for_that_doubt_decides(
    doubt: Doubt, yes: bool, is_newer: bool, goes: bool
) -> None:
    assert settled_by_owner("Mine", doubt, yes=yes, is_newer=is_newer) is goes


def test_a_part_of_an_export_says_nothing_of_removals() -> None:
    assert removal_document(Removal(run=7)) == {}


def test_the_receipt_tells_what_was_missing_and_stayed() -> None:
    removal = Removal(run=7, before=10, after=8, missing=5, removed=2, why_kept=("too many",))
    assert removal_document(removal) == {
        **{"run": 7, "before": 10, "after": 8, "removed": 2},
        **{"missing_kept": 3, "kept_because": ["too many"]},
    }


@pytest.mark.parametrize(("awaits", "is_told"), [(True, True), (False, False)])
def test_what_the_owner_can_say_is_told_where_a_word_of_theirs_would_help(
    awaits: bool, is_told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    removal = Removal(run=7, before=10, after=10, missing=6, why_kept=("too many",), awaits_owner=awaits)

    say_removal(removal, as_json=False)

    said = capsys.readouterr().out
    assert "6 records that it has no longer are kept: too many." in said
    assert ("--newer" in said) is is_told
