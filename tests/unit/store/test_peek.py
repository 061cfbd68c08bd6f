"""The kind of a token, asked before anything else is loaded."""

from pathlib import Path

import apsw
import pytest

from pdpp_server.store.digests import token_digest
from pdpp_server.store.engines.sqlite.peek import token_kind


def test_a_token_is_of_its_kind_and_others_are_not_known(tmp_path: Path) -> None:
    assert token_kind(str(tmp_path), "t1") is None  # no home yet
    connection = apsw.Connection(str(tmp_path / "pdpp.sqlite"))
    assert token_kind(str(tmp_path), "t1") is None  # no tables yet
    connection.execute("create table tokens(digest, kind)")
    connection.execute("insert into tokens values(?, 'owner')", (token_digest("t1"),))
    assert token_kind(str(tmp_path), "t1") == "owner"
    assert token_kind(str(tmp_path), "t2") is None


def test_a_database_that_is_none_is_trouble_and_not_an_unknown_token(tmp_path: Path) -> None:
    (tmp_path / "pdpp.sqlite").write_bytes(b"no database " * 100)
    with pytest.raises(OSError, match="cannot be read"):
        token_kind(str(tmp_path), "t1")
