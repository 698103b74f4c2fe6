"""Process groups, and the collective operations that exchange tensors in them."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from devicelint.domain.parallel_events import CollectiveCalled, GroupJoined
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    ImportedName,
    ListOf,
    Stream,
    Symbolic,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import CURRENT, MACHINE
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.failures import insist
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.python.containers.contents import element_of
from devicelint.interpreter.python.stdlib.argparse import default_of
from devicelint.interpreter.torch.devices.current import make_current
from devicelint.interpreter.torch.operations.excuses import DEMAND
from devicelint.interpreter.torch.operations.operands import operand_of
from devicelint.interpreter.torch.operations.verdicts import judged


class Collective(NamedTuple):
    """Which parameters take tensors, or lists of them, and where the group stands."""

    tensors: tuple[str, ...]
    group: int


COLLECTIVES = {
    "all_reduce": Collective(("tensor",), 2),
    "broadcast": Collective(("tensor",), 2),
    "reduce": Collective(("tensor",), 3),
    "all_gather": Collective(("tensor_list", "tensor"), 2),
    "gather": Collective(("tensor", "gather_list"), 3),
    "scatter": Collective(("tensor", "scatter_list"), 3),
    "reduce_scatter": Collective(("output", "input_list"), 3),
    "all_gather_into_tensor": Collective(("output_tensor", "input_tensor"), 2),
    "reduce_scatter_tensor": Collective(("output", "input"), 3),
    "all_to_all": Collective(("output_tensor_list", "input_tensor_list"), 2),
    "all_to_all_single": Collective(("output", "input"), 4),
    "send": Collective(("tensor",), 2),
    "recv": Collective(("tensor",), 2),
    "isend": Collective(("tensor",), 2),
    "irecv": Collective(("tensor",), 2),
}
"""Collectives that leave it to the caller where the tensors are.

Those of objects move what they need by themselves.
"""
_MODULES = ("torch.distributed", "torch.distributed.distributed_c10d")


@function(*(f"{module}.{name}" for module in _MODULES for name in COLLECTIVES))
def call_collective(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Each tensor has to be where the backend of the group can reach it."""
    operation = name.rpartition(".")[2]
    collective = COLLECTIVES[operation]
    if not arguments.open and _is_of_default_group(arguments.get(collective.group, "group")):
        for position, parameter in enumerate(collective.tensors):
            given = arguments.get(position, parameter)
            if given is not None:
                _announce(run, operation, given, site)
    return HOST if operation in ("isend", "irecv") or "async_op" in arguments.keywords else NONE


def _is_of_default_group(group: Argument | None) -> bool:
    if group is None or group.value == NONE:
        return True
    return isinstance(group.value, ImportedName) and group.value.name.endswith(".WORLD")


def _announce(run: Run, operation: str, given: Argument, site: cst.Call) -> None:
    value = given.value
    if isinstance(value, (ListOf, Tuple, Stream)):
        value = element_of(run, value, given.site)
    operand = operand_of(value, given.site)
    standing = None if operand is None else judged(run, site, operation, (operand,), DEMAND)
    if operand is not None and standing is not None:
        run.announce(CollectiveCalled(site, operation, operand, standing))


_OF_MESHES = ("", "device_mesh.", "tensor.device_mesh.", "_tensor.device_mesh.")


@function(*(f"{module}.init_process_group" for module in _MODULES))
def join_group(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The backend says which devices the group reaches; none is each device's own."""
    given = arguments.get(0, "backend")
    backend = Const("cpu:gloo,cuda:nccl") if given is None or given.value == NONE else given.value
    option = ""
    if isinstance(backend, Symbolic):
        option, backend = backend.origin, default_of(run, backend)
    said = backend.value if isinstance(backend, Const) else ""
    backend_name = said.lower() if isinstance(said, str) else ""
    run.announce(GroupJoined(site, backend_name, option))
    if backend_name == _NCCL and not option:
        insist(run)
    return NONE


_NCCL = "nccl"
"""The backend that raises where there are no accelerators."""


@function(*(f"{module}.is_initialized" for module in _MODULES))
def is_in_group(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Where NCCL is the backend, no group can be joined on a machine without accelerators."""
    if not run.world.accelerators and _NCCL in mentions_in(run.module).strings:
        return Const(False)
    return Unknown("whether a group was joined")


@function(*(f"torch.distributed.{module}init_device_mesh" for module in _OF_MESHES))
def make_mesh(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Each process takes the accelerator of its rank, unless it has taken one already.

    See `DeviceMesh._setup_world_group_and_device` in torch/distributed/device_mesh.py.
    """
    if run.state.read(MACHINE, CURRENT) is None:
        make_current(run, HOST)
    return Unknown("a mesh of devices")
