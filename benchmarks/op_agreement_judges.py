"""Who says what of an operator whose tensors are on two devices; for `op_agreement.py`.

A judge is given a case, an operator with its arguments of which one tensor stays on the CPU while
the others are on the accelerator, and answers in one word (see `ANSWERS`). A judge that cannot say,
because it lacks the operator or because the call fails for another reason, answers `unsaid`.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

import runtime_guard
from devicelint import knowledge
from devicelint.knowledge import CPU, Role

ANSWERS = {
    "runs": None,
    "exact": re.compile(r"different from other tensors on|when checking argument"),
    "iterator": re.compile(r"found at least two devices"),
    "own": re.compile(
        r"(?i)same device|device type|on device|should be the same|on cpu|CPU scalar|to numpy"
        r"|out tensor to have device|expected a CUDA device|tensor to have \S+ Device"
        r"|get_device\(\)|aten::slow_conv3d_forward"
    ),
}
"""The words: it runs, or is refused in words of a wrapper, an iterator, or the kernel's own."""

Placed = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments of a call."""

Move = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Case:
    """An operator of torch's database, its arguments, and which of their tensors is on the CPU.

    Attributes:
        name: of the operator, as the database has it.
        variant: which of several entries of that name; empty for the only one.
        sample: which of its samples.
        call: what calls it.
        given: its positional and keyword arguments, all on the CPU.
        chosen: the place among the tensors of the one that stays there.
    """

    name: str
    variant: str
    sample: int
    call: Callable[..., Any]
    given: Placed
    chosen: int

    @property
    def is_scalar(self) -> bool:
        """Whether the tensor that stays on the CPU has no dimension."""
        return bool(tensors(self.given)[self.chosen].dim() == 0)

    def placed(self, move: Move, keep: Move = Tensor.detach) -> Placed:
        """The arguments, all copied, and moved but for the chosen tensor, which is kept."""
        leaves, spec = tree_flatten(self.given)
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        for index, place in enumerate(places):
            copied = leaves[place].detach().clone()
            leaves[place] = (keep if index == self.chosen else move)(copied)
        placed: Placed = tree_unflatten(leaves, spec)
        return placed


def tensors(given: Any) -> list[Tensor]:
    """The tensors of some arguments, in order."""
    return [leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor)]


def answer(case: Case, given: Placed) -> str:
    """Make the call, and say in one word how it went."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.call(*given[0], **given[1])
    except Exception as error:  # noqa: BLE001 - whatever an operator raises
        said = (word for word, text in ANSWERS.items() if text and text.search(str(error)))
        return next(said, "unsaid")
    return "runs"


def virtual(case: Case) -> str:
    """The virtual GPU."""
    with runtime_guard.virtual_gpu():
        return answer(case, case.placed(partial(torch.Tensor.to, device="cuda")))


def accelerator(case: Case) -> str:
    """A real accelerator."""
    return answer(case, case.placed(partial(torch.Tensor.to, device="cuda")))


def fake(case: Case) -> str:
    """FakeTensorMode, whose tensors have a device and no data."""
    mode = FakeTensorMode()

    def moved(tensor: Tensor) -> Tensor:
        with mode:
            return torch.empty_like(mode.from_tensor(tensor), device="cuda:0")

    given = case.placed(moved, mode.from_tensor)
    with mode:
        return answer(case, given)


BINARY = {("max", "binary"): "maximum", ("min", "binary"): "minimum"}
"""With a tensor in the place of `dim` they are others."""


def linter(case: Case) -> str:
    """What devicelint knows of the function; it has no words for how torch refuses."""
    name = BINARY.get((case.name, case.variant), case.name)
    stub = knowledge.function(f"torch.{name}") or knowledge.tensor_method(name)
    if stub is None:
        return "unsaid"
    args, kwargs = case.given
    slots = stub.slots(len(args), tuple(kwargs))
    uses = [
        (leaf, slot)
        for value, slot in zip((*args, *kwargs.values()), slots, strict=True)
        for leaf in tensors(value)
    ]
    chosen = tensors(case.given)[case.chosen]
    asked = [(leaf is chosen, slot) for leaf, slot in uses if slot and slot.role is Role.OPERAND]
    if any(slot.group == CPU and not is_host for is_host, slot in asked):
        return "refused"
    operands = [(is_host, slot) for is_host, slot in asked if slot.group != CPU]
    hosts = [slot for is_host, slot in operands if is_host]
    excused = case.is_scalar and all(slot.scalar_excused for slot in hosts)
    return "runs" if excused or len(hosts) in (0, len(operands)) else "refused"


class Rules(TorchDispatchMode):
    """Holds each operator that a call is made of to its row in the table, and to nothing else."""

    def __init__(self, hosts: list[Tensor], rows: dict[str, list[Any]]) -> None:
        super().__init__()
        self._rows = rows
        self._host = {id(tensor.untyped_storage()): tensor.untyped_storage() for tensor in hosts}
        self._known = dict(self._host)
        self.answer = "runs"

    def known(self, given: list[Tensor]) -> None:
        """Take these for tensors of the accelerator, where they are none of the CPU."""
        self._known |= {id(t.untyped_storage()): t.untyped_storage() for t in given}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = [one for one in self._given(func, args, kwargs or {}) if self._lies(one[1])]
        places = {self._lies(tensor) for _, tensor, _ in given}
        if self.answer == "runs" and len(places) > 1:
            self.answer = self._judged(func, given)
        made = func(*args, **(kwargs or {}))
        if places:
            on_host = places == {"cpu"}
            for tensor in tensors(made):
                self._learn(tensor, on_host=on_host)
        return made

    def _learn(self, tensor: Tensor, *, on_host: bool) -> None:
        storage = tensor.untyped_storage()
        if id(storage) not in self._known:
            self._known[id(storage)] = storage
            if on_host:
                self._host[id(storage)] = storage

    def _lies(self, tensor: Tensor) -> str:
        key = id(tensor.untyped_storage())
        return ("cpu" if key in self._host else "cuda") if key in self._known else ""

    @staticmethod
    def _given(func: Any, args: Any, kwargs: Any) -> Iterator[tuple[str, Tensor, bool]]:
        for place, parameter in enumerate(func._schema.arguments):
            value = args[place] if place < len(args) else kwargs.get(parameter.name)
            written = parameter.alias_info is not None and parameter.alias_info.is_write
            for tensor in tensors(value):
                yield parameter.name, tensor, written

    def _judged(self, func: Any, given: list[tuple[str, Tensor, bool]]) -> str:
        name = func.name().removeprefix("aten::")
        kind, _, arguments, scalars, *takes = self._rows.get(name, ["composite", "", [], 0])
        names = {argument.partition("=")[0] for argument in arguments}
        compared = [one for one in given if one[0] in names]
        if len({self._lies(tensor) for _, tensor, _ in compared}) < 2:
            return "unsaid" if kind in ("own", "composite") else "runs"
        if kind != "iterator":
            return "exact" if kind == "exact" else "own"
        hosts = [one for one in compared if self._lies(one[1]) == "cpu"]
        excused = [t for n, t, w in hosts if not (t.dim() or w) and n in (takes or names)]
        return "runs" if len(excused) == len(hosts) <= scalars else "iterator"


@cache
def _rows() -> dict[str, list[Any]]:
    release = ".".join(torch.__version__.split(".")[:2])
    folder = Path(runtime_guard.__file__).parent / "virtual" / "dispatch" / "tables"
    content = json.loads((folder / f"torch-{release}.json").read_text(encoding="utf-8"))
    rows: dict[str, list[Any]] = content["ops"]
    return rows


def rules(case: Case) -> str:
    """The table that is generated from torch's own, over the operators that the CPU calls."""
    given = case.placed(Tensor.detach)
    found = tensors(given)
    mode = Rules([found[case.chosen]], _rows())
    mode.known(found)
    with mode:
        said = answer(case, given)
    return mode.answer if said == "runs" or mode.answer != "runs" else "unsaid"


JUDGES: dict[str, Callable[[Case], str]] = {
    "virtual": virtual,
    "rules": rules,
    "fake": fake,
    "linter": linter,
}
