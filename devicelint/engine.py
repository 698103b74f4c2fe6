"""Check a file, fix a file, trace a file: what all doors stand on."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from devicelint.config import Config
from devicelint.finding import Finding
from devicelint.fixes import Fixed, fix_until_stable
from devicelint.gathering import Gathering, located
from devicelint.interpreter import Program, explore
from devicelint.rules import Rule, chosen
from devicelint.source import SourceFile
from devicelint.syntax import CheckError, parse, too_deep
from devicelint.tracing import Trace, Tracing

__all__ = ["CheckError", "Checked", "Fixed", "Trace", "check", "fix", "screen", "trace"]


@dataclass(frozen=True)
class Checked:
    """What was found in one file, in the order of the text."""

    source: SourceFile
    findings: tuple[Finding, ...]


_CONCERNS = re.compile(rb"\btorch\b|reveal_device")


def screen(data: bytes) -> bool:
    """Whether a file can have anything to do with devices: one that never names torch has not."""
    return _CONCERNS.search(data) is not None


def check(source: SourceFile, config: Config | None = None) -> Checked:
    """Find the device mistakes of one file.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    config = config or Config()
    found = _findings(source, config)
    kept = (
        finding
        for finding in found
        if config.holds_for(finding.code, finding.name, source.path)
        and not source.suppresses(finding.span, finding.code, finding.name)
    )
    return Checked(source, tuple(kept))


def fix(source: SourceFile, config: Config | None = None) -> Fixed:
    """Apply the fixes that the configuration allows until nothing changes."""
    config = config or Config()

    def found(one: SourceFile) -> tuple[Finding, ...]:
        return check(one, config).findings

    return fix_until_stable(source, found, lambda finding: _is_allowed(finding, config))


def _is_allowed(finding: Finding, config: Config) -> bool:
    return finding.fix is not None and (config.unsafe_fixes or finding.fix.safety.value == "safe")


def _findings(source: SourceFile, config: Config) -> list[Finding]:
    if source.skipped or not screen(source.text.encode("utf-8", "replace")):
        return []
    module = parse(source)
    try:
        return _explored(source, module, config)
    except RecursionError:
        raise too_deep(source) from None


def _explored(source: SourceFile, module: cst.Module, config: Config) -> list[Finding]:
    gathering = Gathering(_rules(config))
    explore(Program(module, source.text), gathering.listener_for)
    reports = gathering.reports()
    return located(source, module, reports) if reports else []


def _rules(config: Config) -> tuple[Rule, ...]:
    def selects(rule: type[Rule]) -> bool:
        return config.selects(rule.code, rule.name, default=rule.default)

    return chosen(selects, config.torch_version)


def trace(source: SourceFile) -> Trace:
    """Where every assigned name and every moved value of a file lives, line by line.

    Raises `CheckError` where the file is no Python that libcst can read.
    """
    module = parse(source)
    tracing = Tracing()
    try:
        explore(Program(module, source.text), tracing.listener_for)
        return tracing.trace(source, module)
    except RecursionError:
        raise too_deep(source) from None
