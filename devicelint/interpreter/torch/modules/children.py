"""Parts that a container of torch is given under a name: they have their turn in its order, too.

`net = nn.Sequential()` and `net.add_module("last", nn.Linear(8, 8))`, or `net.last = …`.
"""

from __future__ import annotations

from devicelint.domain.values import Module, OneOf, Value
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.classes import torch_base_of
from devicelint.interpreter.python.containers.contents import extend
from devicelint.interpreter.python.containers.fields import is_key_field

_IN_ORDER = frozenset({"Sequential", "ModuleList"})


def container_of(run: Run, module: Module) -> str:
    """The container of torch that a Module is, or whose class it extends; else another class."""
    base = torch_base_of(run, module)
    return (module.name if base is None else base).rpartition(".")[2]


def keep_in_order(run: Run, owner: Module, name: str, child: Value) -> None:
    """Give a part its turn in a container; in that of the part that had its name before."""
    if not isinstance(child, (Module, OneOf)) or container_of(run, owner) not in _IN_ORDER:
        return
    fields = run.state.fields(owner.ref)
    before = fields.get(name)
    turns = [field for field, one in fields.items() if is_key_field(field) and one == before]
    numbered = f"[{name}]"
    if before is not None and turns:
        run.state.write(owner.ref, turns[0], child)
    elif numbered in fields:
        run.state.write(owner.ref, numbered, child)
    else:
        extend(run, owner.ref, child)
