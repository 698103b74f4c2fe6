"""What takes tensors on the CPU alone: lengths of sequences, and memory to pin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from devicelint.domain.data_events import HostMemoryDemanded, LoaderPins
from devicelint.domain.devices import is_accelerator
from devicelint.domain.events import Operand
from devicelint.domain.values import Batch, DictOf, Loader, Tensor, Tuple, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.verdicts import DEMAND, is_excused


def demand_on_host(run: Run, operands: Sequence[Operand], operation: str, site: cst.Call) -> None:
    """Tensors that have to be on the CPU, on every machine that this is reached on."""
    if operation == "pin_memory":
        run.depends_on_machine |= not run.expects("RuntimeError")
        if not run.world.accelerators and _is_chosen_here(run):
            return
    for operand in operands:
        if not is_excused(run, site, operation, (operand,), DEMAND):
            run.announce(HostMemoryDemanded(site, operation, operand))


def _is_chosen_here(run: Run) -> bool:
    """Whether a condition about devices surrounds this, or any condition of this function."""
    return bool(run.device_choices) or run.assumptions > run.frame.entered_under


def note_pins(run: Run, loader: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A loader that pins fails at the first batch that is not on the CPU."""
    given = arguments.keywords.get("pin_memory")
    if given is None or not isinstance(loader, Loader) or not loader.pinned:
        return loader
    for tensor in _tensors_in(run, loader.item):
        if is_accelerator(tensor.device):
            item = Operand(given.site, tensor, tensor.device, tensor.since)
            run.announce(LoaderPins(site, given.site, item))
            break
    return loader


def _tensors_in(run: Run, value: Value) -> Iterator[Tensor | Batch]:
    """The tensors of a batch."""
    match value:
        case Tensor() | Batch():
            yield value
        case Tuple(items):
            for one in items:
                yield from _tensors_in(run, one)
        case DictOf(ref):
            for one in run.state.fields(ref).values():
                yield from _tensors_in(run, one)
        case _:
            pass
