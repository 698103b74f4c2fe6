"""`tree_map`: a function is called with each tensor of a nest, which remains one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from devicelint.domain.values import DictOf, ListOf, Tuple, Unknown, Value
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.fields import ELEMENT

_DEEPEST = 4


@function("torch.utils._pytree.tree_map", "torch.utils._pytree.tree_map_only")
def tree_map(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What is called for tensors alone is told so first."""
    is_told = name.endswith("only")
    called, tree = arguments.get(int(is_told), "func"), arguments.get(1 + is_told, "tree")
    if called is None or tree is None or len(arguments.positional) > 2 + is_told:
        return Unknown("one nest of several")

    def leaf(value: Value) -> Value:
        return run.call(called.value, Arguments([Argument(tree.site, value)]), site)

    return _mapped(run, tree.value, leaf, site, 0)


def _mapped(
    run: Run, value: Value, leaf: Callable[[Value], Value], site: cst.Call, depth: int
) -> Value:
    if depth > _DEEPEST:
        return Unknown("a nest that is too deep")
    match value:
        case Tuple(items):
            made = tuple(_mapped(run, one, leaf, site, depth + 1) for one in items)
            return replace(value, items=made)
        case ListOf() | DictOf():
            held = tuple(run.state.fields(value.ref).items())
            ref = run.allocate(site, f"mapped {value.ref}")
            for name, one in held:
                is_part = name.startswith("[") or name == ELEMENT
                made_of = _mapped(run, one, leaf, site, depth + 1) if is_part else one
                run.state.write(ref, name, made_of)
            return replace(value, ref=ref)
        case _:
            return leaf(value)
