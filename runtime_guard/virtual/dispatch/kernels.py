"""Holds the arguments of one operator to the rule of its kernel."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.dispatch import texts
from runtime_guard.virtual.dispatch.rules import ComparedArgument, Rule, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import torch


class Lying(NamedTuple):
    """An argument, and where it lies.

    Attributes:
        name: as the operator's schema has it.
        tensor: it itself, or one of its list.
        device: where it lies; None if it may lie anywhere.
        is_written: whether the operator writes it.
    """

    name: str
    tensor: Tensor
    device: torch.device | None
    is_written: bool

    @property
    def is_scalar(self) -> bool:
        """Whether it is read, has no dimension, and lies on the CPU."""
        return self.device == CPU and self.tensor.dim() == 0 and not self.is_written


class Given(NamedTuple):
    """What one call of an operator was given."""

    lying: tuple[Lying, ...]

    @property
    def devices(self) -> list[torch.device]:
        """Where the arguments lie, each device once, in the order of the schema."""
        return list(
            dict.fromkeys(operand.device for operand in self.lying if operand.device is not None)
        )

    @property
    def is_mixed(self) -> bool:
        """Whether they lie on several devices."""
        return len(self.devices) > 1

    def kernel_of(self, name: str) -> str:
        """The operator whose kernel runs on CUDA: cuDNN's, where torch prefers it."""
        on_cuda = self.lying[0].device != CPU
        has_weight = any(operand.name == "weight" for operand in self.lying)
        return CUDNN.get(name, name) if on_cuda and has_weight else name

    def checked(self, func: Any) -> torch.device | None:
        """Where what the operator makes will lie; None if that may be anywhere.

        Raises:
            RuntimeError: the operator's kernel refuses the mix.
        """
        devices = self.devices
        if len(devices) < 2:
            return devices[0] if devices else None
        name = self.kernel_of(name_of(func))
        rule = table().rules.get(name)
        own = OWN.get(name)
        if own is not None and (rule is None or rule.kind in ("own", "unchecked")):
            return own(self.lying)
        if rule is None:
            return first_virtual(self.lying)
        return CHECKS[rule.kind](self.lying, rule)


def given(
    func: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    lies: Callable[[Tensor], torch.device | None],
) -> Given:
    """What a call gives its operator, by the names and in the order of its schema."""
    found: list[Lying] = []
    for place, parameter in enumerate(func._schema.arguments):
        value = args[place] if place < len(args) else kwargs.get(parameter.name)
        written = parameter.alias_info is not None and parameter.alias_info.is_write
        found += [
            Lying(parameter.name, tensor, lies(tensor), written) for tensor in _tensors(value)
        ]
    return Given(tuple(found))


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)


def name_of(func: Any) -> str:
    """An operator as the tables name it: `add.Tensor`, `addmm`."""
    name: str = func._schema.name.split("::")[-1]
    overload = func._schema.overload_name
    return f"{name}.{overload}" if overload else name


def exact(lying: tuple[Lying, ...], rule: Rule) -> torch.device:
    """Every tensor that is compared lies with the first.

    Raises:
        RuntimeError: one does not.
    """
    first = None
    for name, printed in rule.arguments:
        for operand in lying:
            if operand.name != name or operand.device is None:
                continue
            first = first or operand.device
            if operand.device != first:
                said = printed, operand.device, first, rule.method
                raise RuntimeError(texts.exact(*said, family=table().family))
    return first or first_virtual(lying)


def iterator(lying: tuple[Lying, ...], rule: Rule) -> torch.device:
    """All lie together, but that a kernel may excuse scalars on the CPU that it reads.

    Raises:
        RuntimeError: they do not.
    """
    compared = [operand for operand in lying if not rule.arguments or operand.name in rule.printed]
    common = first_virtual(compared)
    excused: list[Lying] = []
    # Outputs are the first operands of an iterator.
    for operand in sorted(compared, key=lambda operand: not operand.is_written):
        if operand.device is None or operand.device == common:
            continue
        if not (rule.scalars and operand.is_scalar):
            raise RuntimeError(texts.several(common, operand.device))
        if len(excused) == rule.scalars:
            raise RuntimeError(texts.SCALARS)
        excused.append(operand)
    # What the iterator lets pass, the kernel may still not take.
    if any(operand.name not in (rule.takes or rule.printed) for operand in excused):
        raise RuntimeError(texts.several(common, CPU))
    return common


def output(lying: tuple[Lying, ...], rule: Rule) -> torch.device:
    """What is written lies where the result does, which is where what is read lies.

    Raises:
        RuntimeError: it does not.
    """
    del rule
    read = next(
        operand.device for operand in lying if not operand.is_written and operand.device is not None
    )
    for operand in lying:
        if operand.is_written and operand.device not in (None, read):
            raise RuntimeError(texts.output(read, operand.device))
    return read


def pairs(lying: tuple[Lying, ...], rule: Rule) -> torch.device:
    """The i-th tensors of every list lie together.

    Raises:
        RuntimeError: they do not.
    """
    lists: dict[str, list[Lying]] = {}
    for operand in lying:
        lists.setdefault(operand.name, []).append(operand)
    for together in zip_longest(*lists.values()):
        iterator(tuple(operand for operand in together if operand is not None), rule)
    return first_virtual(lying)


def anywhere(lying: tuple[Lying, ...], rule: Rule) -> torch.device:
    """Nothing is compared."""
    del rule
    return first_virtual(lying)


def first_virtual(lying: Sequence[Lying]) -> torch.device:
    """The first device that is not the CPU."""
    devices = [operand.device for operand in lying if operand.device is not None]
    return next((device for device in devices if device != CPU), CPU)


CHECKS: dict[str, Any] = {
    "exact": exact,
    "iterator": iterator,
    "pairs": pairs,
    "output": output,
    "own": anywhere,
    "unchecked": anywhere,
    "composite": anywhere,
}


CUDNN = {"native_batch_norm": "cudnn_batch_norm"}
"""What runs in the place of a kernel where its input lies on the device and has a weight; the
kernels of convolutions and recurrent layers have rules of their own."""


def _into(lying: tuple[Lying, ...]) -> torch.device:
    """What copies between devices: the result lies where it is written."""
    return lying[0].device or first_virtual(lying)


_ITERATOR = Rule(
    "iterator", "", (ComparedArgument("self", "self"), ComparedArgument("values", "values")), 1
)


def _index(lying: tuple[Lying, ...]) -> torch.device:
    own = lying[0].device or CPU
    for operand in lying[1:]:
        if operand.name == "indices" and operand.device not in (None, CPU, own):
            raise RuntimeError(texts.index(own))
    return _index_put(lying)


def _index_put(lying: tuple[Lying, ...]) -> torch.device:
    values = tuple(operand for operand in lying if operand.name != "indices")
    return iterator(values, _ITERATOR) if len(values) > 1 else lying[0].device or CPU


def _masked_fill(lying: tuple[Lying, ...]) -> torch.device:
    own, mask = lying[0].device, lying[1].device
    if own is not None and mask is not None and own != mask:
        raise RuntimeError(texts.masked_fill(mask, own))
    return own or first_virtual(lying)


def _masked_index(lying: tuple[Lying, ...]) -> torch.device:
    """It indexes the tensor, then fills what was chosen by the mask."""
    _index(tuple(operand for operand in lying if operand.name != "mask"))
    return _masked_fill(lying)


def _masked_index_put(lying: tuple[Lying, ...]) -> torch.device:
    """It fills the values by the mask, then puts them into the tensor."""
    of = {operand.name: operand for operand in lying}
    _masked_fill((of["values"], of["mask"]))
    return _index_put(tuple(operand for operand in lying if operand.name != "mask"))


OWN: dict[str, Callable[[tuple[Lying, ...]], Any]] = {
    # Copying between devices is what they are for.
    "copy_": _into,
    "_foreach_copy_": _into,
    "copy": _into,
    # An index is brought to the tensor that it indexes: to be read, from the CPU alone.
    "index.Tensor": _index,
    "index_put_": _index_put,
    "index_put": _index_put,
    "_index_put_impl_": _index_put,
    "_unsafe_index.Tensor": _index,
    "_unsafe_index_put": _index_put,
    "_unsafe_masked_index": _masked_index,
    "_unsafe_masked_index_put_accumulate": _masked_index_put,
    "masked_fill.Tensor": _masked_fill,
    "masked_fill.Scalar": _masked_fill,
    "masked_fill_.Tensor": _masked_fill,
    "masked_fill_.Scalar": _masked_fill,
}
"""Operators whose kernels check for themselves, each as its source in ATen does."""
