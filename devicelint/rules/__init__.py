"""The rules: one module and one page each, found by being there."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from devicelint.rules._base import Report, Reports, Rule, line_of

__all__ = ["Report", "Reports", "Rule", "all_rules", "line_of", "rule_named"]


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, by code."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(Rule.__subclasses__(), key=lambda rule: rule.code))


def rule_named(code_or_name: str) -> type[Rule] | None:
    """The rule with a code such as DEV101, or a name such as module-input-elsewhere."""
    wanted = code_or_name.lower()
    for rule in all_rules():
        if wanted in (rule.code.lower(), rule.name):
            return rule
    return None
