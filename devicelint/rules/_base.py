"""What a rule is: a class that hears events and says a sentence about devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from devicelint.domain.events import (
    AcceleratorDemanded,
    DeviceCompared,
    DevicelessMoved,
    DiscardedTransfer,
    HostRead,
    IndexTested,
    InvalidDeviceNamed,
    Load,
    MisplacedInput,
    MixedOperation,
    ModuleDefined,
    ParameterLost,
    Revealed,
)
from devicelint.domain.history import Site
from devicelint.finding import Certainty, Severity
from devicelint.fixes import Rewrite
from devicelint.interpreter.scene import Scene


def line_of(index: int) -> str:
    """A mark in a message that becomes the line of the related place with this index."""
    return f"\0{index}\0"


@dataclass(frozen=True)
class Report:
    """What a rule has to say about one place, before places are turned into spans.

    `severity` is the rule's own unless given.  Reports of one rule that share `subject` (by
    default the site) are one finding: a value that is used five times is reported once.
    """

    site: Site
    message: str
    related: tuple[tuple[Site, str], ...] = ()
    severity: Severity | None = None
    certainty: Certainty = Certainty.CERTAIN
    fix: Rewrite | None = None
    subject: object = None
    anywhere: bool = False
    """Whether it holds on every machine, so that none is named."""


Reports = Iterator[Report]


class Rule:
    """One rule.  A subclass overrides the `on_…` methods of the events that it is about."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]

    @classmethod
    def documentation(cls) -> str:
        """The page of the rule: what it finds, why, examples, and what it does not report."""
        from importlib import resources  # Heavy, and nothing that a check needs.

        page = resources.files("devicelint.rules") / f"{cls.name.replace('-', '_')}.md"
        return page.read_text(encoding="utf-8")

    def on_mixed_operation(self, event: MixedOperation, scene: Scene) -> Reports:
        """Operands of one operation are on different devices."""
        return iter(())

    def on_misplaced_input(self, event: MisplacedInput, scene: Scene) -> Reports:
        """A module is called with an input that is not where the module is."""
        return iter(())

    def on_discarded_transfer(self, event: DiscardedTransfer, scene: Scene) -> Reports:
        """The result of a transfer is thrown away."""
        return iter(())

    def on_deviceless_moved(self, event: DevicelessMoved, scene: Scene) -> Reports:
        """Something without a device is moved."""
        return iter(())

    def on_host_read(self, event: HostRead, scene: Scene) -> Reports:
        """An accelerator tensor is read as a numpy array."""
        return iter(())

    def on_load(self, event: Load, scene: Scene) -> Reports:
        """A checkpoint is loaded without map_location."""
        return iter(())

    def on_accelerator_demanded(self, event: AcceleratorDemanded, scene: Scene) -> Reports:
        """The code goes to an accelerator on a machine without one."""
        return iter(())

    def on_invalid_device_named(self, event: InvalidDeviceNamed, scene: Scene) -> Reports:
        """A string that names no device is used as one."""
        return iter(())

    def on_device_compared(self, event: DeviceCompared, scene: Scene) -> Reports:
        """A device is compared with a string."""
        return iter(())

    def on_index_tested(self, event: IndexTested, scene: Scene) -> Reports:
        """A device index is used as a condition."""
        return iter(())

    def on_module_defined(self, event: ModuleDefined, scene: Scene) -> Reports:
        """A Module has run its `__init__`."""
        return iter(())

    def on_parameter_lost(self, event: ParameterLost, scene: Scene) -> Reports:
        """A parameter was moved before it was registered or optimized."""
        return iter(())

    def on_revealed(self, event: Revealed, scene: Scene) -> Reports:
        """`reveal_device(x)` was reached."""
        return iter(())
