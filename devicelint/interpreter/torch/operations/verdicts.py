"""Every kind of clash is judged here, and nowhere else: is it excused, and how sure is it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from devicelint.domain.devices import CPU, DeviceOf
from devicelint.domain.events import Operand
from devicelint.domain.history import Site, Verb
from devicelint.domain.standing import Level, Standing
from devicelint.domain.values import Placed
from devicelint.domain.verdicts import Excuse, Judged, Verdict
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.entries import entries_of, named_by_callers
from devicelint.interpreter.facts.host_callers import (
    is_of_computing_class,
    is_reached_from_constructor,
)
from devicelint.interpreter.facts.module_inputs import is_input_of_module
from devicelint.interpreter.facts.movable import is_placed_beside, symbols_of
from devicelint.interpreter.facts.tensor_parameters import is_only_said, is_part_of_module
from devicelint.interpreter.python.unseen import is_element_of_outside
from devicelint.interpreter.torch.operations.excuses import (
    FAILS_BEFORE,
    INPUT,
    NAMED,
    READ,
    ExcuseCase,
    Operands,
    is_received,
    is_undeclared,
    is_unseen,
    meets_own_device,
    places_of,
)

MUTED = Excuse("not-heard", "this call is only analysed for its result, and may never happen")
FAILS = Excuse("raises", "a test expects this to raise")
ELSEWHERE = Excuse("another-file", "it happens in another file: it is reported there")
CPU_SETTING = Excuse("cpu-setting", "a setting of the program keeps everything on the CPU here")


class _Place(NamedTuple):
    """Where something happens, and in which function it is told."""

    site: Site
    what: str
    frame: Frame


def judged(
    run: Run,
    site: Site,
    what: str,
    operands: Operands,
    grounds: tuple[ExcuseCase, ...],
    told_in: Frame | None = None,
) -> Standing | None:
    """How sure a clash is; None where an excuse holds for it.

    It is told in the function that runs, unless the mistake is that of one that has called it.
    """
    frame = told_in or run.frame
    if _is_excused(run, _Place(site, what, frame), operands, grounds):
        return None
    if grounds is not NAMED:
        run.program.clashing.update(_elsewhere(run, operands, frame))
    return standing_of(run, operands, grounds)


def _elsewhere(run: Run, operands: Operands, frame: Frame) -> Iterator[object]:
    """What another file than the checked one has to do with a clash, and would have to report."""
    if not frame.is_checked:
        yield frame.home
    steps = (one.since for one in operands if one.since is not None)
    yield from (one.kept for one in steps if one.kept is not None and one.site not in run.made_in)


def is_excused(
    run: Run, site: Site, what: str, grounds: tuple[ExcuseCase, ...], *, is_last: bool = True
) -> bool:
    """Whether an excuse holds for what has no operands.

    Where more is asked of it later, as of a checkpoint, only the last answer can be that none does.
    """
    return _is_excused(run, _Place(site, what, run.frame), (), grounds, is_last=is_last)


def _is_excused(
    run: Run,
    place: _Place,
    operands: Operands,
    grounds: tuple[ExcuseCase, ...],
    *,
    is_last: bool = True,
) -> bool:
    """Whether one of the grounds holds; who asks about verdicts hears of all."""
    if not run.explains:
        return any(ground.holds(run, operands) for ground in grounds)
    excuses = tuple(ground.excuse for ground in grounds if ground.holds(run, operands))
    if excuses or is_last:
        standing = standing_of(run, operands, grounds)
        all_of_them = dict.fromkeys((*excuses, *_around(run, standing.level, place.frame)))
        verdict = Verdict(standing, operands, tuple(all_of_them))
        run.explain(Judged(place.site, place.what, verdict))
    return bool(excuses)


def _around(run: Run, level: Level, frame: Frame) -> tuple[Excuse, ...]:
    """What keeps an event from being reported, whatever it is of."""
    is_contract = level in (Level.MODULE, Level.POSSIBLE)
    cases = (
        (FAILS, bool(run.meant_to_fail)),
        (MUTED, run.muted_parts > run.meant_to_fail),
        (FAILS_BEFORE, run.state.failed),
        (ELSEWHERE, not frame.is_checked),
        (CPU_SETTING, is_contract and run.world.is_set_to_the_cpu),
    )
    return tuple(excuse for excuse, holds in cases if holds)


def standing_of(run: Run, operands: Operands, grounds: tuple[ExcuseCase, ...]) -> Standing:
    """How sure a clash is, what would make it surer, and who would have to make it happen."""
    if not is_received(run, operands):
        named = named_by_callers(run, (one.device for one in operands))
        return Standing(_level_of_known(operands, grounds), entries=named)
    standing = _standing_of_callers(run, operands, grounds)
    if standing.level is Level.POSSIBLE:
        return standing
    received = (one.device for one in operands if isinstance(one.device, DeviceOf))
    return replace(standing, entries=entries_of(run, received))


def _standing_of_callers(run: Run, operands: Operands, grounds: tuple[ExcuseCase, ...]) -> Standing:
    """How sure a clash is with what callers choose.

    What is read as an array may be one, where nothing declares it to be a tensor; and what a
    constructor reads, nothing has moved yet: it is made before what it makes is.
    """
    symbols = symbols_of(run, operands)
    is_built = grounds is READ and is_reached_from_constructor(run)
    if is_built or any(map(is_kept_of_maker, operands)):
        return Standing(Level.POSSIBLE, symbols, is_known=not is_undeclared(run, operands))
    only_said = any(is_only_said(run, place) for place in places_of(operands))
    received = [one.device for one in operands if isinstance(one.device, DeviceOf)]
    of_module = [one for one in received if _is_of_module(run, one)]
    goes = grounds is NAMED and not of_module
    if any(map(is_placed_beside, operands)) and not only_said:
        return Standing(Level.OWN_RULE, symbols, goes=goes)
    if grounds is READ and is_undeclared(run, operands):
        return Standing(Level.POSSIBLE, symbols, may_be_array=True)
    if only_said or is_unseen(run, operands):
        is_known = not only_said and _are_all_callers(run, operands)
        return Standing(Level.POSSIBLE, symbols, is_known=is_known)
    if is_of_computing_class(run) or len(of_module) == len(received):
        return Standing(Level.MODULE, symbols)
    is_rule = meets_own_device(operands)
    has_own = grounds is NAMED or (grounds is INPUT and operands[0].device == CPU)
    level = Level.OWN_RULE if is_rule else Level.POSSIBLE
    is_known = not is_undeclared(run, operands)
    return Standing(level, symbols, has_own, goes=goes, is_known=is_known)


def is_kept_of_maker(operand: Operand) -> bool:
    """Whether a Module was given it as it was made, and keeps it as a plain tensor."""
    since = operand.since
    if since is None or since.kept is None or not isinstance(operand.device, DeviceOf):
        return False
    return since.verb is Verb.RECEIVED and not operand.device.is_unseen


def _are_all_callers(run: Run, operands: Operands) -> bool:
    """Whether what callers give, and the elements of it, are tensors for sure."""
    received = [one.device for one in operands if isinstance(one.device, DeviceOf)]
    are_theirs = all(not one.is_unseen or is_element_of_outside(one) for one in received)
    return are_theirs and not is_undeclared(run, operands)


def _is_of_module(run: Run, device: DeviceOf) -> bool:
    """Whether a Module is called with a tensor, or owns it."""
    return is_input_of_module(run, device) or is_part_of_module(run, device.place)


def _level_of_known(operands: Operands, grounds: tuple[ExcuseCase, ...]) -> Level:
    """How sure a clash is of two devices that are both known, or taken for known.

    A loader that is not seen may move what it yields, and what is not seen and called may move
    what it is given: that another loop does so, or that it was moved itself, shows too little.
    What a DataLoader yields, it is given in a program's loops: they call a Module.
    """
    if grounds is INPUT and _is_moved_unseen(operands[0]) and not _is_loaded(operands[1]):
        return Level.POSSIBLE
    if any(one.since is not None and one.since.verb in _GUESSED for one in operands):
        return Level.POSSIBLE
    return Level.OWN_RULE if any(map(_is_believed, operands)) else Level.CERTAIN


_GUESSED = frozenset({Verb.BESIDE, Verb.AGAIN})
"""Where it lies is shown by a loop alone, over what is not seen."""


def _is_moved_unseen(operand: Operand) -> bool:
    """Whether something unseen was moved, which may be a Module, and may be what holds one."""
    is_built = operand.since is not None and operand.since.verb is Verb.BUILT
    return isinstance(operand.value, Placed) and not is_built


def _is_loaded(operand: Operand) -> bool:
    return operand.since is not None and operand.since.verb is Verb.LOADED


def _is_believed(operand: Operand) -> bool:
    """Whether the code takes for granted where it is, or what it is."""
    is_taken = operand.since is not None and operand.since.believed
    return is_taken or isinstance(operand.value, Placed)
