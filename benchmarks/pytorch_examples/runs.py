"""Which scripts of pytorch/examples are run: `runs.toml`, read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent

TORCHRUN = "-m torch.distributed.run --standalone --nproc-per-node".split()
"""What stands for `torchrun` at the beginning of a command."""


@dataclass(frozen=True)
class Run:
    """One way to run one example.

    Attributes:
        name: how the run is called, here, in tables and by `--only`.
        folder: where the script lies in the checkout; it is started in a copy of that folder.
        commands: what Python is given, one command after the other. `{port}` is a free port;
            `torchrun N` starts what follows in N processes.
        inputs: the data that the script wants, by the names in `inputs.py`.
        gpus: how many virtual GPUs the machine has.
        port: a port that the script itself fixes: runs with the same one take turns.
        moves: files whose moves are taken out, one at a time; none, where another run does it.
        cpu_edits: `(file, old, new)`: what the run on the CPU alone needs changed, since the script
            asks for the very word "cuda" before it goes the way that is to be compared.
        outputs: files that the script writes, to be the same, byte for byte.
        variables: what the script needs in its environment.
        learns_on: the kind of device on which it computes its losses, given a virtual GPU.
        uncompared: why it learns something else than on the CPU; empty where it must not.
    """

    name: str
    folder: str
    commands: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    gpus: int = 1
    port: int | None = None
    moves: tuple[str, ...] = ("main.py",)
    cpu_edits: tuple[tuple[str, str, str], ...] = ()
    outputs: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    learns_on: str = "cuda"
    uncompared: str = ""

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Run:
        """A run, from its table."""
        return cls(**{key: _frozen(value) for key, value in table.items()})


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def tables(name: str) -> Mapping[str, Any]:
    """What a TOML file of this folder holds."""
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


RUNS: tuple[Run, ...] = tuple(map(Run.read, tables("runs.toml")["run"]))
