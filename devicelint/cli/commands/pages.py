"""The commands that print something to read: `explain`, `rules`, `trace`, `why`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from devicelint.cli.options.parser import (
    explain_parser,
    rules_parser,
    trace_parser,
    why_parser,
)
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import named
from devicelint.cli.run.progress import Progress, is_wanted
from devicelint.cli.terminal import paint_for, width_of
from devicelint.output.paint import SEVERITY_STYLES, plain
from devicelint.output.rule_page import for_reading
from devicelint.rule_index import RuleFacts, all_facts, facts_named, known_rules
from devicelint.text.selectors import hint

if TYPE_CHECKING:
    from devicelint.config import Config

_LINE_OF_CELL = re.compile(
    r"(?P<path>.+\.ipynb):(?:cell )?(?P<cell>\d+):(?:line )?(?P<line>\d+)",
    re.IGNORECASE | re.DOTALL,
)
_LINE = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d*)", re.DOTALL)


def run(command: str, words: Sequence[str]) -> int:
    """Run one of the four and return the exit status."""
    match command:
        case "explain":
            return _explain(explain_parser().parse(words).rule)
        case "rules":
            rules_parser().parse(words)
            return _list_rules()
        case "why":
            options = why_parser().parse(words)
            return _why(options.place, verdict=options.verdict)
        case _:
            options = trace_parser().parse(words)
            return _trace(options.file, options.stdin_filename)


def rule_called(wanted: str) -> RuleFacts:
    """Return the rule with a code or a name; raises UsageError."""
    rule = facts_named(wanted)
    if rule is None:
        known = [word for rule in all_facts() for word in (rule.code, rule.name)]
        raise UsageError(f'there is no rule "{wanted}"{hint(wanted, known)}')
    return rule


def _explain(wanted: str) -> int:
    page = for_reading(rule_called(wanted).documentation())
    if paint_for(sys.stdout) is plain:
        sys.stdout.write(page)
    else:
        from rich.console import Console
        from rich.markdown import Markdown

        Console(force_terminal=True).print(Markdown(page))
    return 0


def _list_rules() -> int:
    paint = paint_for(sys.stdout)
    every = all_facts()
    width = max(len(rule.name) for rule in every)
    for rule in every:
        severity = paint(rule.severity.value.ljust(7), SEVERITY_STYLES[rule.severity])
        name = rule.name.ljust(width)
        state = "preview" if rule.preview else "" if rule.default else "off by default"
        off = paint(f" ({state})", "dim") if state else ""
        sys.stdout.write(f"{paint(rule.code, 'bold')}  {severity}  {name}  {rule.summary}{off}\n")
    return 0


def _trace(path: str, stdin_filename: str | None) -> int:
    from devicelint.output import trace
    from devicelint.views import show
    from devicelint.workspace.project import Project

    source = named(path, stdin_filename).source()
    width = width_of(sys.stdout, trace.DEFAULT_WIDTH)
    with Progress(wanted=is_wanted()).shown(f"tracing {path}"):
        traced = show.trace(source, Project(), config_for(source.path))
    sys.stdout.write(trace.render(source, traced, paint_for(sys.stdout), width))
    return 0


def config_for(path: str) -> Config:
    """What holds for a file, as far as it says what things are."""
    from devicelint.config import ConfigFinder

    return ConfigFinder(known_rules()).config_for(Path(path))


class LineOfFile(NamedTuple):
    """A line of a file; of a notebook, a line of a cell."""

    path: str
    line: int
    cell: int | None


def place_called(place: str) -> LineOfFile:
    """Return the place that FILE:LINE or FILE:CELL:LINE means; raises UsageError."""
    asked = _LINE_OF_CELL.fullmatch(place) or _LINE.fullmatch(place)
    if asked is None:
        raise UsageError(f'"{place}" is not a file and the number of a line: FILE:LINE')
    cell = int(asked["cell"]) if asked.re is _LINE_OF_CELL else None
    return LineOfFile(asked["path"], int(asked["line"]), cell)


def _why(named_place: str, *, verdict: bool) -> int:
    from devicelint.output import verdicts, why
    from devicelint.views import show
    from devicelint.workspace.project import Project

    place = place_called(named_place)
    source = named(place.path, None).source()
    asking = (source, place.line, Project(), place.cell, config_for(source.path))
    paint = paint_for(sys.stdout)
    with Progress(wanted=is_wanted()).shown(f"following devices to {named_place}"):
        if verdict:
            answer = verdicts.render(source, show.verdicts(*asking), paint)
        else:
            answer = why.render(source, show.why(*asking), paint)
    sys.stdout.write(answer)
    return 0
