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


@requirement("imp.bank.mapping")
def test_a_csv_is_shown_with_a_mapping_that_imports_it_when_it_is_saved(pdpp: Command, table: Path) -> None:
    shown = pdpp("import", table, "--zone", "UTC")

    assert shown.code == 1
    assert "2026-03-01 -12.50 EUR Ferry" in shown.out
    assert pdpp("sources", "--json").json["connections"] == []

    lines = [line.strip() for line in shown.out.splitlines()]
    saved = table.with_name("mapping.toml")
    begin, end = (next(n for n, line in enumerate(lines) if line.startswith(word)) for word in ("Check", "The first"))
    saved.write_text("\n".join(lines[begin + 1 : end]), encoding="utf-8")
    imported = pdpp("import", table, "--zone", "UTC", "--mapping", saved, "--json")

    assert imported.code == 0, imported.err
    assert imported.json["accepted"] == 3


@requirement("imp.bank.mapping", "imp.inbox.refused")
def test_a_csv_in_the_inbox_is_refused_until_somebody_says_what_it_means(table: Path, tmp_path: Path) -> None:
    services = open_services(tmp_path / "home", now=lambda: NOW)
    try:
        with pytest.raises(NothingStored, match=r"^Nothing is imported"):
            bring_in(table, Owner(services, tmp_path / "home"), UTC, IMPORTERS, lambda: False)
    finally:
        close(services)
