"""Every promise is entered, well-formed, and either kept by a test or deferred with a reason."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

from tests.requirements import PROMISES, ROLES
from tests.requirements.tagged import TaggedTest, tagged_tests

ROOT = Path(__file__).parents[2]
SCENARIOS = {f"S{number:03}" for number in range(1, 141)}
RULINGS = {*range(1, 55)}
# Denser answers, numbers by group, time in questions, meaning, what a newer export removes: none of it is built yet.
OF_LATER_PARTS = {49, 50, 51}
MET_IN_ANOTHER_FORM = {
    *("S006", "S019", "S024", "S032", "S036", "S061", "S068", "S069", "S075", "S079", "S123", "S125"),
}

ID = re.compile(r"[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*){2}")
SENTENCE = re.compile(r"[A-Z`\"/].*\S+ \S+ .*\S\.", re.DOTALL)


@cache
def every_test() -> list[TaggedTest]:
    return tagged_tests(ROOT)


def listed(ids: set[str]) -> str:
    return f"{len(ids)}:\n  " + "\n  ".join(sorted(ids))


def test_every_scenario_is_entered() -> None:
    entered = {number for promise in PROMISES.values() for number in promise.scenario}

    assert SCENARIOS - entered == set(), f"not entered, {listed(SCENARIOS - entered)}"
    assert entered - SCENARIOS == set(), f"no such scenario, {listed(entered - SCENARIOS)}"


def test_every_ruling_is_entered() -> None:
    entered = {number for promise in PROMISES.values() for number in promise.ruling}

    assert entered <= RULINGS, f"unknown {sorted(entered - RULINGS)}"
    assert RULINGS - entered == OF_LATER_PARTS - entered, f"missing {sorted(RULINGS - OF_LATER_PARTS - entered)}"


def test_what_is_met_in_another_form_says_so() -> None:
    diverging = {number for promise in PROMISES.values() if promise.diverges for number in promise.scenario}

    assert diverging == MET_IN_ANOTHER_FORM


def test_ids_are_paths_of_words_under_their_role() -> None:
    wrong = {
        id
        for role, promises in ROLES.items()
        for id in promises
        if not ID.fullmatch(id) or not id.startswith(f"{role}.")
    }

    assert wrong == set(), f"malformed ids, {listed(wrong)}"


def test_ids_are_unique() -> None:
    """A dict literal keeps the last of two equal keys in silence, so the source is counted."""
    written = Counter(
        key.value
        for path in sorted((ROOT / "tests" / "requirements").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "PROMISES"
        if isinstance(node.value, ast.Dict)
        for key in node.value.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    )

    assert {id for id, times in written.items() if times > 1} == set()
    assert set(written) == set(PROMISES)


def test_every_word_of_a_promise_is_a_sentence() -> None:
    wrong = {
        f"{id}: {words!r}"
        for id, promise in PROMISES.items()
        for words in (promise.says, promise.deferred, promise.diverges)
        if words is not None and not SENTENCE.fullmatch(words)
    }

    assert wrong == set(), f"not a sentence, {listed(wrong)}"
    assert all(promise.source for promise in PROMISES.values())


def test_every_promise_that_is_not_deferred_has_a_test() -> None:
    due = {id for id, promise in PROMISES.items() if promise.deferred is None}
    untested = due - {id for test in every_test() for id in test.ids}

    assert untested == set(), f"promises without a test, {listed(untested)}"


def test_no_deferred_promise_is_secretly_tested() -> None:
    deferred = {id for id, promise in PROMISES.items() if promise.deferred is not None}
    secret = {f"{id} by {test.path}::{test.name}" for test in every_test() for id in test.ids if id in deferred}

    assert secret == set(), f"tested though deferred, {listed(secret)}"


def test_no_test_names_an_unknown_promise() -> None:
    unknown = {f"{id} by {test.path}::{test.name}" for test in every_test() for id in test.ids if id not in PROMISES}

    assert unknown == set(), f"no such promise, {listed(unknown)}"


def test_every_scenario_test_keeps_a_promise() -> None:
    idle = {
        f"{test.path}::{test.name}"
        for test in every_test()
        if test.path.startswith("tests/scenarios/") and not test.ids
    }

    assert idle == set(), f"scenario tests without a promise, {listed(idle)}"
