"""The virtual machine that is in effect for a test, from the import of torch on."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from runtime_guard.integrations.virtual_gpu_tally import RunTally
    from runtime_guard.launcher.torch_import import TorchFinder
    from runtime_guard.settings import VirtualMachine
    from runtime_guard.virtual.block import VirtualGpu


def _entered(machine: VirtualMachine) -> VirtualGpu:
    from runtime_guard import virtual_gpu

    return virtual_gpu(**asdict(machine)).__enter__()


class Kept:
    """The machine that stays in effect from one test to the next that asks for the same.

    To let torch find a machine, and to give torch back as it was, takes longer than most tests.
    """

    def __init__(self) -> None:
        self._machine: VirtualMachine | None = None
        self._gpu: VirtualGpu | None = None

    def take(self, machine: VirtualMachine) -> VirtualGpu:
        """The machine that is asked for, with devices on which nothing lies."""
        if self._gpu is not None and machine == self._machine:
            self._gpu.renew()
            return self._gpu
        self.end()
        self._machine, self._gpu = machine, _entered(machine)
        return self._gpu

    def end(self) -> None:
        """Let torch find the machine that there is."""
        gpu, self._gpu = self._gpu, None
        if gpu is not None:
            gpu.__exit__(None, None, None)


class OnMachine:
    """A machine that is in effect inside a `with` block, from the import of torch on.

    Args:
        machine: what is asked for; None is the machine that there is.
        kept: where the machine stays in effect after the block; None where it does not.
        refused: why the test's marker makes no sense; empty if it does.
        tally: what counts the test; None where the block is none.

    Attributes:
        gpu: what is in effect; None where torch is not imported yet, and outside the block.
    """

    def __init__(
        self,
        machine: VirtualMachine | None,
        kept: Kept | None = None,
        *,
        refused: str = "",
        tally: RunTally | None = None,
    ) -> None:
        self.machine = machine
        self.gpu: VirtualGpu | None = None
        self.refused = refused
        self._kept = kept
        self._tally = tally
        self._finder: TorchFinder | None = None

    def __enter__(self) -> OnMachine:
        if self.machine is None and self._kept is not None:
            self._kept.end()
        if self.machine is not None:
            from runtime_guard.launcher.torch_import import once_torch_is_there

            self._finder = once_torch_is_there(self._begin)
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._finder is not None:
            self._finder.remove()
        gpu, self.gpu = self.gpu, None
        if gpu is not None and self._tally is not None:
            self._tally.add_test(gpu)
        if gpu is not None and self._kept is None:
            gpu.__exit__(*raised)

    def _begin(self) -> None:
        assert self.machine is not None
        enter = _entered if self._kept is None else self._kept.take
        self.gpu = enter(self.machine)

    def explain(self, error: BaseException) -> None:
        """Explain what made the test fail, if it is about devices, while they are there."""
        if self.gpu is not None:
            from runtime_guard.messages.explain import prepare

            prepare(error)


ON_MACHINE = pytest.StashKey[OnMachine]()
