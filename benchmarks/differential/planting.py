"""Plants a mistake in the linter for a while, in this process, and takes it out without a trace.

A function is exchanged wherever a module of devicelint holds it, under any name, and in every table
of handlers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeAlias

from devicelint.interpreter.engine import tables
from devicelint.interpreter.engine.tables import Table

Places: TypeAlias = list[tuple[dict[Any, Any], Any, Any]]
_NOTHING = object()


class Planting:
    """What was exchanged, with the way back."""

    def __init__(self) -> None:
        self._before: Places = []

    def exchange(self, original: Callable[..., Any], mistaken: Callable[..., Any]) -> None:
        """Let a function of the linter do something else; LookupError where nothing holds it."""
        found = [
            (holder, key)
            for holder in _holders()
            for key, value in holder.items()
            if value is original
        ]
        if not found:
            raise LookupError(f"nothing holds {original!r}")
        for holder, key in found:
            self.put(holder, key, mistaken)

    def put(self, holder: dict[Any, Any], key: Any, value: Any) -> None:
        """Put something in a table or a module."""
        self._before.append((holder, key, holder.get(key, _NOTHING)))
        # A table refuses a second handler.
        dict.__setitem__(holder, key, value)

    def undo(self) -> None:
        """Put everything back, the last first."""
        while self._before:
            holder, key, value = self._before.pop()
            if value is _NOTHING:
                dict.pop(holder, key, None)
            else:
                dict.__setitem__(holder, key, value)


@contextmanager
def planted(plant: Callable[[Planting], None]) -> Iterator[None]:
    """Let a mistake be in the linter for as long as the block runs."""
    planting = Planting()
    try:
        plant(planting)
        _forget()
        yield
    finally:
        planting.undo()
        _forget()


def held() -> dict[tuple[str, Any], int]:
    """What the modules and tables of the linter hold, each thing by its identity."""
    modules = {
        (name, key): id(value) for name, module in _modules() for key, value in vars(module).items()
    }
    return modules | {
        (table.name, key): id(value) for table in _tables() for key, value in table.items()
    }


def _forget() -> None:
    """Forget what functions remember that rests on others; stubs as they were read stay."""
    for name, module in _modules():
        for value in tuple(vars(module).values()):
            clear = getattr(value, "cache_clear", None)
            if clear is not None and name != "devicelint.knowledge.stubs_index":
                clear()


def _modules() -> list[tuple[str, ModuleType]]:
    return [(name, one) for name, one in sys.modules.items() if name.startswith("devicelint.")]


def _tables() -> list[Table[Any, Any]]:
    return [value for value in vars(tables).values() if isinstance(value, Table)]


def _holders() -> list[dict[Any, Any]]:
    return [*(vars(module) for _, module in _modules()), *_tables()]
