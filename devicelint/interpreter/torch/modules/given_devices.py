"""Modules that are given a device as they are built: all that they make belongs there.

`nn.Linear(n, n, device=device)` beside `nn.Linear(n, n)`: torch's own layers take `device` for all
of their parameters, and whoever gives it to a Module does not expect that one part ignores it.
"""

from __future__ import annotations

from collections.abc import Iterator

from devicelint.domain.devices import CPU, Opaque
from devicelint.domain.history import Verb
from devicelint.domain.values import Instance, Module, Placed, Tensor
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.torch.modules.registration import owns_tensors

_MADE = (Verb.BUILT, Verb.CREATED, Verb.CREATED_ON)


def is_made_apart(run: Run, made: Module | Instance) -> bool:
    """Whether a Module makes one part on a device that it was given, and another on the CPU."""
    if not isinstance(made, Module):
        return False
    devices = [one.device for one in _made_parts(run, made)]
    return CPU in devices and any(isinstance(one, Opaque) for one in devices)


def _made_parts(run: Run, made: Module) -> Iterator[Tensor | Placed]:
    """The parameters, and where the Modules are, that were made and not moved since."""
    for name, value in run.state.fields(made.ref).items():
        if name.startswith("@"):
            continue
        part: Tensor | Placed | None = None
        if isinstance(value, Module) and owns_tensors(run, value):
            part = module_device(run, value)
        elif isinstance(value, Tensor) and value.role == "parameter":
            part = value
        if part is not None and part.since.verb in _MADE:
            yield part
