"""Which events a rule listens to: those that its methods are named for."""

from __future__ import annotations

from functools import cache

from devicelint.rules._base import Rule

_METHODS: dict[type[Rule], tuple[str, ...]] = {}


def methods_of(rule: type[Rule]) -> tuple[str, ...]:
    """The methods of a rule that listen to events; looked up once."""
    methods = _METHODS.get(rule)
    if methods is None:
        methods = _METHODS[rule] = tuple(name for name in dir(rule) if name.startswith("on_"))
    return methods


@cache
def event_of(method: str) -> str:
    """The event that a method listens to: `MixedOperation` for `on_mixed_operation`."""
    return "".join(part.capitalize() for part in method.removeprefix("on_").split("_"))
