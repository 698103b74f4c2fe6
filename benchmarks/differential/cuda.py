"""The GPUs of this computer, for programs that run on CUDA itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from benchmarks.differential.outcomes import MACHINES
from benchmarks.differential.restoring import SEED


class ContextLost(Exception):
    """A program has left CUDA where every further call of this process fails."""


@dataclass(frozen=True)
class Cuda:
    """The one machine that this computer is.

    Attributes:
        gpus: how many GPUs it counts as: with more than two it is one with several.
        name: what the first is called.
    """

    gpus: int
    name: str

    def begin(self) -> None:
        """Put what programs may change of CUDA where a new process has it."""
        with _asked():
            torch.cuda.init()
            for number in reversed(range(torch.cuda.device_count())):
                torch.cuda.set_device(number)
                torch.cuda.set_stream(torch.cuda.default_stream())
            torch.cuda.manual_seed_all(SEED)

    def settle(self) -> None:
        """Wait for all that a program has asked for.

        An error of its kernels may not have come up yet, or the program may have caught it. The
        type of an error does not tell whether more can follow, as it does after an "invalid
        device ordinal": only asking CUDA again does.

        Raises:
            ContextLost: CUDA only says what went wrong.
        """
        with _asked():
            for number in range(torch.cuda.device_count()):
                torch.cuda.synchronize(number)


def cuda_here() -> Cuda | None:
    """The GPUs of this computer; None where torch can use none."""
    if not torch.cuda.is_available():
        return None
    gpus = min(torch.cuda.device_count(), max(MACHINES))
    return Cuda(gpus, torch.cuda.get_device_name(0))


@contextmanager
def _asked() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # torch.AcceleratorError is one.
        said = str(error).partition("\n")[0]
        raise ContextLost(f"{said}: nothing that follows in this process can be judged") from error
