"""What excuses a clash of devices: every kind of clash is judged here, and nowhere else.

A clash that no excuse holds for is reported.  The excuses of a kind stand in one tuple, in the
order in which they are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from devicelint.domain.devices import CPU, Agreement, Device, DeviceOf, Opaque, agreement
from devicelint.domain.events import Operand
from devicelint.domain.history import Site
from devicelint.domain.values import Module, Placed, Symbolic
from devicelint.domain.verdicts import Excuse, Judged, Level, Verdict
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts import caller_contracts as contracts
from devicelint.interpreter.facts.tensor_parameters import is_declared, is_doubted, is_proven
from devicelint.interpreter.facts.tensor_uses import is_used_as_tensor

DIFFERENT = (Agreement.DIFFERENT, Agreement.DIFFERENT_UNLESS_CPU)

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
    own, given = operands
    return was_to_go(given, own.device)


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
    return is_used_as_tensor(run, operand.value.origin)


def _is_undeclared(run: Run, operands: Operands) -> bool:
    places = (one.device.place for one in operands if isinstance(one.device, DeviceOf))
    return any(place != "self" and not is_declared(run, place) for place in places)


def _received(run: Run, operands: Operands) -> bool:
    """Whether a caller gives one of them."""
    return any(isinstance(one.device, DeviceOf) for one in operands)


def _is_unseen(run: Run, operands: Operands) -> bool:
    """What is not seen lies with the tensors that it was given, inside of a Module."""
    lineages = [one.device.lineage for one in operands if isinstance(one.device, DeviceOf)]
    unseen = [lineage for lineage in lineages if lineage is not None]
    return bool(unseen) and not (all(unseen) and _is_in_module(run))


def _expects(exception: str) -> ExcuseCase:
    return _ground(
        "prepared",
        f"the code is prepared for the {exception} that torch raises",
        lambda run, _: run.expects(exception),
    )


DISCARDED = "a move whose result is thrown away would have prevented it: that is reported"
DISCARDED_MOVE = _ground("discarded-move", DISCARDED, _was_to_meet)
DISCARDED_MOVE_OF_INPUT = _ground("discarded-move", DISCARDED, _input_was_to_go)
DISCARDED_COPY = _ground("discarded-move", DISCARDED, _was_to_come)
NUMBER = _ground(
    "no-tensor", "nothing shows that what comes from outside is a tensor", _may_be_a_number
)
UNDECLARED = _ground(
    "undeclared", "no declaration says that the caller gives a tensor", _is_undeclared
)
UNSEEN = _ground(
    "unseen", "nothing shows on which device code that is not seen gives a tensor", _is_unseen
)
SENT = _ground("sent-on", "the caller's tensor is sent on, wherever the caller has it", _received)

# -- where callers keep their tensors ----------------------------------------------------------


def _is_callers_choice(operands: Operands) -> bool:
    return any(contracts.is_of_caller(one.device) for one in operands)


def _meets_own_device(operands: Operands) -> bool:
    return _is_callers_choice(operands) and any(contracts.is_apart(one.device) for one in operands)


def _chosen_as_cpu(run: Run, operands: Operands) -> bool:
    is_chosen = any(isinstance(one.device, Opaque) for one in operands)
    return is_chosen and contracts.may_be_chosen_as_cpu(run)


def _off_cuda(run: Run, operands: Operands) -> bool:
    return _is_callers_choice(operands) and contracts.is_off_cuda(run)


def _not_updated(run: Run, operands: Operands) -> bool:
    if not _meets_own_device(operands):
        return False
    return not all(contracts.is_given_to_update(run, one.device) for one in operands)


def _where_callers_choose(says: Callable[[Run], bool]) -> Callable[[Run, Operands], bool]:
    """What the code says of callers in general, where no device of its own is kept apart."""

    def holds(run: Run, operands: Operands) -> bool:
        chosen = _is_callers_choice(operands) and not _meets_own_device(operands)
        return chosen and says(run)

    return holds


def _where_received(says: Callable[[Run], bool]) -> Callable[[Run, Operands], bool]:
    return lambda run, operands: _received(run, operands) and says(run)


HOST_CODE: tuple[tuple[str, str, Callable[[Run], bool]], ...] = (
    (
        "cpu-script",
        "the file is a program that never speaks of a device: it decides for the CPU",
        contracts.is_in_script_on_the_cpu,
    ),
    ("test-file", "the file is a test, which makes what it uses", contracts.is_in_test_file),
    (
        "host-function",
        "the function works on the CPU by its name: it tests, or it prepares data",
        contracts.is_in_host_function,
    ),
    ("collates", "the function puts batches together for a loader", contracts.is_in_collate),
    (
        "host-class",
        "the class works on the CPU by its name or a base: it tests, or it prepares data",
        contracts.is_in_host_class,
    ),
)
"""Code whose callers keep their tensors on the CPU."""

CALLERS = (
    _ground(
        "cpu-chosen",
        "a condition around it may mean that the chosen device is the CPU",
        _chosen_as_cpu,
    ),
    _ground("off-cuda", "a test of .is_cuda says that the tensor is not on CUDA here", _off_cuda),
    _ground(
        "own-device",
        "what keeps to a device of its own is not updated with the caller's tensor here",
        _not_updated,
    ),
    *(_ground(name, reason, _where_callers_choose(says)) for name, reason, says in HOST_CODE),
    _ground(
        "cpu-object",
        "the object keeps a device of its own, which is the CPU",
        _where_callers_choose(contracts.is_of_object_on_the_cpu),
    ),
)
"""A caller may choose the device, and the code says that this is the CPU."""

# -- the excuses of each kind of clash ---------------------------------------------------------

CLASH = (DISCARDED_MOVE, NUMBER, UNSEEN, *CALLERS)
"""Of two operands: the one to move, and the one that it meets."""
INPUT = (DISCARDED_MOVE_OF_INPUT, UNSEEN, *CALLERS)
"""Of a module and its input."""
READ = (
    _expects("TypeError"),
    DISCARDED_COPY,
    UNSEEN,
    UNDECLARED,
    *(_ground(name, reason, _where_received(says)) for name, reason, says in HOST_CODE),
)
"""Of what is read as an array on the host."""
READ_TO_SEND = (_expects("TypeError"), DISCARDED_COPY, UNSEEN, SENT)
"""Of what is sent to another process."""
DEMAND = (_expects("RuntimeError"), UNSEEN)
"""Of what torch takes on one device alone: lengths, memory to pin, what a group reaches."""

LOAD = (
    _ground(
        "device-chosen",
        "a condition about devices leads here, which chose the machine",
        lambda run, _: bool(run.device_choices),
    ),
    _expects("RuntimeError"),
)
"""Of a checkpoint that is loaded without map_location; its file may excuse it, too."""
OWN_FILE = Excuse("own-file", "this very run has written the file, on this machine")
CPU_FILE = Excuse("cpu-file", "the file comes from code that knows the CPU alone")
OFFLOADED = Excuse("offloaded", "the program saves what it has from the CPU")
FOR_ACCELERATORS = Excuse("accelerators-only", "the program does not run without an accelerator")
NO_CHECKPOINT = Excuse("no-checkpoint", "nothing shows that the file holds tensors")

# -- judging -----------------------------------------------------------------------------------

MUTED = Excuse("not-heard", "this is walked to learn what it gives, and may never happen")
ELSEWHERE = Excuse("another-file", "it happens in another file: it is reported there")
CPU_SETTING = Excuse("cpu-setting", "a setting of the program keeps everything on the CPU here")


def is_excused(
    run: Run,
    site: Site,
    what: str,
    operands: Operands,
    grounds: tuple[ExcuseCase, ...],
    *,
    is_last: bool = True,
) -> bool:
    """Whether an excuse holds for a clash; who asks about verdicts hears of all.

    Where more is asked of it later, as of a checkpoint, only the last answer can be that none does.
    """
    if not run.explains:
        return any(ground.holds(run, operands) for ground in grounds)
    excuses = tuple(ground.excuse for ground in grounds if ground.holds(run, operands))
    if excuses or is_last:
        level = level_of(run, operands)
        verdict = Verdict(level, operands, (*excuses, *_around(run, level)))
        run.explain(Judged(site, what, verdict))
    return bool(excuses)


def _around(run: Run, level: Level) -> tuple[Excuse, ...]:
    """What keeps an event from being reported, whatever it is of."""
    is_contract = level in (Level.MODULE, Level.POSSIBLE)
    cases = (
        (MUTED, bool(run.muted_parts)),
        (ELSEWHERE, not run.frame.is_checked),
        (CPU_SETTING, is_contract and run.world.is_set_to_the_cpu),
    )
    return tuple(excuse for excuse, holds in cases if holds)


def level_of(run: Run, operands: Operands) -> Level:
    """How sure a clash is."""
    if _received(run, operands):
        return Level.MODULE if _is_in_module(run) else Level.POSSIBLE
    shown = (isinstance(one.value, Placed) or _is_believed(one) for one in operands)
    return Level.OWN_RULE if any(shown) else Level.CERTAIN


def _is_believed(operand: Operand) -> bool:
    return operand.since is not None and operand.since.believed


def _is_in_module(run: Run) -> bool:
    frame: Frame | None = run.frame
    while frame is not None:
        if isinstance(frame.receiver, Module):
            return True
        frame = frame.caller
    return False
