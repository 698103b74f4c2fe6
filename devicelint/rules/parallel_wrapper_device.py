"""DataParallel or DistributedDataParallel is put around a module that is elsewhere."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import (
    CPU,
    Agreement,
    Device,
    Known,
    Opaque,
    Unsure,
    agreement,
    is_accelerator,
)
from devicelint.domain.events import Operand, Transfer
from devicelint.domain.history import Site, Verb
from devicelint.domain.parallel_events import GroupJoined, ParallelCalled, ParallelWrapped
from devicelint.domain.values import HOST, Module
from devicelint.finding import Severity
from devicelint.fixes import InsertAfter, Keep, Rewrite
from devicelint.interpreter.suggestions.context import RuleContext
from devicelint.interpreter.torch.parallel import DISTRIBUTED
from devicelint.rules import _clashes as clashes
from devicelint.rules._base import Report, Reports, Rule, line_of


class ParallelWrapperDevice(Rule):
    """DataParallel or DistributedDataParallel wraps a module that is on the wrong device."""

    code = "DEV801"
    name = "parallel-wrapper-device"
    severity = Severity.ERROR
    summary = "`DataParallel` or `DistributedDataParallel` wraps a module on the wrong device"
    unfixed = "no variable there holds the devices of the wrapper"

    def __init__(self) -> None:
        self._right: set[Site] = set()
        self._groups: dict[Site, GroupJoined] = {}

    def on_group_joined(self, event: GroupJoined, context: RuleContext) -> Reports:
        """NCCL takes no module on the CPU."""
        if context.world.accelerators:
            self._groups[event.site] = event
        return iter(())

    def on_parallel_called(self, event: ParallelCalled, context: RuleContext) -> Reports:
        """DataParallel looks for its module on the first device when it is called."""
        module, first = event.module, event.first
        if clashes.is_led_astray(context, module) and _is_elsewhere(module, first):
            yield self._led_astray(event, context)
            return
        if not self._is_wrong(context, module, first):
            return
        yield Report(
            module.site,
            f"{clashes.quoted(context, module.site)} is on {clashes.place(module)}"
            f"{clashes.since(module, 0)}, but DataParallel needs it on {first}, its first "
            "device, when it is called",
            (*clashes.history(module), (event.site, "called here")),
            fix=_move_first(context, module, first),
        )

    def _led_astray(self, event: ParallelCalled, context: RuleContext) -> Report:
        """It was there, until a line moved it that comes later in the loop."""
        module = event.module
        assert module.since is not None
        return Report(
            module.since.site,
            f"{clashes.quoted(context, module.since.site)} leaves the module on "
            f"{clashes.place(module)}, but in the next iteration line {line_of(0)} calls "
            f"DataParallel, which needs it on {event.first}: move it back, or move a copy",
            ((event.site, "called here"), (event.wrapped, "wrapped here")),
            subject=module.since,
        )

    def on_parallel_wrapped(self, event: ParallelWrapped, context: RuleContext) -> Reports:
        """DistributedDataParallel stays on the device on which the module is wrapped."""
        module = event.module
        first = event.devices[0] if event.devices else Unsure("no device_ids")
        backends = {group.backend for group in self._groups.values()}
        if event.devices and self._is_wrong(context, module, first):
            named = f"device_ids names {_named(first)}"
        elif not event.given and backends == {"nccl"} and self._is_wrong(context, module, _CUDA):
            named, first = "NCCL only supports accelerators", _CUDA
        else:
            return
        yield Report(
            module.site,
            f"{clashes.quoted(context, module.site)} is on {clashes.place(module)}"
            f"{clashes.since(module, 0)}, but {named}: move it before you wrap it",
            clashes.history(module),
            fix=_move_first(context, module, first),
        )

    def on_transfer(self, event: Transfer, context: RuleContext) -> Reports:
        """What is built for gradients when a module is wrapped does not move with it."""
        wrapper, origin, target = event.receiver, event.origin, event.target
        if not isinstance(wrapper, Module) or wrapper.name != DISTRIBUTED:
            return
        if origin is None or target is None or not _is_another(origin, target):
            return
        wrapped = wrapper.since.site
        was = Operand(wrapped, HOST, origin)
        yield Report(
            event.site,
            f"{clashes.quoted(context, event.receiver_site)} is moved to {target} after it was "
            f"wrapped on {clashes.place(was)}: DistributedDataParallel leaves its gradients there; "
            "move the module first",
            () if wrapped is event.receiver_site else ((wrapped, "wrapped here"),),
            fix=_move_inside(context, event),
        )

    def _is_wrong(self, context: RuleContext, module: Operand, first: Device) -> bool:
        """Whether a module is elsewhere, whatever the settings that are walked before."""
        if not context.world.accelerators or isinstance(first, Unsure):
            return False
        wrong = _is_elsewhere(module, first)
        is_brought = module.since is not None and module.since.verb is Verb.PLACED
        if not wrong and not is_brought:
            self._right.add(module.site)
        return wrong and not context.world.has_settings_on and module.site not in self._right


def _is_elsewhere(module: Operand, first: Device) -> bool:
    """Whether a module is not on the first of the devices."""
    return module.device == CPU or agreement(module.device, first) is Agreement.DIFFERENT


_CUDA = Known("cuda")


def _named(device: Device) -> str:
    return f"accelerator `{device}`" if isinstance(device, Opaque) else str(device)


def _is_another(origin: Device, target: Device) -> bool:
    is_known = origin == CPU or is_accelerator(origin)
    return is_known and agreement(origin, target) is Agreement.DIFFERENT


def _move_first(context: RuleContext, module: Operand, device: Device) -> Rewrite | None:
    """Move the module in the call that wraps it."""
    spelled = context.moves.spelling(device)
    if spelled is None and isinstance(device, Known):
        spelled = context.moves.spelling(_CUDA) if not device.index else None
    if spelled is None or not isinstance(module.site, (cst.Name, cst.Attribute)):
        return None
    move = f".to({spelled})"
    what = clashes.quoted(context, module.site)
    return Rewrite(f"Move {what} with `{move}`", (InsertAfter(module.site, move),))


def _move_inside(context: RuleContext, event: Transfer) -> Rewrite | None:
    """`DDP(model).to(device)` → `DDP(model.to(device))`."""
    call, wrapper = event.site, event.receiver_site
    if not (isinstance(call, cst.Call) and isinstance(wrapper, cst.Call) and wrapper.args):
        return None
    first = wrapper.args[0]
    if first.keyword is not None or first.star:
        return None
    move = context.code(call)[len(context.code(wrapper)) :]
    changes = (InsertAfter(first.value, move), Keep(call, wrapper))
    return Rewrite("Move the module before wrapping it", changes)
