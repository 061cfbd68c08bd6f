"""Every page in every state, in a browser: nothing that axe finds fault with, nothing wider than the screen."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser

from tests.requirements import requirement
from tests.scenarios.console.chromium import chromium
from tests.scenarios.console.states import State, Walk, every_state, sign_in
from tests.worlds.lived import AGENT, MAIL, Lived, empty, lived
from tools.tree import ROOT

AXE = ROOT / "tests/node/node_modules/axe-core/axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
WIDE, NARROW, LEAST = (1280, 900), (390, 844), (320, 640)
PAGE_BYTES = 60_000
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    with lived(tmp_path_factory.mktemp("lived")) as whole:
        yield whole


@pytest.fixture(scope="module")
def walk(browser: Browser, life: Lived, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with empty(tmp_path_factory.mktemp("empty") / "home") as nothing:
        context = browser.new_context(viewport={"width": NARROW[0], "height": NARROW[1]})
        page = context.new_page()
        yield Walk(page, nothing, life)
        context.close()


@requirement("con.pages.accessible", "con.pages.narrow", "con.pages.small")
@pytest.mark.parametrize("state", [pytest.param(state, id=name) for name, state in every_state()])
def test_a_page_is_for_everybody_and_fits(walk: Walk, state: State) -> None:
    state(walk)

    walk.page.evaluate(UNFOLD)
    walk.page.emulate_media(color_scheme="light")
    assert faults(walk, runOnly=LEVELS) == []
    walk.page.emulate_media(color_scheme="dark")  # on which nothing but contrast depends; headings are of no level
    assert faults(walk, runOnly=["color-contrast", "heading-order"]) == []
    for width, height in (WIDE, NARROW, LEAST):
        walk.page.set_viewport_size({"width": width, "height": height})
        assert sticking_out(walk) == []
    assert len(walk.page.content().encode()) <= PAGE_BYTES


@requirement("con.consent.presets", "con.consent.left-out", "con.consent.many", "con.consent.empty")
def test_two_of_nine_sources_take_four_clicks_and_the_review_says_what_is_left_out(walk: Walk) -> None:
    page = walk.page
    walk.through(sign_in, lambda walk: walk.asked())
    clicks = [
        page.get_by_role("group", name="Nora, Calendar").get_by_label("When you are busy, and nothing else"),
        page.get_by_role("group", name=f"{MAIL}, Mail").get_by_label("Who writes to whom and about what"),
        page.get_by_role("button", name="Show what this gives"),
    ]
    assert page.get_by_role("group").filter(has=page.get_by_label("Everything")).count() == 9

    for each in clicks:
        each.click()

    said = page.get_by_role("main").inner_text()
    assert "body, full text" in said.partition("Not included: bcc")[2]
    assert "Senders, recipients, subjects, texts" not in said
    assert "Who, when and about what, without the text" in said
    assert "Events" in said.partition("Not included")[2]
    assert page.get_by_role("button", name="Allow").count() == 1  # the fourth


@requirement("con.data.timeline")
def test_a_day_shows_what_was_said_and_not_its_talk_once_more(walk: Walk) -> None:
    walk.through(sign_in, lambda walk: walk.go("/timeline?day=2026-03-12"))

    said = walk.page.get_by_role("main").inner_text()

    assert f"{MAIL}, Messages" in said
    assert "Conversations" not in said
    assert "Bar Centraal · Card -10.73" in said  # who was paid leads, and not how


@requirement("con.consent.preview")
def test_samples_that_are_called_alike_are_told_apart_by_their_days(walk: Walk) -> None:
    walk.through(sign_in, lambda walk: walk.go(f"/clients/{walk.grant_of(AGENT)}/preview"))

    lists = walk.page.get_by_role("list", name="For example").all()
    samples = [[each.inner_text() for each in one.get_by_role("listitem").all()] for one in lists]

    assert ["Sunday soup · 2027-04-18", "Sunday soup · 2027-04-04", "Sunday soup · 2027-03-21"] in samples
    assert all(len({*each}) == len(each) for each in samples)
    assert "Card · Café Loods · -30.56 EUR" in {sample for each in samples for sample in each}


@requirement("con.pages.narrow")
def test_names_of_two_hundred_characters_without_a_space_fit(walk: Walk, life: Lived) -> None:
    names = {source.connection_id: source.name or "" for source in life.owner.sources()}
    for number, connection in enumerate(names):
        life.owner.rename_source(connection, f"{number}{'W' * 199}")
    life.grant("markdown", {"notes": None}, "W" * 200)
    key = life.deliver_note("W" * 200)
    walk.page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})

    too_wide = {name: found for name, state in wide_states(key) if (found := _walked(walk, state))}

    for connection, name in names.items():
        life.owner.rename_source(connection, name)
    assert too_wide == {}


@requirement("con.pages.print")
def test_on_paper_there_is_nothing_to_press_and_nothing_moves_where_that_is_asked_for(walk: Walk) -> None:
    page = walk.page
    walk.through(sign_in, lambda walk: walk.go("/activity"))
    pressed = page.locator("button, nav a, summary, .filter")
    assert pressed.first.is_visible()

    page.emulate_media(media="print", color_scheme="dark")
    assert [each.inner_text() for each in pressed.all() if each.is_visible()] == []
    assert page.get_by_role("heading", name="Activity").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"

    page.emulate_media(media="screen", reduced_motion="reduce")
    moving = "[...document.querySelectorAll('*')].map(each => getComputedStyle(each)).filter(style =>"
    still = page.evaluate(f"{moving} style.transitionDuration != '0s' || style.animationName != 'none').length")
    page.emulate_media(media="screen", reduced_motion="no-preference")
    assert still == 0


def _walked(walk: Walk, state: State) -> list[str]:
    state(walk)
    return sticking_out(walk)


def wide_states(record: str) -> Iterator[tuple[str, State]]:
    yield "home", lambda walk: walk.through(sign_in, lambda walk: walk.go("/"))
    yield "record", lambda walk: walk.go(f"/records/{record}")
    yield "client", lambda walk: walk.go(f"/clients/{walk.grant_of('W' * 200)}")
    yield "asking", lambda walk: walk.asked(client_name="W" * 200)
    yield from ((name, state) for name, state in every_state() if name.startswith("2"))


def faults(walk: Walk, **options: Any) -> list[tuple[str, str]]:
    """What axe finds, and where."""
    if not AXE.exists():
        pytest.fail(f"{AXE.relative_to(ROOT)} is missing: run `make clients`.")
    if not walk.page.evaluate("'axe' in window"):
        walk.page.evaluate(AXE.read_text("utf-8"))
    found: dict[str, Any] = walk.page.evaluate(f"axe.run({orjson.dumps(options).decode()})")
    return [(fault["id"], node["html"]) for fault in found["violations"] for node in fault["nodes"]]


def sticking_out(walk: Walk) -> list[str]:
    """What is wider than the screen; all of an open page, its folds too."""
    walk.page.wait_for_load_state()
    walk.page.evaluate(UNFOLD)
    return walk.page.evaluate("""() => {
        const width = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= width) return [];
        return [...document.body.querySelectorAll('*')]
            .filter(each => each.getBoundingClientRect().right > width + 1)
            .map(each => each.outerHTML.slice(0, 200)).slice(0, 5);
    }""")
