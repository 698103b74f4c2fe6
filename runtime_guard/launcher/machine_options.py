"""The options of the command line that describe the virtual machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runtime_guard.settings import MACHINE_VARIABLES, VirtualMachine, machine_from

if TYPE_CHECKING:
    import argparse

MACHINE_OPTIONS = (
    "--virtual-gpu",
    "--virtual-gpu-name",
    "--virtual-gpu-memory",
    "--virtual-gpu-cuda",
    "--virtual-gpu-capability",
)


def add_machine_options(group: argparse._ArgumentGroup) -> None:
    """Let a command line describe a virtual machine; all that is given stays text."""
    count, name, memory, cuda, capability = MACHINE_OPTIONS
    add = group.add_argument
    add(count, nargs="?", const="1", metavar="N", help="let the script find N devices, or 1")
    add(name, metavar="NAME", help="their type: cuda (the default), mps or xpu")
    add(memory, metavar="GB", help="the memory of each: what needs more is out of memory")
    add(cuda, metavar="VERSION", help="the version of CUDA that torch is built for, as 12.8")
    add(capability, metavar="X.Y", help="their compute capability, as 9.0 (8.0)")


def machine_of(given: argparse.Namespace) -> VirtualMachine | None:
    """What the options say, and where they say nothing, the environment.

    Raises:
        ValueError: one of them has a value that it cannot have; the message names it.
    """
    texts: list[str] = []
    said: list[str] = []
    for option, variable in zip(MACHINE_OPTIONS, MACHINE_VARIABLES, strict=True):
        text = getattr(given, option.removeprefix("--").replace("-", "_"))
        if text is not None and not text.strip():
            raise ValueError(f"{option} is empty")
        texts.append(os.environ.get(variable, "") if text is None else text)
        said.append(variable if text is None else option)
    idle = [name for name in said[1:] if name in MACHINE_OPTIONS]
    if idle and not texts[0].strip():
        raise ValueError(f"{idle[0]} says nothing without {MACHINE_OPTIONS[0]}")
    return machine_from(texts, said)
