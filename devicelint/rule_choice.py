"""Which rules a configuration asks for."""

from __future__ import annotations

from typing import Protocol

from devicelint.config import Config
from devicelint.rule_index import all_facts


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


def is_selected(rule: _Rule, config: Config) -> bool:
    """Whether the settings ask for a rule, whatever release of torch it concerns."""
    default = rule.default or (config.adopts and rule.adopts)
    return config.selects(rule.code, rule.name, default=default)


def checked_codes(config: Config, path: str) -> frozenset[str]:
    """The rules whose findings in a file would be heard."""
    torch = config.torch_version
    return frozenset(
        rule.code
        for rule in all_facts()
        if is_selected(rule, config)
        and (rule.until is None or (torch is not None and torch < rule.until))
        and config.holds_for(rule.code, rule.name, path)
    )
