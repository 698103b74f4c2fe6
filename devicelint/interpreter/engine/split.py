"""A walk is given up for two: one in each world that a flag separates."""

from __future__ import annotations

from devicelint.domain.conflicts import keeps_to_cpu
from devicelint.domain.values import Flag, Value


class Split(Exception):
    """The walk needs to know a flag: two paths that it separates leave a value on two devices.

    `on_cpu` is what the flag is where that is the CPU.
    """

    def __init__(self, key: str, on_cpu: bool | None = None) -> None:
        super().__init__(key)
        self.key, self.on_cpu = key, on_cpu

    @classmethod
    def between(cls, flag: Flag, one: Value, other: Value) -> Split:
        """The split by a flag that gives one value where it holds, and another elsewhere."""
        on_cpu = keeps_to_cpu(one, other)
        return cls(flag.key, None if on_cpu is None else on_cpu is not flag.negated)
