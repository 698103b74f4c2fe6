"""What excuses a clash of devices.

A clash that no excuse holds for is reported.  The excuses of a kind stand in one tuple, in the
order in which they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from devicelint.domain.devices import CPU, Agreement, Device, DeviceOf, Opaque, agreement
from devicelint.domain.events import Operand
from devicelint.domain.history import Verb
from devicelint.domain.values import Symbolic
from devicelint.domain.verdicts import Excuse
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_choices import may_be_accelerator
from devicelint.interpreter.facts.host_callers import (
    is_given_from_outside,
    is_of_data_class,
    is_of_object_on_the_cpu,
    is_reached_from_tests,
)
from devicelint.interpreter.facts.machines.around import (
    is_default_set_around,
    is_help_for_tests,
    is_on_cpu_around,
    is_taken_around,
)
from devicelint.interpreter.facts.module_inputs import is_in_module
from devicelint.interpreter.facts.movable import is_placed_beside
from devicelint.interpreter.facts.tensor_parameters import (
    is_declared,
    is_doubted,
    is_part_of_module,
    is_proven,
    is_used,
)
from devicelint.interpreter.python.paths.device_questions import is_of_no_cuda_type_here
from devicelint.interpreter.python.paths.size_questions import is_placeholder_here
from devicelint.interpreter.python.unseen import is_element_of_outside

DIFFERENT = (Agreement.DIFFERENT, Agreement.DIFFERENT_UNLESS_CHOSEN)

Operands = tuple[Operand, ...]


@dataclass(frozen=True)
class ExcuseCase:
    """An excuse, and what it takes for it to hold."""

    excuse: Excuse
    holds: Callable[[Run, Operands], bool]


def _ground(name: str, reason: str, holds: Callable[[Run, Operands], bool]) -> ExcuseCase:
    return ExcuseCase(Excuse(name, reason), holds)


# -- what is reported by another rule, or not torch's business ---------------------------------


def was_to_go(operand: Operand, device: Device) -> bool:
    """Whether a discarded move would have brought an operand there: that is reported already."""
    intended = operand.since.intended if operand.since is not None else None
    return intended is not None and agreement(intended, device) not in DIFFERENT


def _was_to_meet(run: Run, operands: Operands) -> bool:
    one, other = operands
    return was_to_go(one, other.device) or was_to_go(other, one.device)


def _input_was_to_go(run: Run, operands: Operands) -> bool:
    return was_to_go(operands[1], operands[0].device)


def _was_to_come(run: Run, operands: Operands) -> bool:
    return any(one.since is not None and one.since.intended == CPU for one in operands)


def _may_be_a_number(run: Run, operands: Operands) -> bool:
    return not all(_is_tensor_for_sure(run, one) for one in operands)


def _is_tensor_for_sure(run: Run, operand: Operand) -> bool:
    """A parameter is a tensor where its function uses it as one; `x * 2` alone proves nothing."""
    if not isinstance(operand.value, Symbolic) or is_proven(run, operand.value.origin):
        return True
    if is_doubted(run, operand.value.origin):
        return False
    return is_used(run, operand.value.origin)


def is_undeclared(run: Run, operands: Operands) -> bool:
    """Whether nothing says of one of them that the caller gives a tensor, and no array."""
    return any(not _is_known_tensor(run, place) for place in places_of(operands))


def _is_known_tensor(run: Run, place: str) -> bool:
    """Whether a function says of what it takes, or does with it, what makes it a tensor."""
    if place == "self" or is_declared(run, place):
        return True
    return is_proven(run, place) or is_part_of_module(run, place)


def is_received(run: Run, operands: Operands) -> bool:
    """Whether a caller gives one of them."""
    return any(isinstance(one.device, DeviceOf) for one in operands)


def is_unseen(run: Run, operands: Operands) -> bool:
    """Inside of a Module alone, what is not seen lies with the tensors that it was given."""
    lineages = [one.device.lineage for one in operands if isinstance(one.device, DeviceOf)]
    unseen = [lineage for lineage in lineages if lineage is not None]
    return bool(unseen) and not (all(unseen) and is_in_module(run))


def _is_nobodys(run: Run, operands: Operands) -> bool:
    """Whether code that is not seen gives one of them, and no caller does, in a collection."""
    unseen = (one.device for one in operands if isinstance(one.device, DeviceOf))
    held = all(is_element_of_outside(one) for one in unseen if one.is_unseen)
    return not held and is_unseen(run, operands)


def _expects(exception: str) -> ExcuseCase:
    reason = f"the code is prepared for the {exception} that torch raises"
    return _ground("prepared", reason, lambda run, _: run.expects(exception))


DISCARDED = "a move with a discarded result would have prevented it, and is reported"
DISCARDED_MOVE = _ground("discarded-move", DISCARDED, _was_to_meet)
DISCARDED_MOVE_OF_INPUT = _ground("discarded-move", DISCARDED, _input_was_to_go)
DISCARDED_COPY = _ground("discarded-move", DISCARDED, _was_to_come)
NUMBER = _ground(
    "no-tensor", "nothing shows that the value from outside is a tensor", _may_be_a_number
)
UNSEEN = _ground(
    "unseen",
    "nothing shows on which device code outside the project returns the tensor",
    _is_nobodys,
)
SENT = _ground(
    "sent-on", "the caller's tensor is sent on from the device that the caller chose", is_received
)

# -- where callers keep their tensors ----------------------------------------------------------


def meets_own_device(operands: Operands) -> bool:
    """Whether an object keeps to a device of its own, apart from where callers have theirs."""
    return any(isinstance(one.device, Opaque) and one.device.apart for one in operands)


def _chosen_as_cpu(run: Run, operands: Operands) -> bool:
    chosen = [one.device.origin for one in operands if isinstance(one.device, Opaque)]
    beside = [one for one in operands if is_placed_beside(one)]
    chosen += [f"{place}.device" for place in places_of(tuple(beside))]
    if not chosen or run.device_choices:
        return bool(chosen)
    return not all(may_be_accelerator(run.world.settings, origin) for origin in chosen)


def _has_none(run: Run, operands: Operands) -> bool:
    """Whether a caller's tensor lies nowhere else, as this machine has the CPU alone."""
    return not run.world.accelerators and is_received(run, operands)


def _off_cuda(run: Run, operands: Operands) -> bool:
    """Whether this is the path on which a test of `.is_cuda` fails: of one, or of one beside it.

    Or one of `.type()`: who asks for types of CUDA takes what is none of them for the CPU's.
    """
    if any(is_of_no_cuda_type_here(run, one.device) for one in operands):
        return True
    off = (key for key, chosen in run.world.settings if not chosen)
    return is_received(run, operands) and any(key.endswith(".is_cuda") for key in off)


def places_of(operands: Operands) -> Iterator[str]:
    return (one.device.place for one in operands if isinstance(one.device, DeviceOf))


def _handed_on(run: Run, operands: Operands) -> bool:
    if not meets_own_device(operands):
        return False
    return not all(is_given_from_outside(run, place) for place in places_of(operands))


def _where_received(says: Callable[[Run], bool]) -> Callable[[Run, Operands], bool]:
    """What the code says of callers in general, where no device of its own is kept apart."""

    def holds(run: Run, operands: Operands) -> bool:
        return is_received(run, operands) and not meets_own_device(operands) and says(run)

    return holds


HOST_CODE: tuple[tuple[str, str, Callable[[Run], bool]], ...] = (
    ("test", "a test or a fixture only gets values that tests create", is_reached_from_tests),
    ("test-helper", "only tests use the file, which lies next to them", is_help_for_tests),
    ("dataset", "the workers of a DataLoader fetch the items of the class", is_of_data_class),
    ("cpu-project", "the programs of the project only train on the CPU", is_on_cpu_around),
)
"""Code whose callers keep their tensors on the CPU."""
ON_HOST = Excuse("worker", "the workers of a DataLoader call this function")
UNDECLARED = Excuse("undeclared", "no annotation or docstring says that the caller passes a tensor")
HOST_CALLS = Excuse("host-calls", "every call in the project passes a value on the host")

OFF_CUDA = _ground(
    "off-cuda", "a test of .is_cuda says that the caller's tensors are not on CUDA here", _off_cuda
)
CALLERS = (
    _ground("cpu-chosen", "a condition around it may mean that the CPU is chosen", _chosen_as_cpu),
    _ground("no-accelerator", "this machine has no accelerator", _has_none),
    OFF_CUDA,
    _ground(
        "own-device",
        "an object with a device of its own passes on a value that it may have moved",
        _handed_on,
    ),
    *(_ground(name, reason, _where_received(says)) for name, reason, says in HOST_CODE),
    _ground(
        "cpu-object",
        "the object has a device of its own, which is the CPU",
        _where_received(is_of_object_on_the_cpu),
    ),
)
"""A caller may choose the device, and the code says that this is the CPU."""

# -- the excuses of each kind of clash ---------------------------------------------------------

STAND_IN = _ground(
    "stand-in",
    "the value is a placeholder that is replaced where it does not fit",
    lambda run, operands: any(is_placeholder_here(run, one) for one in operands),
)

_BY_DEFAULT = frozenset({Verb.CREATED, Verb.CONVERTED, Verb.BUILT})


def _may_be_made_elsewhere(run: Run, operands: Operands) -> bool:
    """Whether one is where programs have set that tensors are made; no Module keeps such a one."""
    steps = (one.since for one in operands if one.since is not None)
    made = [one for one in steps if one.verb in _BY_DEFAULT and one.kept is None]
    return bool(made) and is_default_set_around(run)


DEFAULT_SET = _ground(
    "default-set",
    "programs of the project set the default device for new tensors",
    _may_be_made_elsewhere,
)
CLASH = (DISCARDED_MOVE, NUMBER, STAND_IN, *CALLERS, DEFAULT_SET)
"""Of two operands: the one to move, and the one that it meets."""
INPUT = (DISCARDED_MOVE_OF_INPUT, *CALLERS, DEFAULT_SET)
"""Of a module and its input."""
NAMED = (
    NUMBER,
    _ground(
        "accelerators-only",
        "the programs around it use an accelerator, and none of them checks for one",
        lambda run, _: is_taken_around(run),
    ),
    *(_ground(name, reason, _where_received(says)) for name, reason, says in HOST_CODE),
)
"""Of what goes to an accelerator that the code names, and what it meets."""
READ = (
    _expects("TypeError"),
    DISCARDED_COPY,
    UNSEEN,
    OFF_CUDA,
    *(_ground(name, reason, _where_received(says)) for name, reason, says in HOST_CODE),
)
"""Of what is read as an array on the host."""
READ_TO_SEND = (_expects("TypeError"), DISCARDED_COPY, UNSEEN, SENT)
"""Of what is sent to another process."""
DEMAND = (_expects("RuntimeError"), UNSEEN)
"""Of what torch takes on one device alone: lengths, memory to pin, what a group reaches."""

FAILS_BEFORE = Excuse("fails-before", "an earlier line raises on this machine")
LOAD = (
    _ground(
        "device-chosen",
        "a condition about devices leads here, so the machine is known",
        lambda run, _: bool(run.device_choices),
    ),
    _expects("RuntimeError"),
)
"""Of a checkpoint that is loaded without map_location; its file may excuse it, too."""
PUBLISHED_FILE = Excuse("published", "published checkpoints are saved for every machine")
PROGRAM_FILE = Excuse("program-file", "the file lies next to the program and is part of it")
OWN_FILE = Excuse("own-file", "the same run wrote the file, on this machine")
TEST_FILE = Excuse("test-file", "a test loads a file that the tests bring or write")
CPU_FILE = Excuse("cpu-file", "the program saves the file from the CPU")
CPU_PROGRAM = Excuse("cpu-program", "the program only uses the CPU, and names the file itself")
OFFLOADED = Excuse("offloaded", "the program moves values to the CPU before it saves them")
FOR_ACCELERATORS = Excuse("accelerators-only", "the program does not run without an accelerator")
NO_CHECKPOINT = Excuse("no-checkpoint", "nothing shows that the file holds tensors")
