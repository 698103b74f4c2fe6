"""What the other files of the project do with the machine, as far as they concern this one."""

from __future__ import annotations

import os

from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.machines.choices import part_of


def is_chosen_around(run: Run) -> bool:
    """Whether another file of the programs that this one is a part of chooses the machine."""
    return _around(run, "chooses")


def is_chosen_beside(run: Run) -> bool:
    """Whether a program that imports this file, or what such a one imports, chooses the machine."""
    return _around(run, "leads")


def is_taken_around(run: Run) -> bool:
    """Whether these programs, or the file's own statements, take an accelerator for granted."""
    return is_taken_by_some(run) and not is_chosen_around(run)


def is_taken_by_some(run: Run) -> bool:
    """Whether any of them takes one for granted, whatever the others do."""
    demanding, choosing = run.program.demanding, run.program.choosing
    is_taken_here = GLOBALS in demanding and GLOBALS not in choosing
    return is_taken_here or _around(run, "takes")


def is_left_open(run: Run) -> bool:
    """Whether others may keep what they have on the CPU, or on another accelerator.

    Somebody names a device in the programs that the file is a part of, or there is no program
    around it, and nothing that imports it chooses: whoever does has a choice that it does not know.
    """
    if run.program.library is None or not run.program.path:
        return False
    return _around(run, "lets") or not (_around(run, "starts") or _around(run, "leads"))


def is_asked_by_users(run: Run) -> bool:
    """Whether all files that import this one go wherever the machine has an accelerator."""
    return _around(run, "asked")


def is_default_set_around(run: Run) -> bool:
    """Whether programs of the project say on which device tensors are made."""
    return part_of(run) != GLOBALS and is_default_set_by_some(run)


def is_default_set_by_some(run: Run) -> bool:
    """Whether any file of the project says so."""
    return _around(run, "defaults")


def is_built_for_cuda(run: Run) -> bool:
    """Whether the file imports, in any case, what is built with CUDA's compiler."""
    return _around(run, "builds")


def is_imported_around(run: Run) -> bool:
    """Whether another file of the project imports this one, besides tests of it."""
    return _around(run, "imported")


def is_imported_at_times(run: Run) -> bool:
    """Whether the files that import this one do so under conditions: about the machine, maybe."""
    return _around(run, "at times")


def is_run(run: Run) -> bool:
    """Whether the file is a program or a test: files that it imports know what it shows of them."""
    return _around(run, "runs")


def is_on_cpu_around(run: Run) -> bool:
    """Whether the programs around train, and nothing in the project has to do with a device."""
    return _around(run, "on the CPU")


def is_for_anybody(run: Run) -> bool:
    """Whether the file lies alone, is no program, and leaves nobody a choice of the machine."""
    return not run.program.choosing and _around(run, "apart")


def is_help_for_tests(run: Run) -> bool:
    """Whether the file lies among tests, and nothing else imports it."""
    return _around(run, "tested")


def _around(run: Run, what: str) -> bool:
    library, path = run.program.library, run.program.path
    if library is None or not path:
        return False
    return library.about(os.path.abspath(path), what) is not None
