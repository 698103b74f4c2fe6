"""Takes the pictures of `devicelint map` that the README shows: `python -m tools.map_pictures`.

It needs selenium, Debian's chromium and chromium-driver. ImageMagick makes them a third as large:
`convert FILE +dither -colors 96 PNG8:FILE`.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from selenium import webdriver

from devicelint.cli import main as devicelint

SCRIPT = "examples/broken/validation_not_moved.py"
FOLDER = Path("docs/pictures")
WIDTH, HEIGHT = 1120, 1130
FIRST_LINE = 43
"""Of the source, from here on."""

FLAGS = "--headless --no-sandbox --disable-gpu --hide-scrollbars --disable-background-networking"
FROM_LINE = """
    for (const row of document.querySelectorAll(".source > li")) {
      if (row.id === "L" + arguments[0]) break;
      row.hidden = true;
    }
"""


def main() -> None:
    """Write one picture for each colour scheme."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "map.html"
        devicelint(["map", SCRIPT, "--html", str(page)])
        options = webdriver.ChromeOptions()
        for flag in (*FLAGS.split(), f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        service = webdriver.ChromeService(executable_path=str(shutil.which("chromedriver")))
        browser = webdriver.Chrome(options=options, service=service)
        for scheme in ("light", "dark"):
            _take(browser, page, scheme)
        browser.quit()


def _take(browser: webdriver.Chrome, page: Path, scheme: str) -> None:
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1.5, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(page.as_uri())
    browser.execute_script(FROM_LINE, FIRST_LINE)
    browser.save_screenshot(str(FOLDER / f"map-{scheme}.png"))


if __name__ == "__main__":
    main()
