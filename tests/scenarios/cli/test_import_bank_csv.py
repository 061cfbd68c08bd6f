"""`pdpp import` of a bank's CSV: first a proposal, then, with a mapping, records."""

from datetime import UTC
from pathlib import Path

import pytest

from pdpp_server.importers.registry import IMPORTERS
from pdpp_server.importers.watch import NothingStored, bring_in
from pdpp_server.owner.desk import Owner
from pdpp_server.reads.services import open_services
from tests.requirements import requirement
from tests.scenarios.cli.command import Command
from tests.worlds.world import NOW, close

TABLE = "Date,Amount (EUR),Description\n2026-03-01,-12.50,Ferry\n2026-03-13,-0.10,Fee\n2026-03-13,-0.20,Fee\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "giro.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@requirement("imp.bank.mapping", "imp.bank.doubts")
def test_a_csv_is_shown_first_and_imported_with_yes_and_the_next_one_by_itself(pdpp: Command, table: Path) -> None:
    shown = pdpp("import", table, "--zone", "UTC")

    assert shown.code == 1
    assert "2026-03-01 -12.50 EUR Ferry" in shown.out
    assert "--yes imports it so" in shown.out
    assert "cannot be read" not in shown.out  # nothing of it was tried
    assert pdpp("sources", "--json").json["connections"] == []

    agreed = pdpp("import", table, "--zone", "UTC", "--yes", "--json")
    table.write_text(TABLE + "2026-03-14,-3.00,Tea\n", encoding="utf-8")
    later = pdpp("import", table, "--zone", "UTC", "--json")

    assert (agreed.code, agreed.json["accepted"]) == (0, 3), agreed.err
    assert (later.code, later.json["accepted"], later.json["unchanged"]) == (0, 1, 3), later.err
    assert "is read as you said before" in later.err


@requirement("imp.bank.doubts")
def test_yes_answers_no_question_that_only_the_owner_can(pdpp: Command, table: Path) -> None:
    table.write_text("Date,Amount,Memo\n01/02/2026,29.99,Book\n03/04/2026,5.00,Tea\n", encoding="utf-8")
    refused = pdpp("import", table, "--zone", "UTC", "--yes")

    assert refused.code == 1
    assert "01/02/2026 is 2 January 2026; amounts without a sign are spent" in refused.out
    assert "Run it in a terminal to choose" in refused.out
    assert pdpp("sources", "--json").json["connections"] == []


@requirement("imp.bank.doubts")
def test_what_was_kept_is_not_taken_for_a_file_that_cannot_be_meant_so(pdpp: Command, table: Path) -> None:
    head = "Date,Amount,Memo\n"
    table.write_text(head + "13/02/2026,-29.99,Book\n", encoding="utf-8")
    assert pdpp("import", table, "--zone", "UTC", "--yes").code == 0

    table.write_text(head + "02/13/2026,-29.99,Book\n", encoding="utf-8")
    assert pdpp("import", table, "--zone", "UTC").code == 1


@requirement("imp.bank.mapping", "imp.inbox.refused")
def test_a_csv_in_the_inbox_is_refused_until_somebody_says_what_it_means(table: Path, tmp_path: Path) -> None:
    services = open_services(tmp_path / "home", now=lambda: NOW)
    try:
        with pytest.raises(NothingStored, match=r"^Nothing is imported"):
            bring_in(table, Owner(services, tmp_path / "home"), UTC, IMPORTERS, lambda: False)
    finally:
        close(services)
