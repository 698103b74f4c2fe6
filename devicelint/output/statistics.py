"""How often each rule spoke, most often first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from devicelint.output.paint import Paint, plain

if TYPE_CHECKING:
    from devicelint.linter.result import CheckResult


@dataclass(frozen=True)
class Count:
    """The findings of one rule."""

    code: str
    name: str
    count: int
    fixable_count: int


def count(files: Iterable[CheckResult]) -> list[Count]:
    """Count the findings by rule, the most frequent first, then by code."""
    counts: dict[str, Count] = {}
    for finding in (finding for checked in files for finding in checked.findings):
        before = counts.get(finding.code, Count(finding.code, finding.name, 0, 0))
        fixable = before.fixable_count + (finding.fix is not None)
        counts[finding.code] = Count(finding.code, finding.name, before.count + 1, fixable)
    return sorted(counts.values(), key=lambda count: (-count.count, count.code))


def render(files: Iterable[CheckResult], paint: Paint = plain) -> str:
    """Return a table of counts; `[*]` marks a rule of which every finding has a fix."""
    counts = count(files)
    width = max((len(str(row.count)) for row in counts), default=0)
    return "".join(
        f"{str(row.count).rjust(width)}  {paint(row.code, 'bold red')}  {_marker(row)} {row.name}\n"
        for row in counts
    )


def _marker(row: Count) -> str:
    if row.fixable_count == row.count:
        return "[*]"
    return "[-]" if row.fixable_count else "[ ]"


def render_json(files: Iterable[CheckResult]) -> str:
    """Return the counts as JSON, with the keys that Ruff has for them."""
    import json

    return json.dumps(_rows(files), indent=2) + "\n"


def render_json_lines(files: Iterable[CheckResult]) -> str:
    """Return the counts as JSON, a line for each rule."""
    import json

    return "".join(f"{json.dumps(row)}\n" for row in _rows(files))


def _rows(files: Iterable[CheckResult]) -> list[dict[str, Any]]:
    return [
        {
            "code": row.code,
            "count": row.count,
            "fixable": row.fixable_count == row.count,
            "fixable_count": row.fixable_count,
            "name": row.name,
        }
        for row in count(files)
    ]


FORMATS: dict[str, Callable[[Iterable[CheckResult]], str]] = {
    "text": render,
    "concise": render,
    "json": render_json,
    "json-lines": render_json_lines,
}
"""The formats that have a way to count."""
