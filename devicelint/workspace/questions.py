"""What is asked about the files of a project, and which files an answer rests on."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class Question(NamedTuple):
    """What was asked in one file: an import, a submodule, or what the project around it does."""

    module: str
    level: int
    """How many dots an import has; one of the numbers below for what is no import."""


@lru_cache(maxsize=8_000)
def asking(module: str, level: int) -> Question:
    """A question that many files ask: they share it in memory."""
    return Question(module, level)


INSIDE = -1
"""A submodule of the package that the file is."""
ABOUT = -2
"""Which file of the programs around does something: one of the words below says what."""
DEMANDED = -3
"""In which file a function of the file may go to an accelerator."""
PLACED = -4
"""Where the file lies: at which root, and what marks that."""
MENTIONED = -5
"""Whether another file mentions a name."""
CALLABLE = -6
"""Whether another file, or whoever installs the project, may call a function."""
KNOWN = -7
"""Whether few files may call a function, and nobody else."""
CALLERS = -8
"""The files that are walked for what they give to a function."""
LOADERS = -9
"""The files that are walked for what a function loads where they call another one."""
SAVERS = -10
"""The files that are walked for the checkpoints that they save."""

CHOOSES = "chooses"
"""A file around that chooses the machine."""
LEADS = "leads"
"""A file that chooses the machine, of a program that imports the file."""
TAKES = "takes"
"""A program that imports the file, or the file itself, which goes to an accelerator in any case."""
LETS = "lets"
"""A file around, or the file itself, that goes to a device that somebody names."""
DEFAULTS = "defaults"
"""A file of the project that sets the device of tensors that are given none."""
STARTS = "starts"
"""A program around, or the file itself, where it is one."""
ON_CPU = "on the CPU"
"""A program around, or the file itself, of a project that trains and never leaves the CPU."""
APART = "apart"
"""The file itself, where it lies alone and is no program: nothing says who uses it."""
TESTED = "tested"
"""A test beside the file, which tests something else, where nothing but tests imports the file."""

AT_TIMES = "at times"
"""A file that imports the file under a condition, where none imports it in any case."""
BUILDS = "builds"
"""The file itself, where it cannot be imported without what CUDA's compiler makes."""
IMPORTED = "imported"
"""A file that imports the file, and is no test."""

PROGRAM = "program"
"""A program of the project, whatever it uses."""
ASKED = "asked"
"""A file that imports the file, where all that do go by what the machine has, and by no name."""

RUNS = "runs"
"""The file itself, where it is a program or a test: what it makes go wrong elsewhere is found."""
LEADING = "leading"
"""The programs and tests that import the file: the nearest, as many as are asked."""
MOST_LEADING = 8

_SEPARATOR = "\0"
"""It is in no path."""
_WALKED = frozenset({CALLERS, LOADERS, SAVERS})


def joined(homes: Iterable[str]) -> str | None:
    """An answer that names several files; None where it names none."""
    return _SEPARATOR.join(homes) or None


def parts_of(answer: str | None) -> tuple[str, ...]:
    """The files that such an answer names."""
    return () if answer is None else tuple(answer.split(_SEPARATOR))


def read_for(question: Question, answer: str | None) -> tuple[str, ...]:
    """The files whose content matters to whoever has got an answer, and not only their names."""
    if question.level >= INSIDE:
        return () if answer is None else (answer,)
    if question.level in _WALKED or question == (LEADING, ABOUT):
        return tuple(filter(None, parts_of(answer)))
    return ()


def named_in(question: Question, answer: str | None) -> tuple[str, ...]:
    """The files that an answer names, whether their content matters or not."""
    if question.level in (ABOUT, DEMANDED) and question.module != LEADING:
        return () if answer is None else (answer,)
    return read_for(question, answer)


def what_counts(question: Question, answer: str | None) -> str | None:
    """What of an answer matters: of many it is only whether there is one."""
    if answer is None or question.level in (DEMANDED, MENTIONED, CALLABLE, KNOWN):
        return answer and "yes"
    return "yes" if question.level == ABOUT and question.module != LEADING else answer
