"""Lines that raise on a machine without an accelerator: what follows them does not happen there.

Where such a line is itself a mistake that is reported, the program is meant for that machine, and
what follows is looked at as though the line were mended.
"""

from __future__ import annotations

from devicelint.domain.devices import DEVICE_TYPES, DeviceOf, Known
from devicelint.domain.history import Site
from devicelint.domain.standing import CERTAIN, Level, Standing
from devicelint.domain.values import Module
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.facts.entries import entries_of
from devicelint.interpreter.facts.host_callers import (
    is_handed_out_by_tests,
    is_of_parallel_wrapper,
    is_reached_from_tests,
)
from devicelint.interpreter.facts.machines import intended
from devicelint.interpreter.facts.machines.around import (
    is_built_for_cuda,
    is_chosen_beside,
    is_for_anybody,
    is_imported_around,
    is_taken_by_some,
)
from devicelint.interpreter.facts.machines.choices import (
    is_chosen_here,
    is_needed_here,
    is_of_class_for_cuda,
    note_required,
)
from devicelint.interpreter.facts.named_devices import devices_at_hand
from devicelint.interpreter.facts.saved_files import beginning_of


def fail(run: Run) -> None:
    """The line raises on this machine, and nothing is said of it: nothing follows it there.

    A switch that is written into the file is turned by whoever has such a machine.
    """
    if not (run.world.accelerators or run.switches):
        run.state.failed = True


def insist(run: Run) -> None:
    """The program asks for accelerators here, as who starts NCCL or takes one by rank does.

    Where that happens in any case, it says what it needs, and nobody has to tell it.
    """
    if not run.assumptions:
        note_required(run)
    fail(run)


def clear_failures(run: Run) -> None:
    """Nothing has failed yet, unless the file cannot even be imported on this machine."""
    run.state.dead = run.state.failed = run.state.doubted = False
    if not run.world.accelerators and is_built_for_cuda(run):
        insist(run)


def doubt(run: Run) -> None:
    """This may raise on this machine, and nobody sees whether it does."""
    if not (run.world.accelerators or run.switches):
        run.state.doubted = True


class Unfollowed(Notes):
    """What is handed to calls that nobody follows, and which may fail on this machine."""

    def __init__(self) -> None:
        self.given: set[Site] = set()
        """The functions that are called in there, where nothing else calls them."""


class Raising(Notes):
    """Lines that raise without an accelerator, whatever the settings are, and may be reported."""

    def __init__(self) -> None:
        self.lines: set[tuple[Site, Site, frozenset[str]]] = set()
        """Each with where the walk began that came there, and the questions that led to it."""


def note_raising(run: Run, line: Site) -> None:
    """A line raises here on this machine: what follows it bites once that is mended."""
    if run.world.accelerators or run.assumptions or run.switches or run.muted_parts:
        return
    beginning, settings = beginning_of(run), frozenset(run.settings)
    run.notes(Raising).lines.add((line, beginning, settings))


def raising_before(run: Run) -> frozenset[Site]:
    """The lines that raise on the way here."""
    beginning, settings = beginning_of(run), frozenset(run.settings)
    return frozenset(
        line
        for line, began, asked in run.notes(Raising).lines
        if began is beginning and asked <= settings
    )


class Unreported(Notes):
    """What failed last without a word."""

    def __init__(self) -> None:
        self.last: tuple[Known, Site] | None = None
        """The device that was gone to, and what did so."""


def fail_at(run: Run, device: Known, site: Site) -> None:
    """The line goes to a device that this machine lacks, where nothing keeps it from that."""
    if not run.state.failed:
        run.notes(Unreported).last = device, site
    fail(run)


def fail_unless_reported(run: Run, device: Known, site: Site) -> None:
    """A device is gone to that this machine lacks, which is reported where it is a mistake."""
    if not (run.world.accelerators or run.state.failed or is_mistake(run, device)):
        fail_at(run, device, site)


def is_mistake(run: Run, device: Known) -> bool:
    """Whether to go to an accelerator here contradicts what the code else provides for."""
    if run.muted_parts or not run.frame.is_checked or is_for_cuda_alone(run):
        return False
    if intended.imports_for(run.module, device.type):
        return False
    at_hand = devices_at_hand(run, run.frame, device)
    return contradicts(run, is_chosen=any(one.literal is None for one in at_hand))


def contradicts(run: Run, *, is_chosen: bool, at_times: bool = False) -> bool:
    """Whether the code shows that it is for a machine without that accelerator, too.

    It asks for one elsewhere, has a device at hand that something else chose, or is a Module's
    method, which goes by where its caller keeps the Module.  A condition may be the choice itself.
    What asks CUDA for its current device cannot do without it, whatever is at hand.
    """
    if is_for_cuda_alone(run):
        return False
    if is_method_of_callers_module(run):
        return True
    if at_times or is_chosen_here(run):
        return not at_times
    return is_chosen and not is_needed_here(run)


def is_for_cuda_alone(run: Run) -> bool:
    """Whether nothing in the file leads here, and what may lead here has asked for CUDA.

    It is the method with which a Module goes there, a method of a class that needs CUDA elsewhere,
    or what tests hand to others: those may be left out where there is none.
    """
    names = walked_alone_as(run)
    if not names:
        return False
    if names[-1] in DEVICE_TYPES and isinstance(run.frame.receiver, Module):
        return True
    return is_of_class_for_cuda(run) or is_handed_out_by_tests(run)


def is_for_whoever_has_one(run: Run) -> bool:
    """Whether nothing says who uses this, and nobody can without an accelerator.

    The method with which a Module goes there is for those who have one, and so is what tests ask.
    """
    names = walked_alone_as(run)
    if not names or names[-1] in DEVICE_TYPES or is_reached_from_tests(run):
        return False
    return is_for_anybody(run) and not is_handed_out_by_tests(run)


def is_method_of_callers_module(run: Run) -> bool:
    """Whether this is a Module's method that nothing in the program calls.

    The programs around choose the machine, or nothing else is seen to use the file, and others in
    it have to go where their inputs are.
    """
    if not isinstance(run.frame.receiver, Module) or not walked_alone_as(run):
        return False
    if is_of_parallel_wrapper(run):
        return False
    if is_chosen_beside(run):
        return True
    if is_taken_by_some(run) or is_imported_around(run):
        return False
    return intended.follows_others(run.module)


def standing_of_demand(run: Run) -> Standing:
    """How sure it is that going to an accelerator here is a mistake: a Module needs a caller."""
    if not is_method_of_callers_module(run):
        return CERTAIN
    return Standing(Level.MODULE, entries=entries_of(run, (DeviceOf("self"),)))


def walked_alone_as(run: Run) -> tuple[str, ...]:
    """The names of the functions around, where nobody in the program calls the outermost."""
    names: list[str] = []
    for frame in run.frame.outwards():
        names.append(frame.name)
        if frame.caller is not None and frame.site is None:
            return tuple(names)
    return ()
