"""Which rules look at a file, and which of their findings are reported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from devicelint.config import Config
from devicelint.finding import Finding
from devicelint.linter.many_demands import DEMANDING, IMPLIED
from devicelint.linter.result import CheckResult
from devicelint.linter.rule_selection import checked_codes, is_selected
from devicelint.plugins import every_rule
from devicelint.rules import Rule, chosen
from devicelint.suppression.unused import CODE as UNUSED
from devicelint.suppression.unused import named_rules, unused
from devicelint.text.source import SourceFile

_IMPORT = re.compile(r"^[ \t]*(?:from|(?P<list>import))[ \t]+(?P<modules>[^#\r\n]+)", re.MULTILINE)
_INSTALLED = sys.stdlib_module_names | {"numpy", "torch", "torchvision"}


def rules_for(source: SourceFile, config: Config) -> tuple[Rule, ...]:
    """The rules that the settings select, those that comments name, and those that decide others.

    What is said of a checkpoint does not depend on which other rules somebody wants to hear.
    """
    named = frozenset() if config.adopts else named_rules(source)
    rules = every_rule()
    heard = {one.code for one in rules if one.code in named or is_selected(one, config)}
    if not config.adopts and not heard.isdisjoint(IMPLIED):
        heard |= DEMANDING

    def selects(rule: type[Rule]) -> bool:
        return rule.code in heard

    def asks_for(rule: type[Rule]) -> bool:
        return config.adopts or config.names(rule.code, rule.name)

    return chosen(rules, selects, config.torch_version, asks_for)


def filtered(
    source: SourceFile, found: Sequence[Finding], config: Config, *, follows_imports: bool
) -> CheckResult:
    """The findings of a file that neither the settings nor a comment hide."""
    if useless := list(_unused(source, found, config, follows_imports=follows_imports)):
        found = sorted((*found, *useless), key=lambda finding: finding.span)
    asked = checked_codes(config, source.path) if found else frozenset()
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    for finding in found:
        if finding.code in asked and config.reports(finding.certainty):
            severity = config.severity_of(finding.code, finding.name, finding.severity)
            is_suppressed = finding.code != UNUSED and source.suppresses(
                finding.span, finding.code, finding.name
            )
            (suppressed if is_suppressed else kept).append(replace(finding, severity=severity))
    return CheckResult(source, tuple(kept), tuple(suppressed))


def _unused(
    source: SourceFile, found: Sequence[Finding], config: Config, *, follows_imports: bool
) -> Iterator[Finding]:
    """The comments that suppress nothing."""
    if config.adopts or source.skipped or not named_rules(source):
        return
    if source.notes:
        return  # What is passed over may be what makes the mistake.
    if not follows_imports and not _modules(source) <= _INSTALLED:
        return  # What is imported would show what there is to suppress.
    rules = rules_for(source, config)
    unheard = [rule for rule in rules if not config.holds_for(rule.code, rule.name, source.path)]
    yield from unused(source, found, _codes(rules), _codes(unheard))


def _modules(source: SourceFile) -> set[str]:
    """The first parts of what is imported; an empty one for a neighbour in the same package."""
    found = set()
    for statement in _IMPORT.finditer(source.text):
        modules = statement["modules"].split(",") if statement["list"] else [statement["modules"]]
        found |= {module.split()[0].partition(".")[0] for module in modules if module.split()}
    return found


def _codes(rules: Iterable[Rule]) -> frozenset[str]:
    return frozenset(rule.code for rule in rules)
