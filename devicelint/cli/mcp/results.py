"""What the tools return besides text: plain values, whose types are the schema of each result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from devicelint.output.brief import BriefFinding, BriefStep


@dataclass(frozen=True)
class CheckReport:
    """What was found; `problems` names the files that could not be checked, and why."""

    findings: tuple[BriefFinding, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    files: int


@dataclass(frozen=True)
class ChangeReport:
    """What changes, and what is left; `written` says whether the files have changed."""

    diff: str
    written: bool
    changed: tuple[str, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ValueReport:
    """Where one value of a line lives, on which machines, and the steps that led there."""

    code: str
    device: str
    machines: tuple[str, ...]
    steps: tuple[BriefStep, ...]


@dataclass(frozen=True)
class WhyReport:
    """The values of a line that have a device."""

    path: str
    line: int
    cell: int | None
    code: str
    values: tuple[ValueReport, ...]


@dataclass(frozen=True)
class RulePage:
    """A rule and its page, or a section of that."""

    code: str
    name: str
    severity: str
    default: bool
    summary: str
    sections: tuple[str, ...]
    page: str


Report = CheckReport | ChangeReport | WhyReport | RulePage


@dataclass(frozen=True)
class ToolResult:
    """What a tool answers: the text, and the same as values."""

    text: str
    report: Report

    @property
    def values(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return asdict(self.report)


class Failed(Exception):
    """A tool has nothing to return; the message has a line for each reason."""
