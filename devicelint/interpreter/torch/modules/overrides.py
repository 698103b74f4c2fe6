"""`_apply`, where a class overrides it: what moves a Module calls that of each of its parts."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.values import (
    Batch,
    Function,
    Module,
    Mover,
    OneOf,
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
    _take_for_moved(run, module, place)
    return True


def _take_for_moved(run: Run, module: Module, place: Placed) -> None:
    """What one path moves is moved: the others are there for what changes the type alone."""
    for name, value in tuple(run.state.fields(module.ref).items()):
        options = value.options if isinstance(value, OneOf) else ()
        moved = next((one for one in options if _is_at(one, place)), None)
        if moved is not None:
            run.state.write(module.ref, name, moved)


def _is_at(value: Value, place: Placed) -> bool:
    return isinstance(value, (Tensor, Batch, Placed)) and value.device == place.device


@calls(Mover)
def bring_along(run: Run, mover: Mover, arguments: Arguments, site: cst.Call) -> Value:
    """`fn(self.mask)` in an `_apply`."""
    given = arguments.get(0, "t")
    if given is None or not isinstance(given.value, (Tensor, Batch, Placed)):
        return Unknown("what is moved is not known")
    return replace(given.value, device=mover.device, since=mover.since)
