"""A headless Chromium for the tests of pages: one for all of them, and nothing beyond this machine.

Without Chromium, its driver or selenium these tests are skipped, with the reason; where
`DEVICELINT_BROWSER=required` is set, they fail instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from tests.browser.page import Page

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --window-size=1400,1000"
).split()


def _unavailable(reason: str) -> None:
    if os.environ.get("DEVICELINT_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Iterator[object]:
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    for name, place in programs.items():
        if place is None:
            _unavailable(f"no {name} here: install Debian's chromium and chromium-driver")
    try:
        from selenium import webdriver
    except ImportError:
        _unavailable("no selenium here: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = str(programs["chromium"])
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=str(programs["chromedriver"]))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture
def page(driver, tmp_path) -> Iterator[Page]:
    """Opens pages; afterwards none may have complained, or asked for anything but itself."""
    page = Page(driver, tmp_path)
    yield page
    page.emulate("light")
    assert page.complaints() == []
    assert page.requests() <= page.opened
