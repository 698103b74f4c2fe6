"""Calls of what stands for a function: a bound method, a partial."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    Bound,
    Function,
    Partial,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import calls
from devicelint.interpreter.python.functions import call_function


@calls(Bound)
def call_bound(run: Run, callee: Bound, arguments: Arguments, site: cst.Call) -> Value:
    if isinstance(callee.function, Function):
        return call_function(run, callee.function, arguments, site, receiver=callee.receiver)
    return run.call(callee.function, arguments, site)


@calls(Partial)
def call_partial(run: Run, callee: Partial, arguments: Arguments, site: cst.Call) -> Value:
    sites = iter(callee.sites)
    given = [Argument(next(sites, site), value) for value in callee.args]
    named = {name: Argument(next(sites, site), value) for name, value in callee.keywords}
    merged = Arguments(
        [*given, *arguments.positional], {**named, **arguments.keywords}, arguments.open
    )
    return run.call(callee.function, merged, site)
