"""What one call of torch does to devices: the parameters that must agree, and the result.

A signature is read from one `def` of a stub file (see README.md beside this file) and never
changes.  What the interpreter asks on every call is worked out once, when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

CPU = "cpu"
"""The group of a tensor that is on the CPU, whatever the other arguments are."""
DEVICE = "device"
"""The group of a tensor created on the `device` argument (see `Signature.device_default`)."""

DIMENSION_NAMES = frozenset({"dim", "axis", "keepdim", "keepdims"})
"""The arguments that make a reduction give more than one number."""


class Role(Enum):
    """What a parameter has to do with devices."""

    OPERAND = "operand"
    """A tensor that takes part in a device group."""
    INDEX = "index"
    """An index into a tensor of the group: on the CPU, or on the group's device."""
    FREE = "free"
    """A tensor that may be on any device; those of a group say where the result is."""
    DEVICE = "device"
    """The device that the result is created on."""
    GENERATOR = "generator"
    """A random generator; it must be on the device that the result is created on."""
    SIZE = "size"
    """The size of the result: numbers, or one sequence of numbers."""
    DATA = "data"
    """Numbers, sequences, an array, or a tensor whose device the result then has."""
    VARIES = "varies"
    """A flag that, given and not false, makes the result something else than is stated."""
    ADDS = "adds"
    """A flag that, given and true, adds something to the result, which then is a tuple."""
    GIVES = "gives"
    """A flag that, given and true, makes the result another one."""
    BUFFER = "buffer"
    """A tensor that a module keeps as a buffer (in constructors only)."""


class TypeKind(Enum):
    """How a parameter can be given."""

    POSITIONAL = "positional"
    STAR = "star"
    KEYWORD = "keyword"
    DOUBLE_STAR = "double star"


class Form(Enum):
    """The shape of a result, as far as devices need it."""

    TENSOR = "Tensor"
    """0-dim if and only if all operands of the group are."""
    VIEW = "View"
    """A tensor of unknown rank."""
    RANKED = "Ranked"
    """A tensor of at least one dimension."""
    ZERO_DIM = "ZeroDim"
    """A 0-dim tensor."""
    REDUCED = "Reduced"
    """0-dim when called without a dimension, else unknown rank; see `Signature.result_of`."""
    LOSS = "Loss"
    """0-dim unless reduction="none", then unknown rank."""
    TRANSFER = "Transfer"
    """The receiver, moved; the interpreter knows how."""
    ARRAY = "Array"
    """A numpy array; the tensor had to be on the CPU."""
    HOST = "Host"
    """A Python number, string, size or list of numbers."""
    SELF = "Self"
    """The receiver, or first argument, itself."""
    TUPLE = "tuple"
    """Exactly the results of `items`."""
    LIST = "list"
    """Any number of results like `items[0]`."""
    NONE = "None"
    ANY = "Any"
    """Unknown."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What a parameter asks of the device of its argument."""

    role: Role
    group: str | None = None
    """The name of the device group, `CPU`, or None where no device is asked for."""
    scalar_excused: bool = False
    """A Python number or a 0-dim CPU tensor is welcome whatever the group's device is."""
    may_be_number: bool = False
    """A Python number is welcome, and a 0-dim CPU tensor is not."""
    sequence: bool = False
    """A sequence of such tensors (a star parameter: tensors, or one sequence of them)."""
    brings: Result | None = None
    """What a flag adds to the result, or makes of it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature; `slot` is None where devices play no part."""

    name: str
    kind: TypeKind
    slot: Slot | None
    default: str | None = None
    """The default as written, or None where an argument is required."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a call gives: its form, where it is, and whether gradients flow into it."""

    form: Form
    group: str | None = None
    """The name of the device group, `CPU`, `DEVICE`, or None for what is no tensor."""
    items: tuple[Result, ...] = ()
    """Of a tuple, a list, or a reduction that gives a tuple along a dimension."""
    no_grad: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """The device signature of one function, method or forward."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Result
    owns: str | None = None
    """The group of the module's own parameters and buffers (forward only)."""
    positional_slots: tuple[Slot | None, ...] = field(init=False, repr=False, compare=False)
    positional_names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    star_name: str = field(init=False, repr=False, compare=False)
    keyword_slots: Mapping[str, Slot | None] = field(init=False, repr=False, compare=False)
    star_slot: Slot | None = field(init=False, repr=False, compare=False)
    double_star_slot: Slot | None = field(init=False, repr=False, compare=False)
    device_default: str | None = field(init=False, repr=False, compare=False)
    """The group whose device a creation follows when no device is given; None: the default one."""

    def __post_init__(self) -> None:
        by_kind: dict[TypeKind, list[Parameter]] = {kind: [] for kind in TypeKind}
        for parameter in self.parameters:
            by_kind[parameter.kind].append(parameter)
        positional, keyword = by_kind[TypeKind.POSITIONAL], by_kind[TypeKind.KEYWORD]
        derived: dict[str, object] = {
            "positional_slots": tuple(parameter.slot for parameter in positional),
            "positional_names": tuple(parameter.name for parameter in positional),
            "star_name": next((p.name for p in by_kind[TypeKind.STAR]), ""),
            "keyword_slots": {
                **_out_slot(self.result),
                # `*size` takes `size=(2, 3)` as well.
                **{p.name: p.slot for p in (*positional, *by_kind[TypeKind.STAR], *keyword)},
            },
            "star_slot": next((p.slot for p in by_kind[TypeKind.STAR]), None),
            "double_star_slot": next((p.slot for p in by_kind[TypeKind.DOUBLE_STAR]), None),
            "device_default": _device_default(self.parameters),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def slots(self, positional: int, keywords: Sequence[str] = ()) -> tuple[Slot | None, ...]:
        """The slot of each argument: first the positional ones, then the keywords, in order."""
        known = self.positional_slots
        found = known[:positional]
        if positional > len(known):
            found += (self.star_slot,) * (positional - len(known))
        if not keywords:
            return found
        slots, other = self.keyword_slots, self.double_star_slot
        return found + tuple(slots.get(keyword, other) for keyword in keywords)

    def names(self, positional: int, keywords: Sequence[str] = ()) -> tuple[str, ...]:
        """The parameter that each argument is for, in the order of `slots`."""
        known = self.positional_names
        extra = (self.star_name,) * (positional - len(known))
        return (*known[:positional], *extra, *keywords)

    def result_of(
        self, positional: int, keywords: Sequence[str] = (), *, is_open: bool = False
    ) -> Result:
        """The result of such a call: a reduction is resolved by whether a dimension is given.

        A call is open where a star hides what is given besides.
        """
        result = self.result
        along = self._gives_dimension(positional, keywords)
        if result.form is Form.REDUCED:
            if is_open and not along:
                return Result(Form.ANY) if result.items else replace(result, form=Form.VIEW)
            return (
                _along_dimension(result) if along else replace(result, form=Form.ZERO_DIM, items=())
            )
        if result.form is Form.TUPLE and result.items and result.items[0].form is Form.REDUCED:
            form = Form.VIEW if along or is_open else Form.ZERO_DIM
            return replace(result, items=tuple(replace(item, form=form) for item in result.items))
        return result

    def _gives_dimension(self, positional: int, keywords: Sequence[str]) -> bool:
        return not DIMENSION_NAMES.isdisjoint(self.names(positional, keywords))


def _along_dimension(result: Result) -> Result:
    if result.items:
        return Result(Form.TUPLE, items=result.items)
    return replace(result, form=Form.VIEW)


def _out_slot(result: Result) -> Mapping[str, Slot]:
    """`out=` is written to, so it is on the group's device exactly; a tuple is written to each."""
    if result.group is not None and result.group not in (CPU, DEVICE):
        return {"out": Slot(Role.OPERAND, result.group, sequence=bool(result.items))}
    groups = {item.group for item in result.items}
    if result.form is Form.TUPLE and len(groups) == 1 and None not in groups:
        return {"out": Slot(Role.OPERAND, groups.pop(), sequence=True)}
    return {}


def _device_default(parameters: Sequence[Parameter]) -> str | None:
    for parameter in parameters:
        if parameter.slot is not None and parameter.slot.role is Role.DEVICE:
            return parameter.slot.group
    return None
