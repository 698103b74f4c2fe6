"""What is handed to code that nobody sees, and may be changed there: what it holds is open.

A call whose result nobody uses is there for what it does.  What it is given that can change, a
dict, a list or an object, may hold something else after it; and so may the attribute whose name it
is given beside the object, as `monkeypatch.setattr(settings, "device", name)` is.
"""

from __future__ import annotations

import sys

import libcst as cst

from devicelint.domain.devices import Known
from devicelint.domain.values import (
    HOST,
    Batch,
    Class,
    Const,
    DictOf,
    ImportedName,
    Instance,
    ListOf,
    Placed,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.hooks import EVERY_EVENT, Analysis, analysis
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.fields import names_device, open_settings
from devicelint.interpreter.torch.modules.escapes import may_move
from devicelint.knowledge.hosts import only_reads

_DEEPEST = 3


@analysis
class ChangedUnseen(Analysis):
    """Forgets where that is what unseen code may have put elsewhere."""

    serves = EVERY_EVENT

    def on_called_unseen(self, callee: Value, arguments: Arguments, site: cst.Call) -> None:
        """What is called for its effect alone changes what it is given, as far as it can."""
        if not (may_move(callee) and _may_change(callee)):
            return
        if _is_all(self.run, site):
            for argument in arguments:
                _open(self.run, argument.value)
        _open_named(self.run, arguments)


def _may_change(callee: Value) -> bool:
    root = callee.name.partition(".")[0] if isinstance(callee, ImportedName) else ""
    return not only_reads(root) and root not in sys.stdlib_module_names


def _is_all(run: Run, site: cst.Call) -> bool:
    """Whether a call is a statement of its own, so that nobody uses what it gives."""
    statement = run.frame.statement
    value = statement.value if isinstance(statement, cst.Expr) else None
    return (value.expression if isinstance(value, cst.Await) else value) is site


def _open(run: Run, value: Value, depth: int = 0) -> None:
    match value:
        case Tuple(items) if depth < _DEEPEST:
            for one in items:
                _open(run, one, depth + 1)
        case ListOf(ref) | DictOf(ref) | Instance(ref=ref) if depth < _DEEPEST:
            for name, held in tuple(run.state.fields(ref).items()):
                if _is_placed(held):
                    run.state.write(ref, name, Unknown("may be changed where it is given to"))
                else:
                    _open(run, held, depth + 1)
            if isinstance(value, Instance):
                open_settings(run, ref)
        case _:
            pass


def _is_placed(value: Value) -> bool:
    """Whether it is known where a value lies, or which device it names."""
    if isinstance(value, (Tensor, Batch, Placed)):
        return isinstance(value.device, Known)
    return names_device(value)


def _open_named(run: Run, arguments: Arguments) -> None:
    """An attribute or a key whose name is given beside what has it may be set."""
    given = [one.value for one in arguments]
    names = [one.value for one in given if isinstance(one, Const) and isinstance(one.value, str)]
    for owner in given:
        if isinstance(owner, (Class, Instance, DictOf)):
            for name in names:
                _open_field(run, owner.ref, f"[{name!r}]" if isinstance(owner, DictOf) else name)


def _open_field(run: Run, ref: Ref, field: str) -> None:
    held = run.state.read(ref, field)
    if held is not None and _is_placed(held):
        run.state.write(ref, field, Unknown("may be set where the object is given to"))


@function("unittest.mock.patch.object", "unittest.mock.patch.dict")
def patch_object(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Something else is under a name as long as a test runs."""
    _open_named(run, arguments)
    return HOST
