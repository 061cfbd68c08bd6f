"""What became of an import, in words and for programs."""

import signal
from typing import NamedTuple

import orjson
import pytest

from pdpp_server.cli.receipts import CountsHeard, imported, print_receipt, say_texts_missing
from pdpp_server.model.ingest import Rejection


class Counted(NamedTuple):
    accepted: int = 0
    unchanged: int = 0


def rejections(count: int) -> list[Rejection]:
    return [Rejection(f"a.csv:{n}", "invalid_record", "no date") for n in range(count)]


def test_the_counts_are_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    print_receipt("mail-2abcd", "Work", Counted(3, 4), 0, [], to=None, as_json=False)
    assert capsys.readouterr() == ('"Work" is connection mail-2abcd: 3 accepted, 4 unchanged, 0 rejected.\n', "")


def test_programs_get_the_same_as_json_and_what_is_known_further(capsys: pytest.CaptureFixture[str]) -> None:
    print_receipt("mail-2abcd", "Work", Counted(3), 1, rejections(1), {"removed": 2}, to=None, as_json=True)
    told = orjson.loads(capsys.readouterr().out)
    assert told == {"connection_id": "mail-2abcd", "accepted": 3, "unchanged": 0, "rejected": 1, "removed": 2}


def test_of_many_rejected_lines_some_are_shown_and_where_the_others_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PDPP_HOME", raising=False)
    print_receipt("mail-2abcd", "Work", Counted(), 500, rejections(100), to="https://x.example", as_json=False)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "500 lines rejected:"
    assert lines[1].split() == ["a.csv:0", "invalid_record", "no", "date"]
    assert len(lines) == 22
    assert lines[-1].startswith("  and 480 more; see them on the machine of https://x.example with: ")
    assert lines[-1].endswith(" sources --rejected mail-2abcd")


def test_files_without_a_text_are_told_and_none_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    say_texts_missing(0, [])
    assert capsys.readouterr().err == ""
    say_texts_missing(1, rejections(1))
    assert capsys.readouterr().err.splitlines() == [
        "1 attached file without the whole text; the files are kept:",
        "  a.csv:0  no date",
    ]


def test_an_interrupt_lets_the_batch_in_hand_be_stored(capsys: pytest.CaptureFixture[str]) -> None:
    stored = list[int]()

    def run(heard: CountsHeard) -> Counted:
        for batch in (1, 2, 3):
            if batch == 2:
                signal.raise_signal(signal.SIGINT)
            stored.append(batch)
            heard(batch, Counted(batch * 10))
        return Counted(30)

    before = signal.getsignal(signal.SIGINT)
    assert imported(100, run) is None
    assert stored == [1, 2]
    assert capsys.readouterr().err == "Stopped. 20 records of the file are kept; run the same command again to go on.\n"
    assert signal.getsignal(signal.SIGINT) is before
