"""What a program is for, as a rule may ask for it."""

from __future__ import annotations

from devicelint.domain.history import Site
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.failures import (
    contradicts,
    is_for_cuda_alone,
    is_for_whoever_has_one,
    walked_alone_as,
)
from devicelint.interpreter.facts.machines import intended
from devicelint.interpreter.facts.machines.around import is_imported_at_times
from devicelint.interpreter.facts.machines.choices import is_chosen_here, is_program, is_required


class Intent:
    """What the program is for, and what it is prepared for."""

    def __init__(self, run: Run, frame: Frame) -> None:
        self._run = run
        self._frame = frame

    def is_chosen_here(self) -> bool:
        """Whether what leads here chooses the machine that it runs on."""
        return is_chosen_here(self._run)

    def is_first(self) -> bool:
        """Whether nothing before has raised on this machine, nor may have unseen."""
        return not (self._run.state.failed or self._run.state.doubted)

    def is_doubted(self) -> bool:
        """Whether something before may have raised on this machine, which nobody has followed."""
        return self._run.state.doubted

    def functions(self) -> tuple[Site, ...]:
        """The function that is walked here, the one that called it, and so on."""
        return tuple(frame.node for frame in self._run.frame.outwards())

    def is_for_cuda_alone(self) -> bool:
        """Whether nothing in the file leads here, and what may lead here has asked for CUDA."""
        return is_for_cuda_alone(self._run)

    def takes_machine_as_it_is(self) -> bool:
        """Whether this is a program that chooses nowhere which machine it runs on.

        What ends where there is no accelerator says so itself, and what others import under a
        condition may be for the machines that meet it.
        """
        if not is_program(self._run) or is_required(self._run):
            return False
        if is_imported_at_times(self._run):
            return False
        return not is_chosen_here(self._run)

    def is_for_whoever_has_one(self) -> bool:
        """Whether nothing says who uses this, and nobody can without an accelerator."""
        return is_for_whoever_has_one(self._run)

    def demands_on_purpose(self) -> bool:
        """Whether the script needs a GPU anyway: it sets one up, or talks to CUDA itself."""
        return intended.demands_on_purpose(self._run.module)

    def works_on_purpose(self) -> bool:
        """Whether the script does more with CUDA than to ask for its state."""
        return intended.works_on_purpose(self._run.module)

    def imports_for(self, kind: str) -> bool:
        """Whether the file needs a library that there is for this kind of accelerator alone."""
        return intended.imports_for(self._run.module, kind)

    def is_tried(self) -> bool:
        """Whether the code around is prepared for this to fail."""
        return bool(self._run.expected)

    def contradicts(self, *, is_chosen: bool, at_times: bool) -> bool:
        """Whether the code shows that it is for a machine without an accelerator, too."""
        return contradicts(self._run, is_chosen=is_chosen, at_times=at_times)

    def walked_alone_as(self) -> tuple[str, ...]:
        """The names of the functions around, where nobody in the program calls the outermost."""
        return walked_alone_as(self._run)
