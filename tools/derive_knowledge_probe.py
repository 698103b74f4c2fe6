"""Ask the virtual GPU what a function of torch does to devices, one argument at a time.

A probe makes a call with each of its tensors in turn on the CPU while the others are on an
accelerator, and the other way round, and with a 0-dim CPU tensor in its place. What runs and what
is refused says what the function asks of that argument; where its result lies says the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from benchmarks.op_agreement_judges import ANSWERS, Placed, tensors

Place: TypeAlias = "int | str"
"""An argument: its position, or its keyword."""


@dataclass(frozen=True)
class Sample:
    """Arguments that a function takes, all on the CPU."""

    function: Callable[..., Any]
    given: Placed

    def count(self) -> int:
        """How many tensors there are."""
        return len(tensors(self.given))

    def places(self) -> list[Place]:
        """The argument that each tensor stands in, in the order of `tensors`."""
        args, kwargs = self.given
        named: list[tuple[Place, Any]] = [*enumerate(args), *kwargs.items()]
        return [place for place, value in named for _ in tensors(value)]

    def placed(self, on_host: Collection[int], *, scalar: int | None = None) -> Placed:
        """A copy of the arguments: those tensors on the CPU, and one of them without dimensions."""
        leaves, spec = tree_flatten(self.given)
        found = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        for index, place in enumerate(found):
            copied = leaves[place].detach().clone()
            copied = copied.flatten()[0].clone() if index == scalar else copied
            leaves[place] = copied if index in on_host else copied.to("cuda")
        placed: Placed = tree_unflatten(leaves, spec)
        return placed

    def runs(self, on_host: Collection[int], *, scalar: int | None = None) -> bool | None:
        """Whether torch lets the call pass; None where it fails for another reason."""
        answer, _ = self.tried(on_host, scalar=scalar)
        return answer

    def tried(
        self, on_host: Collection[int], *, scalar: int | None = None
    ) -> tuple[bool | None, Any]:
        """Whether torch lets the call pass, and what it gives."""
        try:
            found = self.call(self.placed(on_host, scalar=scalar))
        except Exception as error:  # noqa: BLE001 - whatever an operator raises
            words = (text for text in ANSWERS.values() if text is not None)
            return (False if any(text.search(str(error)) for text in words) else None), None
        return True, found

    def call(self, given: Placed) -> Any:
        """Make the call, always with the same numbers."""
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.function(*given[0], **given[1])


@dataclass
class Seen:
    """What was seen of one argument: whether it may be elsewhere than the others."""

    on_host: set[bool] = field(default_factory=set)
    """Whether it runs with this alone on the CPU."""
    on_accelerator: set[bool] = field(default_factory=set)
    """Whether it runs with this alone on the accelerator."""
    as_scalar: set[bool] = field(default_factory=set)
    """Whether it runs with a 0-dim CPU tensor in its place."""
    leads: bool = False
    """Whether the result is on the accelerator where this alone is."""
    sequence: bool = False

    def annotation(self, *, is_excused: bool) -> str:
        """What a stub says of it; empty: nothing is known.

        A kernel may excuse a scalar of the CPU that the function lets nobody try.
        """
        asked = self._asked(is_excused=is_excused and not self.as_scalar)
        return f"Sequence[{asked}]" if asked and self.sequence else asked

    def _asked(self, *, is_excused: bool) -> str:
        excused = " | Scalar" if self.as_scalar == {True} or is_excused else ""
        if self.leads and excused and self.on_host == {True}:
            return "Tensor[D]"
        if self.leads or False in self.on_host or (excused and not self.on_host):
            return f"Tensor[D]{excused}"
        if self.on_host == {True}:
            return "Tensor" if self.on_accelerator == {True} else "Index[D]"
        return ""


def see(sample: Sample, seen: Mapping[Place, Seen]) -> None:
    """Add what one sample shows; only inside of a virtual GPU."""
    count = sample.count()
    everything = range(count)
    if count < 2 or sample.runs(()) is not True:
        return
    leaves = tensors(sample.given)
    for index, place in enumerate(sample.places()):
        mine = seen[place]
        has_dimensions = leaves[index].dim() > 0
        _add(mine.on_host if has_dimensions else mine.as_scalar, sample.runs({index}))
        answer, found = sample.tried(set(everything) - {index})
        _add(mine.on_accelerator, answer)
        made = tensors(found)
        mine.leads |= bool(made) and all(one.is_cuda for one in made)
        if has_dimensions and sample.runs(everything, scalar=index):
            _add(mine.as_scalar, sample.runs({index}, scalar=index))


def _add(answers: set[bool], answer: bool | None) -> None:
    if answer is not None:
        answers.add(answer)


@dataclass(frozen=True)
class Outcome:
    """What one call gave, as a stub would say it."""

    stated: str
    is_scalar: bool
    """Whether it is a tensor without dimensions."""


def outcome(sample: Sample, *, fixed: bool) -> Outcome | None:
    """What the call gives on the accelerator; None if it does not run there."""
    given = sample.placed(())
    try:
        found = sample.call(given)
    except Exception:  # noqa: BLE001 - whatever an operator raises
        return None
    if given[0] and found is given[0][0]:
        return Outcome("Self", False)
    stated = _stated(found, _with_grad(sample), fixed=fixed)
    return Outcome(stated, isinstance(found, Tensor) and found.dim() == 0)


def _with_grad(sample: Sample) -> list[bool]:
    """Whether gradients flow into each tensor of the result; empty where that cannot be seen."""
    args, kwargs = sample.placed(range(sample.count()))
    for leaf in tensors((args, kwargs)):
        if leaf.is_floating_point() or leaf.is_complex():
            leaf.requires_grad_(True)
    try:
        found = sample.call((args, kwargs))
    except Exception:  # noqa: BLE001 - whatever an operator raises
        return []
    return [leaf.requires_grad for leaf in tree_leaves(found) if isinstance(leaf, Tensor)]


def _stated(found: Any, grads: Sequence[bool], *, fixed: bool) -> str:
    if isinstance(found, Tensor):
        return _tensor(found, grads)
    if isinstance(found, (tuple, list)) and found and all(isinstance(x, Tensor) for x in found):
        parts = list(_parts(found, grads))
        if fixed:
            return f"tuple[{', '.join(parts)}]"
        return f"tuple[{parts[0]}, ...]" if len(set(parts)) == 1 else "Any"
    if isinstance(found, (bool, int, float, str)):
        return "Host"
    return "None" if found is None else "Any"


def _parts(found: Sequence[Tensor], grads: Sequence[bool]) -> Iterator[str]:
    for index, part in enumerate(found):
        yield _tensor(part, grads[index : index + 1])


def _tensor(found: Tensor, grads: Sequence[bool]) -> str:
    placed = "View[D]" if found.device.type == "cuda" else "View[CPU]"
    return f"NoGrad[{placed}]" if list(grads) == [False] else placed
