"""The block in which torch finds virtual accelerators."""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Final

import torch

from runtime_guard.children import ChildEnvironment
from runtime_guard.messages.explain import prepare
from runtime_guard.settings import VirtualMachine, machine_to_environment
from runtime_guard.virtual.devices.machine import Machine, _machines
from runtime_guard.virtual.dispatch.mode import VirtualMode, in_effect
from runtime_guard.virtual.patching import Patches

if TYPE_CHECKING:
    from types import TracebackType

SURFACES: Final = (
    "dispatch.overriding",
    "torch_patches.parsing",
    "torch_patches.dispatching",
    "torch_patches.autograd",
    "torch_patches.optimizing",
    "devices.defaults",
    "namespaces",
    "devices.storages",
    "torch_patches.nesting",
    "processes.threads",
    "processes.sharing",
    "devices.loading",
    "torch_patches.parallel",
    "processes.process_groups",
    "torch_patches.compiling",
    "torch_patches.control_flow",
    "torch_patches.scripting",
    "torch_patches.script_files",
    "torch_patches.dlpack",
    "torch_patches.extensions",
    "torch_patches.profiling",
)
"""The modules whose `install` changes torch, in this order."""

HANDLING: Final = (
    "dispatch.getters",
    "dispatch.moves",
    "dispatch.factories",
    "dispatch.indexing",
    "dispatch.handling",
    "dispatch.convolving",
    "dispatch.attending",
    "dispatch.comparing",
    "dispatch.synced",
    "dispatch.dtypes",
)
"""The modules that say what is done with calls."""

_lock = threading.RLock()
_patches = Patches()
_blocks: list[VirtualGpu] = []
_environments: list[ChildEnvironment] = []


class VirtualGpu:
    """Virtual accelerators, in effect inside a `with` block.

    Attributes:
        count: how many.
        name: of which type: `cuda`, `mps` or `xpu`.
        memory_gb: what each has, in GiB; None where nothing is to run out.
        cuda: the version of CUDA that was asked for; None where what is installed says it.
        capability: the compute capability that was asked for; None for 8.0.
        devices: they themselves, in order.
    """

    def __init__(self, asked: VirtualMachine) -> None:
        self._asked = asked
        self.count = asked.count
        self.name = asked.name
        self.memory_gb = asked.memory_gb
        self.cuda = asked.cuda
        self.capability = asked.capability
        self._machine = Machine(asked)

    def __repr__(self) -> str:
        memory = "" if self.memory_gb is None else f", memory_gb={self.memory_gb}"
        return f"VirtualGpu(count={self.count}, name={self.name!r}{memory})"

    @property
    def devices(self) -> tuple[torch.device, ...]:
        """The virtual devices, in order."""
        return self._machine.devices

    @property
    def is_used(self) -> bool:
        """Whether anything was placed on a device since the block began."""
        return self._machine.is_used

    def renew(self) -> None:
        """Let the block begin anew, with devices on which nothing lies.

        What lies on the devices of before keeps its place, and is counted on none.
        """
        with _lock:
            last = max(at for at, block in enumerate(_blocks) if block is self)
            self._machine = _machines[last] = Machine(self._asked)
            _patches.reset()

    def __enter__(self) -> VirtualGpu:
        with _lock:
            _blocks.append(self)
            _machines.append(self._machine)
            if len(_machines) == 1:
                _install()
            _inform_children()
        _thread.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            # While the devices are there that it speaks of.
            prepare(error)
        _thread.end()
        with _lock:
            last = max(at for at, block in enumerate(_blocks) if block is self)
            del _blocks[last], _machines[last]
            _inform_children()
            if not _machines:
                _patches.undo()


class _Thread(threading.local):
    """How this thread's calls come to be seen, for as long as it is inside a block of its own."""

    depth = 0
    mode: VirtualMode | None = None

    def begin(self) -> None:
        self.depth += 1
        if not in_effect():
            self.mode = VirtualMode()
            self.mode.__enter__()

    def end(self) -> None:
        """Take the mode out, wherever in the stack it is: blocks need not end in their order.

        A block that ends in another thread than it began in leaves its mode there: without a
        machine it does nothing.
        """
        self.depth = max(self.depth - 1, 0)
        own = self.mode
        if self.depth or own is None:
            return
        self.mode = None
        if own in torch.overrides._get_current_function_mode_stack():
            above = []
            while (mode := torch.overrides._pop_mode()) is not own:
                above.append(mode)
            for mode in reversed(above):
                torch.overrides._push_mode(mode)


_thread = _Thread()


def virtual_gpu(
    count: int = 1,
    name: str = "cuda",
    *,
    memory_gb: float | None = None,
    cuda: str | None = None,
    capability: str | None = None,
) -> VirtualGpu:
    """Let torch find virtual accelerators inside a `with` block, on any machine.

    Tensors stay in host memory, each with a device, and mixing devices raises the error that CUDA
    would raise. Blocks nest: the innermost machine is the one that torch finds.

    Args:
        count: how many accelerators, 1 or more.
        name: their type: `cuda`, `mps` or `xpu`.
        memory_gb: the memory of each in GiB; what needs more raises `torch.OutOfMemoryError`.
        cuda: the version of CUDA for which torch is to be built, as `12.8`; by default that of
            torch itself, or of what is installed beside it.
        capability: the compute capability of each CUDA device, as `9.0`; 8.0 by default.

    Raises:
        ValueError: an argument has a value that it cannot have.
    """
    return VirtualGpu(VirtualMachine(count, name, memory_gb, cuda, capability))


def _inform_children() -> None:
    """Let child processes find the machine that is in effect now, or none."""
    while _environments:
        _environments.pop().undo()
    if _blocks:
        _environments.append(ChildEnvironment(machine_to_environment(_blocks[-1]._asked)))


def _install() -> None:
    for name in HANDLING:
        importlib.import_module(f"{__package__}.{name}")
    try:
        for name in SURFACES:
            importlib.import_module(f"{__package__}.{name}").install(_patches)
    except BaseException:
        _blocks.clear()
        _machines.clear()
        _patches.undo()
        raise
