"""A folder that only one process at a time may fill."""

import os
from pathlib import Path

import pytest

from pdpp_server.errors import Conflict
from pdpp_server.held import held, lock


def test_whoever_comes_second_is_told_and_may_come_again(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with held(mark):
        assert mark.stat().st_mode & 0o777 == 0o600
        with pytest.raises(Conflict, match=r"Another process is writing to .* now\."), held(mark):
            raise AssertionError
    with held(mark):
        pass


def test_trouble_inside_lets_it_go_and_stays_what_it_was(tmp_path: Path) -> None:
    with pytest.raises(KeyError), held(tmp_path / "mark"):
        raise KeyError
    descriptor = os.open(tmp_path / "mark", os.O_RDWR)
    lock(descriptor, waits=False)
    os.close(descriptor)
