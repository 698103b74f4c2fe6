"""Which rules look at a file, and what is told of what they find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from devicelint.checked import Checked
from devicelint.config import Config
from devicelint.finding import Finding
from devicelint.plugins import every_rule
from devicelint.rule_choice import checked_codes, is_selected
from devicelint.rules import Rule, chosen
from devicelint.source import SourceFile
from devicelint.unused import CODE as UNUSED
from devicelint.unused import named_rules, unused


def rules_for(source: SourceFile, config: Config) -> tuple[Rule, ...]:
    """The rules that the settings select, and those that comments of the file name."""
    named = frozenset() if config.adopts else named_rules(source)

    def selects(rule: type[Rule]) -> bool:
        return rule.code in named or is_selected(rule, config)

    return chosen(every_rule(), selects, config.torch_version)


def sifted(source: SourceFile, found: Sequence[Finding], config: Config) -> Checked:
    """What is told of a file: neither the settings nor a comment keep it back."""
    if useless := [] if config.adopts else list(_unused(source, found, config)):
        found = sorted((*found, *useless), key=lambda finding: finding.span)
    asked = checked_codes(config, source.path) if found else frozenset()
    kept: list[Finding] = []
    silenced: list[Finding] = []
    for finding in found:
        if finding.code in asked:
            severity = config.severity_of(finding.code, finding.name, finding.severity)
            is_silenced = finding.code != UNUSED and source.suppresses(
                finding.span, finding.code, finding.name
            )
            (silenced if is_silenced else kept).append(replace(finding, severity=severity))
    return Checked(source, tuple(kept), tuple(silenced))


def _unused(source: SourceFile, found: Sequence[Finding], config: Config) -> Iterator[Finding]:
    """The comments that silence nothing."""
    if source.skipped or not named_rules(source):
        return
    rules = rules_for(source, config)
    unheard = [rule for rule in rules if not config.holds_for(rule.code, rule.name, source.path)]
    yield from unused(source, found, _codes(rules), _codes(unheard))


def _codes(rules: Iterable[Rule]) -> frozenset[str]:
    return frozenset(rule.code for rule in rules)
