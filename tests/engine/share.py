"""Which tests run on which engine: those about the files of SQLite on that one, a named share on both by default."""

import pytest

# Of these `make test` runs every test on both engines; `make test-postgres` runs everything on the second.
ON_BOTH = (
    "scenarios/resource_server/",
    "scenarios/activity/test_kept.py",
    "scenarios/store/test_permits.py",
    "scenarios/store/test_revocation.py",
)


def reason_of(item: pytest.Item) -> str:
    """Why it says something about the files or tables of SQLite alone; empty where it does not."""
    mark = item.get_closest_marker("sqlite")
    if mark is None:
        return ""
    if len(mark.args) != 1 or not isinstance(mark.args[0], str):
        raise pytest.UsageError(f"{item.nodeid}: the marker `sqlite` takes its reason.")
    return mark.args[0]


def runs_on_both(item: pytest.Item) -> bool:
    within = item.nodeid.removeprefix("tests/")
    return within.startswith(ON_BOTH) and not reason_of(item)
