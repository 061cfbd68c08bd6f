"""Which days a question speaks of; what can be read in two ways speaks of none."""

from datetime import date

import pytest

from pdpp_server.store.records.dates import dates_in
from tests.requirements import requirement

TUESDAY = date(2026, 11, 17)


def read(question: str) -> list[str]:
    """The stretches of days, as `first..last`; of every year with a star."""
    found = dates_in(question, TUESDAY)
    return [f"{days.first}..{days.last}".replace("2000", "*") if days.is_yearly else f"{days.first}..{days.last}"
            for days in found.days]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What happened in July 2022?", "2022-07-01..2022-07-31"),
        ("on 16 March", "*-03-16..*-03-16"),
        ("on October 13, 2023", "2023-10-13..2023-10-13"),
        ("the 3rd of May", "*-05-03..*-05-03"),
        ("dinner may 3 2023", "2023-05-03..2023-05-03"),
        ("camping in June", "*-06-01..*-06-30"),
        ("2022-03-16", "2022-03-16..2022-03-16"),
        ("2022-03", "2022-03-01..2022-03-31"),
        ("16.3.2022", "2022-03-16..2022-03-16"),
        ("16/3/2022", "2022-03-16..2022-03-16"),
        ("3/13/2022", "2022-03-13..2022-03-13"),
        ("Q3 2022", "2022-07-01..2022-09-30"),
        ("in 2022", "2022-01-01..2022-12-31"),
        ("from 2021 to 2023", "2021-01-01..2023-12-31"),
        ("between June and August 2022", "2022-06-01..2022-08-31"),
        ("from 3 to 7 March 2022", "2022-03-03..2022-03-07"),
        ("between 3 March and 5 April 2022", "2022-03-03..2022-04-05"),
        ("29 February", "*-02-29..*-02-29"),
        ("yesterday", "2026-11-16..2026-11-16"),
        ("last week", "2026-11-09..2026-11-15"),
        ("last month", "2026-10-01..2026-10-31"),
        ("this year", "2026-01-01..2026-12-31"),
        ("two weeks ago", "2026-11-02..2026-11-08"),
        ("12 months ago", "2025-11-01..2025-11-30"),
        ("last Friday", "2026-11-13..2026-11-13"),
        ("last Tuesday", "2026-11-10..2026-11-10"),
        ("last June", "2026-06-01..2026-06-30"),
        ("last December", "2025-12-01..2025-12-31"),
        ("next January", "2027-01-01..2027-01-31"),
    ],
)
@requirement("rs.search.dates")
def test_a_date_is_read_as_the_days_that_it_names(question: str, days: str) -> None:
    assert read(question) == [days]


@pytest.mark.parametrize(
    "question",
    [
        "3/4/2022",  # one day here and another there
        "What did April say?",
        "letters from June",
        "by May",
        "may 3 people come?",
        "we march in step",
        "room 2022",
        "30 February",
        "at 5.30 May",
        "on Friday",
        "last summer",
        '"July 2022"',
        'lease -"July 2022"',
        "999999 days ago",
        "",
    ],
)
@requirement("rs.search.dates")
def test_what_is_no_date_or_can_be_read_in_two_ways_names_no_day(question: str) -> None:
    assert read(question) == []


@requirement("rs.search.dates")
def test_the_shorter_the_time_the_higher_the_lift() -> None:
    lifts = [
        dates_in(asked, TUESDAY).days[0].lift for asked in ("on 3 May 2022", "last week", "in May 2022", "in 2022")
    ]

    assert lifts == [5.0, 3.0, 2.0, 1.5]


@requirement("rs.search.dates")
def test_a_day_of_every_year_lifts_the_same_day_of_each_year_and_no_other() -> None:
    found = dates_in("on 16 March", TUESDAY)

    lifts = [found.lift(day) for day in (date(2021, 3, 16), date(2024, 3, 16), date(2024, 3, 17), date(2024, 2, 29))]

    assert lifts == [5.0, 5.0, 1.0, 1.0]


@requirement("rs.search.dates")
def test_only_what_counts_from_today_is_relative() -> None:
    relative = [dates_in(asked, TUESDAY).is_relative for asked in ("last June", "a year ago", "in June", "in 2022")]

    assert relative == [True, True, False, False]
