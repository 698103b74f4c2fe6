"""Which rules a configuration asks for."""

from __future__ import annotations

from typing import Protocol

from devicelint.config import Config
from devicelint.config.deciding import Decision
from devicelint.domain.torch_release import TorchRelease
from devicelint.rule_index import RuleFacts, all_facts


class _Rule(Protocol):
    """What of a rule decides whether it is checked where nobody names it."""

    @property
    def code(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def default(self) -> bool: ...
    @property
    def adopts(self) -> bool: ...
    @property
    def preview(self) -> bool: ...


def is_selected(rule: _Rule, config: Config) -> bool:
    """Whether the settings ask for a rule, whatever release of torch it concerns."""
    return decision(rule, config).on


def decision(rule: _Rule, config: Config) -> Decision:
    """Whether the settings ask for a rule, and what of them says so."""
    adopting = config.adopts and rule.adopts
    if rule.preview and not (config.preview or adopting):
        return Decision(False, "preview")
    default = rule.default or adopting
    return config.decision(rule.code, rule.name, default=default)


def concerns(rule: RuleFacts, torch: TorchRelease | None) -> bool:
    """Whether code that has to work with a release of torch can make the mistake of a rule."""
    return rule.until is None or (torch is not None and torch < rule.until)


def checked_codes(config: Config, path: str) -> frozenset[str]:
    """The rules whose findings in a file would be read."""
    return frozenset(
        rule.code
        for rule in all_facts()
        if is_selected(rule, config)
        and concerns(rule, config.torch_version)
        and config.holds_for(rule.code, rule.name, path)
    )
