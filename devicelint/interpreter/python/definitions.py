"""`def`: the function that it defines, with what its decorators say of it."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    Function,
    ImportedName,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.branches import NO_GRAD
from devicelint.interpreter.python.paths.skips import is_left_out, may_leave_out

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
    kind, no_grad, guarded, left_out = "", False, frame.guarded, frame.left_out
    for decorator in node.decorators:
        named = decorator.decorator
        guarded = guarded or may_leave_out(run, node, decorator)
        left_out = left_out or is_left_out(run, decorator.decorator)
        called = named.func if isinstance(named, cst.Call) else named
        value = run.evaluate(called) if isinstance(called, (cst.Name, cst.Attribute)) else None
        name = value.name if isinstance(value, ImportedName) else ""
        kind = _KINDS.get(name, kind)
        no_grad = no_grad or name in NO_GRAD
        if isinstance(called, cst.Attribute) and called.attr.value in ("setter", "deleter"):
            kind = called.attr.value
    scopes = frame.enclosing_functions()
    name, home = node.name.value, frame.home
    function = Function(
        node, name, frame.ref, scopes, owner, kind, no_grad, guarded, home, left_out
    )
    run.note_function(function)
    return function
