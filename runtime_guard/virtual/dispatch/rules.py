"""What CUDA's kernels demand of the devices of their arguments, as torch's own tables have it."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import torch

Kind: TypeAlias = Literal["exact", "iterator", "pairs", "output", "own", "unchecked", "composite"]

TABLES: Final = Path(__file__).parent / "tables"


class ComparedArgument(NamedTuple):
    """An argument that a kernel compares with the others.

    Attributes:
        name: as the operator's schema has it.
        printed: as the message has it.
    """

    name: str
    printed: str


class Rule(NamedTuple):
    """What one operator demands of the devices of its tensors.

    Attributes:
        kind: `exact`: every tensor is compared with the first. `iterator`: they meet in a
            TensorIterator. `pairs`: the i-th tensors of lists do. `output`: what is written must
            lie where the result does. `own`: the kernel has a rule of its own, which `kernels.OWN`
            says. `unchecked`: they may lie anywhere. `composite`: what it calls has rules.
        method: the wrapper that compares, as its message names it.
        arguments: what is compared, in order.
        scalars: how many 0-dim inputs may lie on the CPU beside tensors that do not.
        takes: the inputs of which this is true, where it is not true of each.
    """

    kind: Kind
    method: str
    arguments: tuple[ComparedArgument, ...]
    scalars: int
    takes: tuple[str, ...] = ()

    @property
    def printed(self) -> dict[str, str]:
        """The name in the message of each argument that is compared."""
        return dict(self.arguments)


class Table(NamedTuple):
    """The rules of one release of torch.

    Attributes:
        family: how its wrappers speak: `got` or `found`.
        rules: by operator and overload: `add.Tensor`.
    """

    family: str
    rules: dict[str, Rule]


@cache
def table() -> Table:
    """The rules of the torch that is installed, or of the nearest release before it."""
    known = {release(path.stem.removeprefix("torch-")): path for path in TABLES.glob("*.json")}
    fitting = [version for version in known if version <= release(torch.__version__)]
    return read(known[max(fitting or [min(known)])])


def read(path: Path) -> Table:
    """A table from its file."""
    content = json.loads(path.read_text("utf-8"))
    rules = {
        name: Rule(kind, method, tuple(map(argument, arguments)), scalars, tuple(takes))
        for name, (kind, method, arguments, scalars, *takes) in content["ops"].items()
    }
    return Table(content["texts"], rules)


def argument(text: str) -> ComparedArgument:
    """An argument as a table writes it: `self`, or `weight=self` where the message says `self`."""
    name, _, printed = text.partition("=")
    return ComparedArgument(name, printed or name)


def release(version: str) -> tuple[int, ...]:
    """The numbers of a release: `2.13` of `2.13.0+cpu`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
