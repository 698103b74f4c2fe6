"""The device pattern: one device for the file, chosen by what the machine has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.devices import Known
from devicelint.domain.events import AcceleratorDemanded
from devicelint.finding import Safety
from devicelint.fixes import (
    Change,
    DefineDevice,
    MoveTo,
    RemoveArgument,
    Replace,
    Rewrite,
    choice_of,
)
from devicelint.interpreter.facts.named_devices import NamedDevice
from devicelint.interpreter.suggestions.context import RuleContext

_STAND_ALONE = (
    cst.AnnAssign,
    cst.Arg,
    cst.Assign,
    cst.DictElement,
    cst.Element,
    cst.NamedExpr,
    cst.Param,
    cst.Return,
)
"""What holds an expression as it is, so that a conditional needs no parentheses there."""


@dataclass(frozen=True)
class Demand:
    """One demand for an accelerator, and the devices among which the file spreads its work."""

    event: AcceleratorDemanded
    context: RuleContext
    devices: frozenset[Known]

    @property
    def safety(self) -> Safety:
        """Unsafe where the script needs a GPU, or several, on purpose."""
        if self._are_several or self.context.intent.demands_on_purpose():
            return Safety.UNSAFE
        return Safety.SAFE

    @property
    def warning(self) -> str:
        """What is to be known of an unsafe fix, behind its message."""
        if self._are_several:
            return "; the program uses several devices"
        return "" if self.safety is Safety.SAFE else "; the program may need a GPU on purpose"

    @property
    def is_meant(self) -> bool:
        """Whether even adoption keeps it: the script does more there than to ask for its state."""
        return self._are_several or self.context.intent.works_on_purpose()

    @property
    def _are_several(self) -> bool:
        return len({(device.type, device.index or 0) for device in self.devices}) > 1

    @property
    def spelled(self) -> str:
        """The device as the file writes it; `cuda:0` is `cuda` where both are used."""
        device = self._demanded
        return (
            device.type if not device.index and Known(device.type) in self.devices else str(device)
        )

    @property
    def names(self) -> Iterator[str]:
        """What a new variable for this device could be called."""
        kind, index = self._demanded.type, self._demanded.index
        kinds = {device.type for device in self.devices}
        indices = {device.index or 0 for device in self.devices if device.type == kind}
        if len(kinds) > 1:
            yield f"{kind}_device"
        elif len(indices) == 1 or not index:
            yield "device"
        if index:
            yield f"{kind if len(kinds) > 1 else 'device'}_{index}"
        if len(kinds) == 1:
            yield "torch_device"

    @property
    def names_itself(self) -> bool:
        """Whether the literal is what `torch.device("cuda")` is made from."""
        site, use = self.event.site, self.event.use
        if not isinstance(site, (cst.SimpleString, cst.Integer)):
            return False
        if isinstance(use, cst.WithItem):
            return True
        is_argument = isinstance(self.context.source.parent_of(site), cst.Arg)
        return is_argument and not self.context.source.contains(use, site)

    def named_by(self, literal: cst.SimpleString) -> str:
        """The device that a literal stands for, index and all."""
        return str(self._demanded) if literal is self.event.site else literal.raw_value

    @property
    def _demanded(self) -> Known:
        assert isinstance(self.event.device, Known)
        return self.event.device


def use_device(demand: Demand, at_hand: Sequence[NamedDevice]) -> tuple[str, Rewrite | None]:
    """Use the device at hand, or a new one: what stands in the place of the demand, and the fix."""
    code, name, changes = device_in_use(demand, at_hand)
    return name, _rewrite(demand, code, changes)


def device_in_use(
    demand: Demand, at_hand: Sequence[NamedDevice]
) -> tuple[str, str, tuple[Change, ...] | None]:
    """The code for the device at hand, or for a new one; its name; what else has to change."""
    if at_hand:
        named = at_hand[0]
        return (
            named.code,
            named.code,
            () if named.literal is None else _chosen(demand, named.literal),
        )
    event = demand.event
    name = demand.context.names.free_name(demand.names, event.site, event.use)
    if name is not None:
        return name, name, (DefineDevice(name, demand.spelled),)
    torch = demand.context.names.torch_name()
    choice = None if torch is None else choice_of(demand.spelled, torch)
    return choice or "", "device", None if choice is None else ()


def _rewrite(demand: Demand, code: str, more: tuple[Change, ...] | None) -> Rewrite | None:
    if more is None:
        return None
    event = demand.event
    if not event.literal and not event.how.startswith("."):
        return None
    changes = (*more, in_its_place(demand, code))
    message = f"Use `{code}`, chosen at run time{demand.warning}"
    return Rewrite(message, changes, demand.safety, begins=True, is_meant=demand.is_meant)


def in_its_place(demand: Demand, code: str) -> Change:
    """`x.cuda(…)` → `x.to(device, …)`; `"cuda"` → `device`."""
    site = demand.event.site
    assert isinstance(site, cst.CSTNode)
    if demand.event.literal or not isinstance(site, cst.Call):
        return Replace(site, code)
    return MoveTo(site, code)


def choose_in_place(demand: Demand) -> Rewrite | None:
    """`device = "cuda"` → `device = "cuda" if torch.cuda.is_available() else "cpu"`."""
    changes = _chosen(demand, demand.event.site)
    if changes is None:
        return None
    changes = (*changes, *_without_index(demand))
    message = f"Choose the device at run time{demand.warning}"
    return Rewrite(message, changes, demand.safety, begins=True, is_meant=demand.is_meant)


def _without_index(demand: Demand) -> Iterator[Change]:
    """`torch.device("cuda", 1)` names the index beside the literal, which has it then."""
    context = demand.context
    assert isinstance(demand.event.site, cst.CSTNode)
    argument = context.source.parent_of(demand.event.site)
    call = None if argument is None else context.source.parent_of(argument)
    if isinstance(call, cst.Call) and context.code(call.func) == context.names.name_of(
        "torch.device"
    ):
        for extra in call.args[1:]:
            yield RemoveArgument(call, extra)


def _chosen(demand: Demand, literal: object) -> tuple[Change, ...] | None:
    """The literal becomes a choice; what torch would refuse is corrected."""
    match literal:
        case cst.SimpleString():
            return chosen_in_place(demand.context, literal, demand.named_by(literal))
        case cst.Integer():
            return chosen_in_place(demand.context, literal, "cuda")
        case _:
            return None


def chosen_in_place(
    context: RuleContext, literal: cst.SimpleString | cst.Integer, device: str
) -> tuple[Change, ...] | None:
    """A literal becomes the choice of a device, in its own quotes, and as a number if it is one."""
    torch = context.names.torch_name()
    choice = None if torch is None else choice_of(device, torch)
    if choice is None:
        return None
    written, quote = context.code(literal), '"'
    if isinstance(literal, cst.SimpleString):
        quote = literal.quote
        written = f"{literal.prefix}{quote}{device}{quote}"
    choice = choice.replace(f'"{device}"', written, 1).replace('"cpu"', f"{quote}cpu{quote}")
    stands_alone = isinstance(context.source.parent_of(literal), _STAND_ALONE)
    return (Replace(literal, choice if stands_alone else f"({choice})"),)
