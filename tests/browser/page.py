"""One page in a browser, as a test sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from devicelint.linter import lint
from devicelint.map import RecordedRun, draw, render
from devicelint.text.source import SourceFile
from devicelint.views import show


class Page:
    """Draws a script, opens what was drawn, and asks it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.opened: set[str] = set()
        self._folder = folder
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        driver.get_log("browser")
        driver.get_log("performance")

    def open(self, text: str, name: str = "train.py", run: RecordedRun | None = None) -> None:
        """Draw a script and open the page."""
        source = SourceFile.from_text(text, name)
        picture = draw(source, show.chart(source), lint.check(source).findings, run)
        self.show(render(picture, source))

    def show(self, html: str) -> None:
        """Open a page."""
        path = self._folder / f"page {len(self.opened)} é.html"
        path.write_text(html, "utf-8")
        self.opened.add(path.as_uri())
        self.driver.get(path.as_uri())

    def ask(self, script: str, *given: object) -> Any:
        """The value of an expression of JavaScript, whose arguments are `given[0]` and so on."""
        return self.driver.execute_script(f"const given = arguments; return ({script});", *given)

    def open_without_scripts(self, text: str) -> None:
        """Draw a script and open the page where no JavaScript runs, and let the page be asked then.

        A page may begin before it listens to that it must not run any: it is opened once more.
        """
        from selenium.webdriver.support.ui import WebDriverWait

        def opened(_: object) -> bool:
            self._let_scripts_run(False)
            self.open(text)
            self._let_scripts_run(True)
            return bool(self.ask("!document.documentElement.classList.contains('drawn')"))

        WebDriverWait(self.driver, 60).until(opened)

    def _let_scripts_run(self, allowed: bool) -> None:
        told = {"value": not allowed}
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", told)

    def settle(self) -> None:
        """Let the page be drawn: what scrolls tells of it then."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
        )

    def emulate(
        self, scheme: str = "light", width: int = 1400, height: int = 1000, *, print_: bool = False
    ) -> None:
        """Look at the page in the dark, on a small screen, on paper."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        media = {"features": features, "media": "print" if print_ else ""}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def choose(self, selector: str, index: int) -> None:
        """Choose an entry of a list."""
        self.driver.execute_script(
            "const list = document.querySelector(arguments[0]);"
            "list.selectedIndex = arguments[1]; list.dispatchEvent(new Event('change'));",
            selector,
            index,
        )

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        self.driver.switch_to.active_element.send_keys(key)

    def complaints(self) -> list[str]:
        """What the console says."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> set[str]:
        """Every address that was asked for, but by the browser's own first page."""
        found = set()
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(("chrome:", "chrome-untrusted:", "data:")):
                    found.add(url.partition("#")[0])
        return found
