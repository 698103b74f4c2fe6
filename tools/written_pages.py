"""Write the pages that follow from data and from the parsers of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tools import comparison, man_page

PAGES: Mapping[Path, Callable[[], str]] = {
    comparison.PAGE: comparison.page,
    man_page.PAGE: man_page.text,
}


def run(root: Path, *, check: bool) -> int:
    """Write the pages that are stale, or name them; return the status."""
    stale = 0
    for path, written in PAGES.items():
        file, text = root / path, written()
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale = 1
        if check:
            print(f"{path.as_posix()}: not what it follows from; run `make generate`")
        else:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
            print(f"{path.as_posix()}: written")
    return stale if check else 0
