"""Names that are bound without a statement that says so: `globals()["x"] = …`."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    Const,
    DeviceHandle,
    External,
    Module,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run

_GLOBALS = External("builtins.globals")


def names_globals(run: Run, owner: cst.BaseExpression) -> bool:
    """Whether an expression is `globals()`."""
    return isinstance(owner, cst.Call) and run.evaluate(owner.func) == _GLOBALS


def bind_global(run: Run, key: Value | None, value: Value) -> None:
    """`globals()[key] = value`: a name that is not read may be any of the file's."""
    home = run.frame.home
    if isinstance(key, Const) and isinstance(key.value, str):
        run.state.write(home, key.value, value)
        return
    for field, held in tuple(run.state.fields(home).items()):
        if isinstance(held, (Tensor, Module, Const, DeviceHandle)):
            run.state.write(home, field, Unknown("globals() may have bound it"))
