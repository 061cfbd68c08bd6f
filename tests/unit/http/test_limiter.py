"""How often something may be tried."""

from datetime import timedelta

import pytest

from pdpp_server.errors import RateLimited
from pdpp_server.http import limiter as module
from pdpp_server.http.limiter import EverSlower, InWindow, Limiter, Rule, Steadily
from tests.requirements import requirement
from tests.worlds.world import Clock


def waits(limiter: Limiter, whose: str = "somebody") -> int:
    try:
        limiter.require(whose)
    except RateLimited as refusal:
        return refusal.retry_after_seconds
    return 0


@requirement("as.flows.bounded")
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Steadily(per_second=0.5, burst=2), [0, 0, 2, 4, 6]),
        (InWindow(most=2, seconds=60), [0, 0, 60, 60, 60]),
        (EverSlower(free=2, longest_seconds=3), [0, 0, 1, 2, 3]),
    ],
)
def test_each_rule_says_how_long_to_wait(rule: Rule, expected: list[int]) -> None:
    limiter, seen = Limiter(rule, Clock()), list[int]()
    for _ in expected:
        seen.append(waits(limiter))
        limiter.spend("somebody")

    assert seen == expected
    assert waits(limiter, "somebody else") == 0


@requirement("as.flows.bounded")
@pytest.mark.parametrize("rule", [Steadily(1, 2), InWindow(2, 60), EverSlower(2, 900)])
def test_the_time_that_was_said_is_enough_and_a_clock_set_back_gives_nothing(rule: Rule) -> None:
    clock = Clock()
    limiter = Limiter(rule, clock)
    for _ in range(2):
        limiter.take("somebody")
    wait = waits(limiter)

    clock.moment -= timedelta(hours=1)
    assert 0 < waits(limiter) <= wait
    clock.moment += timedelta(hours=1, seconds=wait)
    limiter.take("somebody")


@requirement("as.flows.bounded")
def test_what_was_refused_is_not_counted() -> None:
    clock = Clock()
    limiter = Limiter(InWindow(1, 60), clock, strangers=InWindow(2, 60))
    limiter.take("a")
    for _ in range(5):
        with pytest.raises(RateLimited):
            limiter.take("a")

    limiter.take("b")
    with pytest.raises(RateLimited):
        limiter.take("c")


@requirement("as.flows.bounded")
def test_whoever_takes_new_names_is_forgotten_but_the_sum_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEYS_MAX", 3)
    limiter = Limiter(InWindow(1, 60), Clock(), strangers=InWindow(10, 60))
    for number in range(10):
        limiter.take(f"name {number}")

    assert ("name 0" in limiter, "name 9" in limiter) == (False, True)
    with pytest.raises(RateLimited):
        limiter.take("name 0")


def test_forgiving_is_for_one_and_another_aim_for_all() -> None:
    limiter = Limiter(InWindow(1, 60), Clock(), strangers=InWindow(3, 60))
    limiter.aim_at("a password")
    for name in ("a", "b", "c"):
        limiter.take(name)
    limiter.know("a")
    limiter.forgive("a")

    assert (waits(limiter, "a"), waits(limiter, "b")) == (0, 60)
    limiter.aim_at("a password")
    assert waits(limiter, "b") == 60
    limiter.aim_at("another one")
    assert waits(limiter, "b") == 0
