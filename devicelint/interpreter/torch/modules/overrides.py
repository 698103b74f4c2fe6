"""`_apply`, where a class overrides it: what moves a Module calls that of each of its parts."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import (
    Batch,
    Function,
    Module,
    Mover,
    Placed,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import member_of
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import calls
from devicelint.interpreter.python.functions import call_function


def moves_by_itself(run: Run, module: Module, place: Placed) -> bool:
    """Walk the `_apply` of a Module, where its class has one: it says what moves."""
    member = member_of(run, module.ref, "_apply")
    if not isinstance(member, Function):
        return False
    given = Arguments([Argument(place.since.site, Mover(place.device, place.since))])
    call_function(run, member, given, None, receiver=module)
    return True


@calls(Mover)
def bring_along(run: Run, mover: Mover, arguments: Arguments, site: cst.Call) -> Value:
    """`fn(self.mask)` in an `_apply`."""
    given = arguments.get(0, "t")
    if given is None or not isinstance(given.value, (Tensor, Batch, Placed)):
        return Unknown("what is moved is not known")
    return replace(given.value, device=mover.device, since=mover.since)
