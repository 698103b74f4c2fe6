"""Write the table of the configuration's keys, which follows from `devicelint.config`."""

from __future__ import annotations

import json
from pathlib import Path

from devicelint.config import SETTINGS
from devicelint.config.setting import Setting

PAGE = Path("docs/configuration.md")
BEGIN = "<!-- keys: begin, written by tools/config_table.py -->"
END = "<!-- keys: end -->"


def table() -> str:
    """Return the Markdown table of the keys."""
    rows = (
        f"| `{key}` | {setting.kind.told} | {_without(setting)} | {setting.documentation} |"
        for key, setting in SETTINGS.items()
    )
    head = ("| Key | What it is | Without it | What it does |", "| --- | --- | --- | --- |")
    return "\n".join((*head, *rows)) + "\n"


def _without(setting: Setting) -> str:
    return setting.unset or f"`{json.dumps(setting.kind.plain(setting.default))}`"


def with_table(page: str) -> str:
    """Return the page with the table between its two markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{PAGE}: no place for the keys: it needs {BEGIN} and {END}")
    return f"{before}{begin}\n{table()}{end}{after}"


def run(root: Path, *, check: bool) -> int:
    """Write the page anew, or say that it is stale; return the exit status."""
    page = root / PAGE
    text = page.read_text(encoding="utf-8")
    expected = with_table(text)
    if text == expected:
        return 0
    if check:
        print(f"{PAGE.as_posix()}: not what the settings give; run `make generate`")
        return 1
    page.write_text(expected, encoding="utf-8", newline="\n")
    print(f"{PAGE.as_posix()}: written")
    return 0
