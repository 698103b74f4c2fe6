"""What an expression can be: frozen values that print well.

Objects with identity (modules, lists, instances, frames) are values that carry a `ref`; what they
hold lies in the `State`, under that ref.  History never takes part in comparison, so that a loop's
fixed point is about devices alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from devicelint.domain.devices import Device
from devicelint.domain.history import Site, Step

Ref = int | str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not understood, and why.  Agrees with everything."""

    reason: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Const:
    """A Python constant; `site` is the literal."""

    value: Hashable
    site: Site = field(default=None, compare=False, repr=False)
    chosen: bool = field(default=False, compare=False, repr=False)
    """Whether it stands under a condition, or is an offer: somebody's choice, not hard-coded."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash(self.value)


NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)


@dataclass(frozen=True, slots=True)
class HostValue:
    """A Python number, string or other value without a device."""


HOST = HostValue()


@dataclass(frozen=True, slots=True)
class Array:
    """A numpy array."""


ARRAY = Array()


@dataclass(frozen=True, slots=True)
class HostObject:
    """An object of a library that works on the host: an estimator, the axes of a figure.

    `name` is what its methods are listed under: `sklearn.manifold.TSNE`.
    """

    name: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A condition that the code does not decide, but that stays the same: `args.cuda`."""

    key: str
    negated: bool = False

    def __invert__(self) -> Flag:
        return Flag(self.key, not self.negated)


@dataclass(frozen=True, slots=True)
class Outside:
    """An object that comes from outside: a parameter, `args`, or an attribute of one.

    The same origin is the same object.  `parameter` names the parameter it was received as.
    """

    origin: str
    parameter: str = ""
    since: Step | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class External:
    """Something imported, by its full name: `torch.nn.functional`."""

    name: str
    chosen: bool = field(default=False, compare=False, repr=False)
    """Whether it was picked under a condition."""


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A file or folder of the project, imported whole; `home` is where its names lie."""

    home: str


@dataclass(frozen=True, slots=True)
class Imported:
    """A name imported from another file of the project, which is walked once it is asked for."""

    home: str
    name: str


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
class Tensor:
    """A tensor: where it lives, whether it is 0-dim, whether it requires grad.

    `role` is "parameter" or "buffer" for what a Module registers, "leaf" for a tensor whose
    `requires_grad` was asked for, "lost" for the copy of a Parameter, "no leaf" for that of a leaf.
    """

    device: Device
    since: Step = field(compare=False, repr=False)
    scalar: bool | None = None
    grad: bool | None = None
    role: str = ""
    is_matrix: bool = False
    """Whether it is known to have two dimensions or more: a part of it then has one or more."""


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


@dataclass(frozen=True, slots=True)
class Moved:
    """Something of an unknown kind that was moved: a tensor, a module or a batch."""

    device: Device
    since: Step = field(compare=False, repr=False)
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Module:
    """An `nn.Module`; its device and attributes lie in the state under `ref`."""

    ref: Ref
    name: str
    since: Step = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class of the file that is not a Module."""

    ref: Ref
    name: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """Tensors that an object of a library holds, and moves in place: a BatchEncoding, say.

    `name` is what it is listed under; where it is, and what is put into it, lies in the state.
    """

    ref: Ref
    name: str


@dataclass(frozen=True, slots=True)
class Tool:
    """An object of a library that places what it is given: an Accelerator, a tokenizer.

    `name` is what its methods are listed under, `held` what it was made from.
    """

    name: str
    device: Device | None = None
    held: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Super:
    """`super()`: the object itself, seen from the bases of the class around."""

    receiver: Value
    owner: Ref | None = None


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several objects, by the path taken."""

    options: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list or a set; what it holds lies in the state."""

    ref: Ref
    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DictOf:
    """A dict; what it holds lies in the state."""

    ref: Ref
    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of known length; that of a `namedtuple` has names for its items."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stream:
    """Something to iterate over, of unknown length: a generator, `enumerate(loader)`."""

    element: Value
    filled: bool = field(default=False, compare=False)
    """Whether there is at least one element for sure."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset: `item` is what indexing it yields, `kept` whether it keeps them as tensors."""

    item: Value
    site: Site = field(compare=False, repr=False)
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Loader:
    """A DataLoader: `item` is the batch that it yields."""

    item: Value
    pinned: bool
    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Deviceless:
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
class Parameters:
    """The generator that `module.parameters()` returns; `site` is the module's expression."""

    module: Value
    site: Site = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What `torch.load` gave without map_location, or a part of it."""

    site: Site = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Function:
    """A function or lambda of the file, with the frame in which it was defined."""

    node: Site = field(repr=False)
    name: str
    scope: Ref
    scopes: tuple[Ref, ...] = ()
    """The function scopes that its body sees, innermost first."""
    owner: Ref | None = None
    """The class in whose body it stands."""
    kind: str = ""
    """"static", "class" or "property" for a method that was decorated so."""
    no_grad: bool = False
    """Whether it was decorated with `torch.no_grad()`."""
    guarded: bool = False
    """Whether a decorator asks for a device: `@skipIf(not torch.cuda.is_available())`."""
    home: Ref = 0
    """The file in which it stands: where its global names lie."""


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the file; its members lie in the state under `ref`."""

    ref: Ref
    name: str
    node: Site = field(compare=False, repr=False)
    bases: tuple[Value, ...] = ()
    home: Ref = 0
    """The file in which it stands."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A function with the object that it was looked up on, or a method of a torch value."""

    function: Value
    receiver: Value


@dataclass(frozen=True, slots=True)
class Partial:
    """`functools.partial`: a callable with some arguments given."""

    function: Value
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    sites: tuple[Site, ...] = field(default=(), compare=False, repr=False)
    """Where each argument was given, the keywords last."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What stands for a value of another process: an RRef, or a Future of what it will send.

    `way` is how the methods of the value are called: by `rref.rpc_sync()`, say.
    """

    held: Value
    way: str = ""
    is_away: bool = False
    """Whether another process holds it for sure."""


Value = (
    Unknown
    | Const
    | HostValue
    | Array
    | HostObject
    | Flag
    | Outside
    | External
    | ProjectModule
    | Imported
    | DeviceHandle
    | DeviceIndex
    | Tensor
    | Batch
    | Distribution
    | Moved
    | Module
    | Instance
    | Bundle
    | Tool
    | OneOf
    | Super
    | ListOf
    | DictOf
    | Tuple
    | Stream
    | Dataset
    | Loader
    | Deviceless
    | Generator
    | Parameters
    | Loaded
    | Function
    | Class
    | Bound
    | Partial
    | Reference
)

Placed = Tensor | Batch | Moved
"""Values that carry their own device."""
