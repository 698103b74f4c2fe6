"""The tools as functions: each runs a command, and returns what that found as text and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from devicelint.cli import terminal
from devicelint.cli.commands.adopt import adoption
from devicelint.cli.commands.check import Check
from devicelint.cli.commands.pages import config_for, place_called, rule_called
from devicelint.cli.mcp.asked import ToolRequest
from devicelint.cli.mcp.collected import Collected
from devicelint.cli.mcp.folders import Folders
from devicelint.cli.mcp.results import (
    ChangeReport,
    CheckReport,
    Failed,
    RulePage,
    ToolResult,
    ValueReport,
    WhyReport,
)
from devicelint.cli.options.adopt import adopt_parser
from devicelint.cli.options.contradictions import refuse_contradictions
from devicelint.cli.options.parser import check_parser
from devicelint.cli.options.usage import UsageError
from devicelint.cli.run.inputs import FileInput, GivenText
from devicelint.output.brief import BriefStep
from devicelint.output.rule_page import for_reading, sections
from devicelint.text.selectors import hint

if TYPE_CHECKING:
    from argparse import Namespace

    from devicelint.finding import Elsewhere

Run = Callable[["Namespace", Collected], Check]


def check(asked: ToolRequest, folders: Folders) -> ToolResult:
    """Find device mistakes; raises Failed where no file could be checked."""
    options = check_parser().parse(["--output-format=agent", *asked.words(folders)])
    run, output, notes = _ran(_check, options, asked, folders)
    problems = tuple(run.tally.problems)
    report = CheckReport(tuple(output.findings), problems, notes, run.tally.files)
    return ToolResult(_text(output.text.getvalue(), notes), report)


def fix(asked: ToolRequest, folders: Folders) -> ToolResult:
    """Make the fixes, or show them as a diff; raises Failed where no file could be fixed."""
    words = ["--fix" if asked.write else "--diff", *asked.words(folders)]
    run, output, notes = _ran(_check, check_parser().parse(words), asked, folders)
    if not asked.write:
        left = [line for change in output.changes for line in change.left()]
        notes = tuple(dict.fromkeys((*left, *notes)))
    return _changes(run, output, notes)


def adopt(asked: ToolRequest, folders: Folders) -> ToolResult:
    """Bring scripts to the device pattern, or show how; raises Failed where none could be."""
    words = [*([] if asked.write else ["--diff"]), *asked.words(folders)]
    return _changes(*_ran(adoption, adopt_parser().parse(words), asked, folders))


def _check(options: Namespace, output: Collected) -> Check:
    refuse_contradictions(options)
    return Check(options, output)


def _ran(
    start: Run, options: Namespace, asked: ToolRequest, folders: Folders
) -> tuple[Check, Collected, tuple[str, ...]]:
    """Run a command; what it says besides its report and its problems are notes."""
    with terminal.collecting() as lines:
        output = Collected(options)
        run = start(options, output)
        run.run(asked.inputs(folders))
    problems = run.tally.problems
    if problems and not run.tally.files:
        raise Failed("\n".join(problems))
    return run, output, tuple(line for line in dict.fromkeys(lines) if line not in problems)


def _changes(run: Check, output: Collected, notes: tuple[str, ...]) -> ToolResult:
    changes = [change for change in output.changes if change.is_real]
    diff = "".join(change.diff() for change in changes)
    changed = tuple(change.fixed.after.path for change in changes)
    problems = tuple(run.tally.problems)
    report = ChangeReport(diff, run.writes, changed, problems, notes)
    return ToolResult(_text(diff, (*problems, *notes)), report)


def _text(report: str, lines: Sequence[str]) -> str:
    return report + "".join(f"{line}\n" for line in lines)


def why(place: str, source: str | None, folders: Folders) -> ToolResult:
    """Say how the values on a line came to their devices; raises InputError or UsageError."""
    from devicelint.output import why as report
    from devicelint.views import show
    from devicelint.workspace.project import Project

    asked = place_called(place)
    path = folders.named(asked.path)
    with terminal.collecting() as notes:
        given = FileInput(Path(path)) if source is None else GivenText(path, source)
        text = given.source()
    shown = show.why(text, asked.line, Project(), asked.cell, config_for(path))
    values = tuple(
        ValueReport(
            " ".join(one.code.split()), one.device, one.machines, tuple(map(_step, one.steps))
        )
        for one in shown.accounts
    )
    code = text.line_text(shown.line).strip()
    return ToolResult(
        _text(report.render(text, shown), notes),
        WhyReport(text.path, asked.line, asked.cell, code, values),
    )


def _step(step: Elsewhere) -> BriefStep:
    return BriefStep(step.path, step.line, step.cell, step.message)


def explain(wanted: str, section: str | None = None) -> ToolResult:
    """Return the page of a rule, or one of its sections; raises UsageError for an unknown one."""
    rule = rule_called(wanted)
    page = for_reading(rule.documentation())
    parts = sections(page)
    if section is not None:
        title = next((one for one in parts if one.lower() == section.lower()), None)
        if title is None:
            known = ", ".join(f'"{one}"' for one in parts)
            message = f'the page of {rule.code} has no section "{section}"'
            raise UsageError(f"{message}{hint(section, parts) or f': there are {known}'}")
        page = parts[title]
    stated = (rule.code, rule.name, rule.severity.value, rule.default, rule.summary)
    return ToolResult(page, RulePage(*stated, tuple(parts), page))
