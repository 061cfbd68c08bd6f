"""Where the server of a home listens, believed while its process is there."""

from dataclasses import replace
from pathlib import Path

import pytest

from pdpp_server.cli.running import LOCK, MARK, as_served, marked
from pdpp_server.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def test_a_home_that_is_served_has_the_address_of_its_server(settings: Settings) -> None:
    serving = replace(settings, host="::1", port=4711, public_url="https://data.example.org")
    with marked(serving):
        assert as_served(settings) == serving
    assert as_served(settings) == settings


def test_an_address_that_was_named_here_is_kept(settings: Settings) -> None:
    named = replace(settings, public_url="https://mine.example.org")
    with marked(replace(settings, port=4711, public_url="https://theirs.example.org")):
        assert as_served(named) == replace(named, port=4711)


def test_of_two_servers_of_one_home_the_first_is_the_known_one(settings: Settings) -> None:
    with marked(replace(settings, port=1)), marked(replace(settings, port=2)):
        assert as_served(settings).port == 1


def test_what_a_dead_server_left_is_not_believed(settings: Settings) -> None:
    settings.home.mkdir()
    (settings.home / LOCK).touch()
    (settings.home / MARK).write_bytes(b'{"host":"::1","port":4711,"public_url":null,"pid":1}')
    assert as_served(settings) == settings


@pytest.mark.parametrize("text", [None, b'{"host":"::1"', b"[]"])
def test_a_mark_that_is_not_whole_yet_says_nothing(settings: Settings, text: bytes | None) -> None:
    mark = settings.home / MARK
    with marked(replace(settings, port=4711)):
        mark.unlink()
        if text is not None:
            mark.write_bytes(text)
        assert as_served(settings) == settings
