"""What CUDA's kernels demand of the devices of their arguments, as torch's own tables have it."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import torch

Kind: TypeAlias = Literal["exact", "iterator", "unchecked", "composite"]

TABLES: Final = Path(__file__).parent / "tables"


class Rule(NamedTuple):
    """What one operator demands.

    Attributes:
        kind: `exact`: every argument is checked; `iterator`: a 0-dim argument may lie on the CPU
            beside others; `unchecked`: the kernel checks for itself; `composite`: what it calls.
        method: the name of the wrapper that checks.
        tensors: the arguments that are checked, in order.
    """

    kind: Kind
    method: str
    tensors: tuple[str, ...]


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
    known = {
        release(path.stem.removeprefix("torch-")): path for path in TABLES.glob("torch-*.json")
    }
    here = release(torch.__version__)
    fitting = [version for version in known if version <= here] or [min(known)]
    return read(known[max(fitting)])


def read(path: Path) -> Table:
    """A table from its file."""
    content = json.loads(path.read_text("utf-8"))
    rules = {name: Rule(row[0], row[1], tuple(row[2])) for name, row in content["ops"].items()}
    return Table(content["texts"], rules)


def release(version: str) -> tuple[int, ...]:
    """The numbers of a release: `2.13` of `2.13.0+cpu`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
