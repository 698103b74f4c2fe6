"""Values with identity, and what can be called: modules, instances, functions, classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from devicelint.domain.devices import Device
from devicelint.domain.history import Site, Step

if TYPE_CHECKING:
    from devicelint.domain.values import Value


Ref = int | str


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
class Namespace:
    """`vars(owner)`: the attributes of an object as a dictionary; of a Module, those of one role.

    `role` is "parameter" for `module._parameters`, "buffer" for `module._buffers`.
    """

    owner: Value
    ref: Ref
    role: str = ""


@dataclass(frozen=True, slots=True)
class Super:
    """`super()`: the object itself, seen from the bases of the class around."""

    receiver: Value
    owner: Ref | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset: `item` is what a batch is made of, `kept` whether it keeps all as tensors."""

    item: Value
    site: Site = field(compare=False, repr=False)
    kept: bool = False
    numbered: bool = False
    """Whether what indexing it yields is a picture and the number of its class."""
    part_of: Value | None = field(default=None, compare=False, repr=False)
    """The program's own dataset that it takes its items from."""


@dataclass(frozen=True, slots=True)
class Mover:
    """What `_apply` of a Module is given where that is moved: it brings a tensor along."""

    device: Device
    since: Step = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The generator that `module.parameters()` returns; `site` is the module's expression."""

    module: Value
    site: Site = field(default=None, compare=False, repr=False)


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
    left_out: bool = False
    """Whether a mark says that it is never run, or that it raises: `@pytest.mark.skip`."""


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
