"""Collate functions: what one makes of the samples of a dataset, where its body is seen."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import (
    Bound,
    Class,
    Function,
    Instance,
    Partial,
    Stream,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD, class_member
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.functions import call_function


def collated(run: Run, collate: Value, item: Value, site: Site) -> Value:
    """A collate function of the program is asked what it makes; another one is not known."""
    samples = item if isinstance(item, Unknown) else Stream(item, filled=True)
    return _called(run, collate, Arguments([Argument(site, samples)]), site)


def _called(run: Run, collate: Value, given: Arguments, site: Site) -> Value:
    """What is given back where Python calls it: no call in the code does."""
    match collate:
        case Function(node=cst.FunctionDef() | cst.Lambda()):
            return call_function(run, collate, given, None)
        case Bound(Function() as function, receiver):
            return call_function(run, function, given, None, receiver=receiver)
        case Instance(ref):
            cls = run.state.read(ref, CLASS_FIELD)
            method = class_member(run, cls, "__call__") if isinstance(cls, Class) else None
            if isinstance(method, Function):
                return call_function(run, method, given, None, receiver=collate)
        case Partial(function, args, keywords):
            before = [Argument(site, value) for value in args]
            named = {name: Argument(site, value) for name, value in keywords}
            merged = Arguments([*before, *given.positional], named)
            return _called(run, function, merged, site)
        case _:
            pass
    return Unknown("made by a collate function")
