"""Time zones as calendars name them, and those that a file describes itself."""

import io
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pdpp_server.importers.formats import zones
from pdpp_server.importers.formats.content_lines import Component, ContentLine, components
from pdpp_server.importers.formats.zones import moment, named_zone, own_zones, zone_name
from tests.requirements import requirement


@requirement("imp.calendar.clock")
@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "Nowhere/At all", "posix", "a" * 300, "\0"])
def test_no_name_of_a_zone_opens_anything_else(name: str) -> None:
    assert named_zone(name) is None


@requirement("imp.calendar.clock")
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (' "Europe/Berlin" ', "Europe/Berlin"),
        ("/freeassociation.sourceforge.net/Europe/Berlin", "Europe/Berlin"),
        ("W. Europe Standard Time", "Europe/Berlin"),
        ("w. europe standard time", "Europe/Berlin"),
        ("America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"),
    ],
)
def test_a_zone_is_known_by_every_name_that_programs_write(name: str, key: str) -> None:
    assert named_zone(name) == ZoneInfo(key)


@requirement("imp.calendar.clock")
@pytest.mark.parametrize("name", ["UTC", "gmt", "Z", "Etc/UTC"])
def test_utc_has_several_names(name: str) -> None:
    assert named_zone(name) is UTC


def described(*lines: str) -> Component:
    text = "\r\n".join(["BEGIN:VTIMEZONE", *lines, "END:VTIMEZONE", ""]).encode()
    (found,) = components(io.BytesIO(text), frozenset({"VTIMEZONE"}))
    assert isinstance(found, Component)
    return found


SUMMER = (
    "BEGIN:DAYLIGHT", "DTSTART:19700329T020000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200",
    "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "END:DAYLIGHT",
    "BEGIN:STANDARD", "DTSTART:19701025T030000", "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100",
    "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "END:STANDARD",
)  # fmt: skip


@requirement("imp.calendar.clock")
def test_the_clocks_of_a_zone_that_a_file_describes_change_when_it_says() -> None:
    zone = own_zones([described("TZID:Pier\\, east", *SUMMER)])["Pier, east"]
    change = datetime(2026, 3, 29, 1, tzinfo=UTC)
    shown = [(change + timedelta(seconds=seconds)).astimezone(zone) for seconds in (-1, 0)]
    assert [f"{one:%H:%M:%S}" for one in shown] == ["01:59:59", "03:00:00"]
    assert moment(datetime(2026, 3, 29, 2, 30), zone) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)  # noqa: DTZ001  skipped
    assert moment(datetime(2026, 10, 25, 2, 30), zone) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # noqa: DTZ001  twice


@requirement("imp.calendar.clock")
def test_a_name_that_everybody_knows_is_better_than_a_description() -> None:
    known = own_zones([described("TZID:Europe/Lisbon", *SUMMER), described("TZID:Here", "X-LIC-LOCATION:Asia/Tokyo")])
    assert known == {"Europe/Lisbon": ZoneInfo("Europe/Lisbon"), "Here": ZoneInfo("Asia/Tokyo")}


@requirement("imp.files.garbage")
@pytest.mark.parametrize(
    "lines",
    [
        (),
        ("BEGIN:STANDARD", "END:STANDARD"),
        ("BEGIN:STANDARD", "DTSTART:19701025T030000", "TZOFFSETFROM:+2500", "TZOFFSETTO:+0100", "END:STANDARD"),
        ("BEGIN:STANDARD", "DTSTART:soon", "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "END:STANDARD"),
    ],
)
def test_a_description_that_describes_nothing_is_no_zone(lines: tuple[str, ...]) -> None:
    assert own_zones([described("TZID:Odd", *lines)]) == {}


@requirement("imp.files.garbage")
def test_nobody_is_asked_for_a_zone_whose_name_is_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(zones, "_named", asked.append)

    assert named_zone("x" * 100_000) is None
    assert asked == []


@requirement("imp.files.garbage")
def test_zones_are_described_as_far_as_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zones, "CHANGES_MAX", 2 * zones.RULE_COST)
    endless = (
        "BEGIN:STANDARD",
        "DTSTART:19700101T000000",
        "TZOFFSETFROM:+0100",
        "TZOFFSETTO:+0200",
        "RRULE:FREQ=DAILY",
    )
    known = own_zones(
        [
            described("TZID:Endless", *endless, "END:STANDARD"),
            described("TZID:Pier", *SUMMER),
            described("TZID:Asia/Tokyo"),
        ]
    )
    assert known.keys() == {"Asia/Tokyo"}
    assert own_zones([described("TZID:Pier", *SUMMER), described("TZID:Quay", *SUMMER)]).keys() == {"Pier"}


def test_a_comma_in_the_name_of_a_zone_is_part_of_it() -> None:
    assert (
        zone_name(ContentLine(1, "", "DTSTART", {"TZID": ("Kuala Lumpur", " Singapore")}, ""))
        == "Kuala Lumpur, Singapore"
    )
    assert (
        zone_name(ContentLine(1, "", "DTSTART", {"TZID": ("Kuala Lumpur\\, Singapore",)}, ""))
        == "Kuala Lumpur, Singapore"
    )
    assert zone_name(ContentLine(1, "", "DTSTART", {}, "")) == ""
