"""Sign-in and consent in a browser: wide and narrow, without scripts, by keyboard alone."""

from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.requests import Request
from starlette.responses import HTMLResponse

from pdpp_server.app import create_app
from pdpp_server.owner.sign_in import SignIn
from pdpp_server.settings import Settings
from tests.requirements import requirement
from tests.scenarios.authorization_server.flow import Flow
from tests.scenarios.console.chromium import chromium, opened
from tests.scenarios.console.visitor import PASSWORD
from tests.worlds.served import served
from tests.worlds.world import World

WIDE, NARROW = (1280, 800), (390, 844)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture
def base(world: World) -> Iterator[str]:
    """The address of the server."""
    SignIn(world.services).set_password(PASSWORD)
    with served(create_app(Settings(home=world.home), world.services)) as address:
        yield address


async def callback(scope, receive, send) -> None:
    """The client, where the owner's answer arrives; any other address frames what its query names."""
    request = Request(scope)
    framed = request.query_params.get("frame")
    body = (
        f'<link rel=icon href=data:,><iframe src="{framed}"></iframe>'
        if framed
        else "<link rel=icon href=data:,>Connected."
    )
    await HTMLResponse(body)(scope, receive, send)


@pytest.fixture
def client() -> Iterator[str]:
    with served(callback) as address:
        yield address


@pytest.fixture
def consent(world: World, base: str, client: str) -> Iterator[str]:
    """Where the client sends the owner."""
    with httpx2.Client(base_url=base) as http:
        flow = Flow(world, http)
        back = f"{client}/callback"
        flow.client_id = flow.registered(redirect_uris=[back])
        yield flow.authorize(redirect_uri=back, resource=f"{base}/mcp").headers["location"]


@requirement("con.browser.walked")
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_client_is_allowed_in_a_few_clicks(
    browser: Browser, consent: str, client: str, size: tuple[int, int], scripts: bool
) -> None:
    with opened(browser, *size, scripts=scripts) as page:
        page.goto(consent)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        fits(page, scripts=scripts)
        page.get_by_label("Work chat").check()
        page.get_by_role("button", name="Show what this gives").click()
        expect(page.get_by_text("Lease, whole text")).to_be_visible()
        fits(page, scripts=scripts)
        page.get_by_role("button", name="Allow").click()

        expect(page.get_by_text("Connected.")).to_be_visible()
        assert page.url.startswith(f"{client}/callback?code=")


@requirement("con.browser.walked")
def test_the_keyboard_alone_is_enough(browser: Browser, consent: str, client: str) -> None:
    with opened(browser, *WIDE, scripts=True) as page:
        page.goto(consent)
        expect(page.get_by_label("Password")).to_be_focused()
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Agent X asks")).to_be_visible()
        tab_to(page, "input[name=connection]")
        page.keyboard.press("Space")
        tab_to(page, ".actions button[value=review]")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Lease, whole text")).to_be_visible()
        tab_to(page, "button[value=approve]")
        page.keyboard.press("Enter")

        expect(page.get_by_text("Connected.")).to_be_visible()


@requirement("con.browser.walked", "con.consent.many")
def test_the_enter_key_in_a_day_shows_what_was_chosen_and_gives_no_other_account_the_same(
    browser: Browser, world: World, base: str, client: str
) -> None:
    with httpx2.Client(base_url=base) as http:
        flow = Flow(world, http)
        back = f"{client}/callback"
        flow.client_id = flow.registered(redirect_uris=[back])
        asked = flow.authorize(redirect_uri=back, resource=f"{base}/mcp", authorization_details=None)
    with opened(browser, *WIDE, scripts=True) as page:
        page.goto(asked.headers["location"])
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        card = page.get_by_role("group", name="Work chat")
        expect(page.get_by_role("button", name="The same for every")).to_have_count(2)
        card.get_by_label("Everything").check()
        card.get_by_label("dated from").fill("2026-01-01")
        card.get_by_label("dated from").press("Enter")

        expect(page.get_by_role("heading", name="What it would be able to read")).to_be_visible()
        assert "Family chat" not in page.get_by_role("main").inner_text()


@requirement("con.browser.walked")
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_every_page_fits_its_screen(browser: Browser, base: str, world: World, size: tuple[int, int]) -> None:
    with opened(browser, *size, scripts=True) as page:
        page.goto(base)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        record = f"records/{world.work}/messages:m2"
        for path in (
            "",
            "clients",
            f"clients/{world.grant_id}",
            "activity",
            "sources",
            "connect",
            "search?q=lease",
            record,
        ):
            page.goto(f"{base}/{path}")
            expect(page.locator("h1")).to_be_visible()
            fits(page, scripts=True)


@requirement("con.pages.policy")
def test_no_other_page_can_frame_ours(browser: Browser, base: str, client: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))

    page.goto(f"{client}/?frame={base}/sign-in")

    assert page.frames[1].url.startswith("chrome-error:")
    assert any("frame-ancestors" in complaint for complaint in complaints)
    context.close()


def fits(page: Page, *, scripts: bool) -> None:
    """Nothing sticks out sideways."""
    if scripts:
        wide: bool = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        assert not wide, page.url


def tab_to(page: Page, selector: str) -> None:
    """As somebody without a mouse gets there."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"The keyboard does not reach {selector}.")
