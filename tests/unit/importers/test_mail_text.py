"""What somebody wrote in a mail, without what they quoted and how they signed."""

import pytest

from pdpp_server.importers.formats.mail_text import written
from tests.requirements import requirement


@requirement("imp.mail.own-words")
@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Yes.\n\nOn Mon, Ann wrote:\n> No?", "Yes."),
        ("Yes.\n\nOn Mon, Mar 2, 2026 at 9:12 AM Ann\n<ann@example.org> wrote:\n\n> No?\n\nBo", "Yes.\n\nBo"),
        ("Thanks!\nAnn wrote:\n> No?", "Thanks!"),
        ("> First?\nYes.\n> Second?\nNo.", "Yes.\nNo."),
        ("Hi\n-- \nBo\nPier 2", "Hi"),
        ("Hi\n\nSent from my phone", "Hi"),
        ("Hi\n\n-----Original Message-----\nFrom: Ann", "Hi"),
        ("Hi\n\n________________________________\nFrom: Ann\nSent: Monday\nTo: Bo\n\nOld", "Hi"),
        ("See\n\n---------- Forwarded message ---------\nFrom: Inn\nDate: Mon\n\nSoup", None),
        ("> only\n> quoted", None),
        ("From: where I stand, all is well.", None),
    ],
)
def test_what_was_quoted_is_not_what_was_written(text: str, own: str | None) -> None:
    assert written(text) == (text if own is None else own)


@requirement("imp.files.garbage")
@pytest.mark.parametrize("piece", ["-", "> ", "On ", " ", "From: a\n", "wrote: ", "_"])
def test_an_odd_text_takes_no_longer_than_a_usual_one(piece: str) -> None:
    assert written(piece * 200_000 + "\n> quoted")
