"""What agrees in an owner's share of a database, and what is told where something does not."""

from pathlib import Path

from tests.conftest import kept_in
from tests.crash import life
from tests.crash.agree_postgres import disagreements_in_share
from tests.crash.homes import filled
from tests.engine.beneath import rows_in
from tests.worlds.postgres import Cluster

DAMAGES = {
    "days": "update days set live = live + 1",
    "words": "delete from words where term <> '' and term = (select max(term) from words)",
    "lengths": "delete from words where term = ''",
    "field_values": "delete from field_values",
    "positions": "delete from positions",
}


def test_a_sound_share_agrees_with_itself_and_each_damage_is_told(postgres: Cluster, tmp_path: Path) -> None:
    with kept_in(postgres):
        home = tmp_path / "home"
        filled(home, life.lines(1, 40))
        assert disagreements_in_share(home) == []
        for what, damage in DAMAGES.items():
            rows_in(home, damage)
            assert any(what in found for found in disagreements_in_share(home)), what
