"""The kinds of values that a generated program holds, as far as its writer has to know them."""

from __future__ import annotations

from dataclasses import dataclass, replace

DEVICE = "device"
"""The side of what belongs on the program's device."""
HOST = "host"
"""The side of what belongs on the CPU."""
SECOND = "second"
"""The side of what belongs on the second GPU."""

BATCH = 4
WIDTH = 8
CLASSES = 6


@dataclass(frozen=True)
class Tensor:
    """A tensor.

    Attributes:
        text: the expression that gives it.
        shape: its sizes.
        dtype: `float`, `long` or `bool`.
        grad: whether it may require grad.
        side: where it belongs; whether it lies there, a coin decides.
    """

    text: str
    shape: tuple[int, ...]
    dtype: str = "float"
    grad: bool = False
    side: str = DEVICE

    def named(self, text: str) -> Tensor:
        """The same under another name."""
        return replace(self, text=text)


@dataclass(frozen=True)
class Module:
    """A module that takes floats of `(…, width_in)` and gives `(…, width_out)`.

    Attributes:
        text: the expression that gives it.
        width_in: the last size of what it takes.
        width_out: the last size of what it gives.
        side: where it belongs.
        parts: its linear parts, with their widths.
        any_batch: whether it takes batches of any length.
    """

    text: str
    width_in: int = WIDTH
    width_out: int = WIDTH
    side: str = DEVICE
    parts: tuple[tuple[str, int, int], ...] = ()
    any_batch: bool = True


@dataclass(frozen=True)
class Handle:
    """An expression that names a device."""

    text: str
    side: str = DEVICE


@dataclass(frozen=True)
class Flag:
    """A name that is true where there is an accelerator."""

    text: str


@dataclass(frozen=True)
class Function:
    """A function of tensors, which takes these and gives that."""

    text: str
    takes: tuple[Tensor, ...]
    gives: Tensor


@dataclass(frozen=True)
class Items:
    """A list or tuple of tensors, alike but for their values."""

    text: str
    element: Tensor
    length: int
    changes: bool = True


@dataclass(frozen=True)
class Entries:
    """A dictionary of tensors."""

    text: str
    entries: tuple[tuple[str, Tensor], ...]


@dataclass(frozen=True)
class Loader:
    """What gives batches: the names and tensors of one, and in which form they come."""

    text: str
    batch: tuple[Tensor, ...]
    form: str = "tuple"


@dataclass(frozen=True)
class Array:
    """An array of numpy."""

    text: str
    shape: tuple[int, ...]


Value = Tensor | Module | Handle | Flag | Function | Items | Entries | Loader | Array


def sizes(shape: tuple[int, ...]) -> str:
    """The sizes as arguments of a factory."""
    return ", ".join(map(str, shape)) if shape else "()"


def tuple_of(shape: tuple[int, ...]) -> str:
    """The sizes as a tuple."""
    return str(shape)


def without_graph(value: Value) -> bool:
    """Whether nothing that is computed from it can be differentiated twice by accident."""
    if isinstance(value, Items):
        return not value.element.grad
    if isinstance(value, Entries):
        return not any(tensor.grad for _, tensor in value.entries)
    return not (isinstance(value, Tensor) and value.grad)
