"""The zone that the owner names."""

from typing import cast
from zoneinfo import ZoneInfo

import click
import pytest

from pdpp_server.cli.zone import named_zone

CONTEXT, OPTION = click.Context(click.Command("x")), cast(click.Parameter, click.Option(["--zone"]))


def test_a_zone_is_known_by_its_name() -> None:
    assert named_zone(CONTEXT, OPTION, "Europe/Berlin") == ZoneInfo("Europe/Berlin")
    assert named_zone(CONTEXT, OPTION, None) is None


@pytest.mark.parametrize("name", ["", "Berlin", "../etc/passwd", "Europe", "a\0b"])
def test_any_other_name_is_told_how_zones_are_named(name: str) -> None:
    with pytest.raises(click.BadParameter, match="like Europe/Berlin"):
        named_zone(CONTEXT, OPTION, name)
