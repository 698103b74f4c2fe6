"""Write tables of pages that follow from the code: keys of settings, events, sizes of formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import devicelint
from devicelint.api import EVENTS, Event
from devicelint.config import SETTINGS
from devicelint.config.setting import Setting
from devicelint.linter.result import CheckResult
from devicelint.output import formats
from devicelint.output.reporter import ReportContext

_ROOT = Path(__file__).resolve().parent.parent

BEGIN = "<!-- {what}: begin, written by tools/doc_tables.py -->"
END = "<!-- {what}: end -->"


class Table(NamedTuple):
    """A table of a page."""

    page: Path
    what: str
    written: Callable[[], str]

    def within(self, text: str) -> str:
        """Return the page with the table between its two markers."""
        begin, end = BEGIN.format(what=self.what), END.format(what=self.what)
        before, found_begin, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if not (found_begin and found_end):
            message = f"{self.page}: no place for the {self.what}: it needs {begin} and {end}"
            raise ValueError(message)
        return f"{before}{begin}\n{self.written()}{end}{after}"


def keys() -> str:
    """Return the Markdown table of the keys of the configuration."""
    rows = (
        (f"`{key}`", setting.kind.expected, _without(setting), setting.documentation)
        for key, setting in SETTINGS.items()
    )
    return markdown(("Key", "Type", "Default", "Meaning"), rows)


def _without(setting: Setting) -> str:
    return setting.unset or f"`{json.dumps(setting.plain(setting.default))}`"


def events() -> str:
    """Return the Markdown table of the events that rules hear."""
    rows = (
        (f"`{name}`", _first_line(event), " ".join(f"`{each.name}`" for each in fields(event)))  # type: ignore[arg-type]
        for name, event in sorted(EVENTS.items())
    )
    return markdown(("Event", "When it is sent", "Attributes"), rows)


def _first_line(event: type[Event]) -> str:
    return (event.__doc__ or "").partition("\n")[0]


_MEASURED = ("agent", "concise", "text", "json-lines", "json")


def sizes() -> str:
    """Return the Markdown table of how many characters each format needs for a finding."""
    scripts = sorted((_ROOT / "examples/broken").glob("*.py"))
    named = [(path.relative_to(_ROOT).as_posix(), path) for path in scripts]
    checked = [devicelint.check(path.read_text(encoding="utf-8"), name) for name, path in named]
    found = sum(len(each.findings) for each in checked)
    characters = {name: _written(name, checked) / found for name in _MEASURED}
    rows = (
        (f"`{name}`", f"{count:.0f}", f"{characters['agent'] / count:.2f}", _HAS[name])
        for name, count in characters.items()
    )
    head = (
        "Format",
        "Characters",
        "Size of `agent` relative to it",
        "What it shows of history and fix",
    )
    return markdown(head, rows)


_HAS = {
    "agent": "the history; the lines that the fix changes",
    "concise": "nothing",
    "text": "the history in code; the name of the fix",
    "json-lines": "the history; the edits of the fix",
    "json": "the history; the edits of the fix",
}


def _written(name: str, checked: Iterable[CheckResult]) -> int:
    """How long a report is, wherever the repository lies."""
    report = formats.reporter(name, ReportContext())
    text = "".join([*map(report.file, checked), report.end()])
    return len(text.replace(str(Path.cwd()), "/project"))


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    head = tuple(head)
    lines = (head, ("---",) * len(head), *rows)
    return "".join(f"| {' | '.join(each.replace('|', '/') for each in line)} |\n" for line in lines)


TABLES = (
    Table(Path("docs/agents.md"), "sizes", sizes),
    Table(Path("docs/configuration.md"), "keys", keys),
    Table(Path("docs/plugins.md"), "events", events),
)
