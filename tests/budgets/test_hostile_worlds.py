"""Both channels of every tool keep their bytes, over worlds made to break them."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.budgets.measure import STRUCTURED_BYTES, TEXT_BYTES, Sized, sized_answers
from tests.requirements import requirement
from tests.worlds.injection import CORPUS
from tests.worlds.lives import MEGABYTE, NOISE, Life, crowd, document, entry, hostile, opened

ALPHABETS = [
    *CORPUS.values(),
    *(
        "\u05e9\u05dc\u05d5\u05dd ",
        "👨\u200d👩\u200d👧\u200d👦🇨🇭👍🏽",
        "\\\"'\n\t",
        "e\u0301\u0301",
        "walrus ",
        "\x7f\x1b",
        "a" * 300,
    ),
]
TEXTS = st.tuples(
    st.lists(st.sampled_from(ALPHABETS), min_size=1, max_size=3).map("".join),
    st.sampled_from([1, 10, 1000, MEGABYTE]),
).map(lambda made: f"walrus {made[0] * (made[1] // len(made[0]) + 1)}")
KEYS = st.sampled_from(["k", "k" * 450, "🦭" * 110, "\n" * 150, "a/b:c d" * 30, "é" * 230])


def check(sized: Sized) -> None:
    assert sized.text_bytes <= TEXT_BYTES[sized.name], sized.answer.text
    assert sized.structured_bytes <= STRUCTURED_BYTES[sized.name], sized.name
    if sized.name in ("query_records", "search", "search_few"):
        assert shows_an_item(sized), sized.answer.text


def shows_an_item(sized: Sized) -> bool:
    body = sized.answer.structured
    handles = [one["id"] for one in body.get("results", ())] or [one["handle"] for one in body["data"]["data"]]
    lines = sized.answer.text.split("\n")[1:]
    return not handles or lines[0].split(" ")[0] in handles


@requirement("ev.budgets.hostile-worlds", "mcp.budget.one-whole-item")
@pytest.mark.parametrize("build", [hostile, crowd])
def test_the_largest_worlds_fit(build: Callable[[Path], Life], tmp_path: Path) -> None:
    with closing(build(tmp_path)) as life:
        life.grant()
        for sized in sized_answers(life):
            check(sized)


@requirement("ev.budgets.hostile-worlds")
def test_a_time_with_digits_without_end_fits(tmp_path: Path) -> None:
    ever = f"T08:00:00.{'0' * 100_000}Z"
    with closing(opened(tmp_path)) as life:
        days = [f"2026-01-{day:02}" for day in range(1, 13)]
        letters = [entry(day, title="walrus", body=NOISE, kind="walrus") for day in days]
        letters = [
            one._replace(data={**(one.data or {}), "written_at": day + ever})
            for one, day in zip(letters, days, strict=True)
        ]
        for name in ("Letters", "Letters too"):
            life.connect(document("journal"), name, letters)
        life.grant()
        for sized in sized_answers(life):
            check(sized)


@requirement("ev.budgets.hostile-worlds")
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(KEYS, min_size=1, max_size=3), TEXTS)
def test_whatever_is_written_fits(texts: list[str], keys: list[str], label: str) -> None:
    with TemporaryDirectory() as home, closing(opened(Path(home))) as life:
        letters = [
            entry(f"{n}{keys[n % len(keys)]}", n, title=texts[n % len(texts)], body=texts[-1], kind=texts[0][:9000])
            for n in range(30)
        ]
        life.connect(document("journal", detail=label[:2000]), label, letters)
        life.connect(document("journal", detail=label[:2000]), f"{label} too", letters[:2])
        life.grant()
        for sized in sized_answers(life):
            check(sized)
