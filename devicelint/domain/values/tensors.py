"""Values that are on devices, and devices themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devicelint.domain.devices import Device
from devicelint.domain.history import Site, Step

if TYPE_CHECKING:
    from devicelint.domain.events import Operand
    from devicelint.domain.values import Value
    from devicelint.domain.values.objects import Ref


@dataclass(frozen=True, slots=True)
class DeviceHandle:
    """A `torch.device`, or a string or number that the code uses as one."""

    device: Device
    site: Site = field(default=None, compare=False, repr=False)
    literal: bool = field(default=False, compare=False, repr=False)
    """Whether the code spells out the accelerator at `site`."""
    is_object: bool = True
    """Whether it is a `torch.device`, rather than a string that names one."""


@dataclass(frozen=True, slots=True)
class DeviceIndex:
    """`device.index`: a number, or None where the device has none."""

    device: Device


@dataclass(frozen=True, slots=True)
class Owned:
    """What a tensor is of a Module: the parameter of a name, or any of them where that is empty."""

    module: Value
    name: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: where it lives, whether it is 0-dim, whether it requires grad.

    `role` is "parameter" or "buffer" for what a Module registers, "leaf" for a tensor whose
    `requires_grad` was asked for, "lost" for the copy of a Parameter, "no leaf" for that of a leaf,
    "either" for what a Module registers on one path only.
    """

    device: Device
    since: Step = field(compare=False, repr=False)
    scalar: bool | None = None
    grad: bool | None = None
    role: str = ""
    least: int = 0
    """How many dimensions it has at least; 0 and 1 say no more than `scalar` does."""
    home: Owned | None = None
    """The Module from which it was read, where this is the object itself and no result."""

    @property
    def is_matrix(self) -> bool:
        """Whether it is known to have two dimensions or more: a part of it has one or more."""
        return self.least > 1


@dataclass(frozen=True, slots=True)
class Batch:
    """What a loader yields: a tensor, or any nesting of tensors, all on one device."""

    device: Device
    since: Step = field(compare=False, repr=False)
    whole: bool = True
    """Whether nothing was taken out of it yet: what is taken out may still be nested."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A probability distribution: its parameters, and what is drawn from it, are on one device."""

    device: Device
    since: Step = field(compare=False, repr=False)
    scalar: bool | None = None
    """Whether its parameters are 0-dim."""
    elementwise: bool = False
    """Whether what is drawn from it has the dimensions of the parameters."""
    apart: tuple[Operand, Operand] | None = field(default=None, compare=False, repr=False)
    """Two of its parameters that meet on two devices as soon as it is asked for anything."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Something of an unknown kind that was moved: a tensor, a module or a batch."""

    device: Device
    since: Step = field(compare=False, repr=False)
    origin: str = ""


@dataclass(frozen=True, slots=True)
class TensorDict:
    """Tensors that an object of a library holds, and moves in place: a BatchEncoding, say.

    `name` is what it is listed under; where it is, and what is put into it, lies in the state.
    """

    ref: Ref
    name: str


@dataclass(frozen=True, slots=True)
class LibraryObject:
    """An object of a library that places what it is given: an Accelerator, a tokenizer.

    `name` is what its methods are listed under, `held` what it was made from.
    """

    name: str
    device: Device | None = None
    held: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMovable:
    """Something of torch that has no device to move: an optimizer, a scheduler."""

    kind: str
    site: Site = field(compare=False, repr=False)
    over: Value | None = None
    """What an optimizer optimizes: the argument it was built with."""


@dataclass(frozen=True, slots=True)
class Generator:
    """A `torch.Generator`: it draws random numbers for tensors on its own type of device."""

    device: Device
    since: Step = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What `torch.load` gave without map_location, or a part of it."""

    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """What stands for a value of another process: an RRef, or a Future of what it will send.

    `way` is how the methods of the value are called: by `rref.rpc_sync()`, say.
    """

    held: Value
    way: str = ""
    is_away: bool = False
    """Whether another process holds it for sure."""
