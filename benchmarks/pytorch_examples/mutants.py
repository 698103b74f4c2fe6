"""Takes each move out of a script, one at a time, and sees whether the virtual GPU objects."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from benchmarks.pytorch_examples.comparing import last_line, slug
from benchmarks.pytorch_examples.launching import Machine, Outcome, launch
from benchmarks.pytorch_examples.runs import Run
from benchmarks.pytorch_examples.scratch import Scratch
from benchmarks.pytorch_examples.survivors import REASONS
from runtime_guard.mutation.failures import printed
from runtime_guard.mutation.marking import MADE, marked
from runtime_guard.mutation.moves import Move, moves_in

Fate: TypeAlias = Literal["caught", "caught in a child", "failed", "not executed", "survived"]

PROBE = '__import__("examples_probe").noted({!r})'
"""What is called with a move's index and value where a marked script has made it."""

RANK = re.compile(r"^\[\w+\]:\s?", re.MULTILINE)
"""What a launcher puts before the lines that its processes print."""


class MarkedError(Exception):
    """A script that does not run with its moves marked."""


@dataclass(frozen=True)
class Mutant:
    """A script without one of its moves, and what became of it.

    Attributes:
        run: how the script is run.
        file: which of its files the move was taken out of.
        move: the move.
        written: the line on which the move stood.
        fate: what became of it; unknown, until it has been run.
        told: the error, where there was one.
    """

    run: Run
    file: str
    move: Move
    written: str
    fate: Fate | None = None
    told: str = ""

    @property
    def reason(self) -> str:
        """Why it survives, where that was looked into."""
        return REASONS.get((self.run.name, self.file, self.written, self.move.text), "")

    @property
    def is_accounted_for(self) -> bool:
        """Whether CUDA's own text came, or would not come on CUDA either."""
        return self.fate not in ("failed", "survived") or bool(self.reason)


def mutants_of(scratch: Scratch, run: Run) -> tuple[Mutant, ...]:
    """The mutants of a run, those whose move is never made already told so.

    Where the script does not run with its moves marked, all of them have failed.
    """
    found = tuple(_found(scratch.checkout / run.folder, run))
    try:
        made = _made(scratch, run) if found else frozenset()
    except MarkedError as error:
        return tuple(replace(mutant, fate="failed", told=str(error)) for mutant in found)
    return tuple(
        mutant if (mutant.file, at) in made else replace(mutant, fate="not executed")
        for file in run.moves
        for at, mutant in enumerate(each for each in found if each.file == file)
    )


def _found(folder: Path, run: Run) -> Iterator[Mutant]:
    for file in run.moves:
        source = _source(folder / file)
        lines = source.splitlines()
        for move in moves_in(source):
            yield Mutant(run, file, move, lines[move.line - 1].strip())


def _made(scratch: Scratch, run: Run) -> frozenset[tuple[str, int]]:
    """The moves, by file and index, that the run makes in any of its processes."""
    folder = scratch.lay_out(run, f"{slug(run.name)}-marked")
    for file in run.moves:
        source = _source(folder / file)
        text = marked(source, [move.made for move in moves_in(source)])
        _write(folder / file, text.replace(MADE, PROBE.format(slug(file))))
    outcome = launch(scratch, run, folder, Machine(run.gpus, is_virtual=True))
    if not outcome.is_well:
        raise MarkedError(f"with all moves marked: {last_line(outcome.said)}")
    names = {slug(file): file for file in run.moves}
    hits = (path.name.rsplit(".", maxsplit=1) for path in (folder.parent / "probe").iterdir())
    return frozenset((names[name], int(at)) for name, at in hits)


def run_mutant(scratch: Scratch, mutant: Mutant) -> Mutant:
    """Run a mutant on virtual GPUs; one whose move is never made is left alone."""
    if mutant.fate is not None:
        return mutant
    move = mutant.move
    name = f"{slug(mutant.run.name)}-{slug(mutant.file)}-{move.line}-{move.column}"
    folder = scratch.lay_out(mutant.run, name)
    path = folder / mutant.file
    _write(path, move.removed(_source(path)))
    outcome = launch(scratch, mutant.run, folder, Machine(mutant.run.gpus, is_virtual=True))
    shutil.rmtree(folder.parent)
    fate, told = _judged(outcome)
    print(f"{mutant.run.name}, {mutant.file}:{move}: {fate}", file=sys.stderr, flush=True)
    return replace(mutant, fate=fate, told=told)


def _judged(outcome: Outcome) -> tuple[Fate, str]:
    error = printed(RANK.sub("", outcome.said).splitlines())
    if error is not None:
        told = f"{error.type}: {error.message}"
        return ("caught in a child" if outcome.is_well else "caught"), told
    if outcome.is_well:
        return "survived", ""
    return "failed", "not done in time" if outcome.status is None else last_line(outcome.said)


def _source(path: Path) -> str:
    """The text of a file, its line ends as they are."""
    return path.read_bytes().decode()


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
