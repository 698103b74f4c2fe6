"""`def`: the function that it defines, with what its decorators say of it."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    Function,
    ImportedName,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.branches import NO_GRAD
from devicelint.interpreter.python.paths.skips import may_leave_out

_KINDS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "property",
    "torch.distributions.utils.lazy_property": "property",
}


def define_function(run: Run, node: cst.FunctionDef) -> Function:
    """The value of a `def`; decorators that change what is called are taken into account."""
    frame = run.frame
    frame.keeps_names = True
    owner = frame.ref if isinstance(frame.node, cst.ClassDef) else None
    kind, no_grad, guarded = "", False, frame.guarded
    for decorator in node.decorators:
        named = decorator.decorator
        guarded = guarded or may_leave_out(run, node, decorator)
        called = named.func if isinstance(named, cst.Call) else named
        value = run.evaluate(called) if isinstance(called, (cst.Name, cst.Attribute)) else None
        name = value.name if isinstance(value, ImportedName) else ""
        kind = _KINDS.get(name, kind)
        no_grad = no_grad or name in NO_GRAD
        if isinstance(called, cst.Attribute) and called.attr.value in ("setter", "deleter"):
            kind = called.attr.value
    scopes = frame.enclosing_functions()
    function = Function(
        node, node.name.value, frame.ref, scopes, owner, kind, no_grad, guarded, frame.home
    )
    run.note_function(function)
    return function
