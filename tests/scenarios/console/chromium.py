"""A real browser on loopback: Debian's chromium, driven and never downloaded."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

MISSING = "No `chromium` is on the PATH. Get it with `make browser`, or: sudo apt-get install chromium"


@contextmanager
def chromium() -> Generator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail(MISSING)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, width: int, height: int, *, scripts: bool) -> Generator[Page]:
    """A page of a fresh profile. Whatever the browser complains of, such as the policy of a page, fails the test."""
    context = browser.new_context(viewport={"width": width, "height": height}, java_script_enabled=scripts)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []
