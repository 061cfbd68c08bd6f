"""The checker sees every kind of damage, and nothing where there is none."""

from pathlib import Path

import apsw
import pytest

from tests.crash import life
from tests.crash.agree import disagreements
from tests.crash.homes import filled

pytestmark = pytest.mark.sqlite("works out the tables of a file of SQLite anew")

ONE_RECORD = "(select rid from records where data is not null and sid = 1 limit 1)"
DAMAGE = {
    "live": "update streams set live = live + 1",
    "days": "update days set live = live - 1 where live > 1",
    "positions": f"delete from positions where rid = {ONE_RECORD}",
    "field_values": f"insert into field_values select fid, 77, {ONE_RECORD} from fields where indexed = 1 limit 1",
    "words: too many": f"insert into words(rowid, s1) values({ONE_RECORD}, 'stray')",
    "words: too many [], missing": "update records set data = json_set(data, '$.text', data ->> '$.text' || ' new') "
    f"where rid = {ONE_RECORD}",
    "is at": f"update records set at = at + 1 where rid = {ONE_RECORD}",
    "the clock": "update clock set version = 3",
    "versions given twice": "update history set version = (select max(version) from records) where version = "
    "(select min(version) from history)",
    "has a gap": "delete from history where version = (select max(version) from history)",
    "blob_refs": f"insert into blob_refs values('blob_x', 1, 'text', {ONE_RECORD})",
    "blobs that nothing holds": "insert into blobs values('blob_x', 1, '')",
    "keeps data": "update history set data = '{}' from records r "
    "where history.sid = r.sid and history.key = r.key and r.data is null",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sound") / "home"
    filled(home, life.lines(7))
    return home / "pdpp.sqlite"


def test_a_sound_database_agrees_with_itself(sound: Path) -> None:
    assert disagreements(sound) == []


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_seen(what: str, sound: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "pdpp.sqlite"
    damaged.write_bytes(sound.read_bytes())
    connection = apsw.Connection(str(damaged))
    connection.execute(DAMAGE[what]).fetchall()
    assert connection.total_changes() or connection.changes(), "nothing was damaged"
    connection.close()

    assert any(what in found for found in disagreements(damaged))
