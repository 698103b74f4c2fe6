"""What Python evaluates before it comes to a load: the method that is given what was loaded."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.values import Unknown
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.name_uses import Reads, assigned, reads_of
from devicelint.interpreter.facts.qualified_names import full_name

_WRAPPERS = ("DataParallel", "DistributedDataParallel")


def lacks_wrapper(run: Run, site: cst.Call) -> bool:
    """Whether `model.module.load_state_dict(torch.load(path))` raises before it loads.

    The method is looked up before its arguments are evaluated, and where the file has wrapped the
    model on another path alone, it has no `module` here.
    """
    if not run.frame.is_checked:
        return False
    reads = reads_of(run.program.tree)
    return any(_is_bare(run, reads, one) for one in _receivers(reads, site))


def _receivers(reads: Reads, site: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """What `module` is asked for in the methods that are given what a call gives."""
    child: cst.CSTNode = site
    node = reads.around.get(site)
    while isinstance(node, (cst.BaseExpression, cst.Arg)):
        match node:
            case cst.Call(
                func=cst.Attribute(value=cst.Attribute(value=owner, attr=cst.Name("module")))
            ) if isinstance(child, cst.Arg):
                yield owner
        child, node = node, reads.around.get(node)


def _is_bare(run: Run, reads: Reads, owner: cst.BaseExpression) -> bool:
    with run.muted():
        value = run.evaluate(owner)
    if not isinstance(value, Unknown):
        return False
    name = reads.code(owner)
    return any(
        given == name and _wraps(run, reads, name, statement.value)
        for given, statement in assigned(reads)
    )


def _wraps(run: Run, reads: Reads, name: str, value: cst.BaseExpression) -> bool:
    """Whether `model` is bound to `nn.DataParallel(model)`."""
    if not (isinstance(value, cst.Call) and value.args):
        return False
    made = full_name(run, value.func)
    is_wrapper = made is not None and made.parts[0] == "torch" and made.parts[-1] in _WRAPPERS
    return is_wrapper and reads.code(value.args[0].value) == name
