"""The rules: one module and one page each, found by being there."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable

from devicelint.domain.torch_release import TorchRelease
from devicelint.rules._base import Report, Reports, Rule, line_of

__all__ = ["Report", "Reports", "Rule", "all_rules", "chosen", "line_of"]


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule of devicelint itself, by code."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            importlib.import_module(f"{__name__}.{module.name}")
    own = (rule for rule in Rule.__subclasses__() if rule.__module__.startswith(__name__))
    return tuple(sorted(own, key=lambda rule: rule.code))


def chosen(
    rules: Iterable[type[Rule]],
    selects: Callable[[type[Rule]], bool],
    torch: TorchRelease | None,
    asks_for: Callable[[type[Rule]], bool] = lambda _: False,
) -> tuple[Rule, ...]:
    """The rules to check: those selected that concern a release of torch."""
    wanted = (rule for rule in rules if selects(rule) and rule.concerns(torch))
    return tuple(rule.for_torch(torch, asked_for=asks_for(rule)) for rule in wanted)
