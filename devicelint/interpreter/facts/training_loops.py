"""What a training loop does in each step, by how it is written."""

from __future__ import annotations

import libcst as cst

from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.facts.device_words import words_of
from devicelint.interpreter.facts.mentions import names_in
from devicelint.interpreter.facts.name_uses import Reads, last_name, reads_of

Loop = cst.For | cst.While
_OPTIMIZERS = ("optim", "sched", "scaler", "solver", "adam", "sgd", "trainer")
_AT_OTHER_TIMES = (cst.FunctionDef, cst.Lambda, cst.CompFor, cst.ExceptHandler, cst.Else)


def training_loop(tree: cst.Module, site: cst.CSTNode) -> Loop | None:
    """The innermost loop around a place, if it trains, and comes to that place in each step."""
    reads = reads_of(tree)
    loop = _reaches(reads, site)
    if loop is None or not any(_reaches(reads, one) is loop for one in _backward(loop)):
        return None
    return None if any(map(_has_other_steps, descendants(loop.body))) else loop


def _reaches(reads: Reads, site: cst.CSTNode) -> Loop | None:
    """The innermost loop that comes to a place whenever its body runs."""
    child, parent = site, reads.around.get(site)
    while parent is not None:
        match parent:
            case cst.For() | cst.While() if child is parent.body:
                return parent
            case cst.If() | cst.IfExp() | cst.While() if child is not parent.test:
                return None
            case _ if isinstance(parent, _AT_OTHER_TIMES):
                return None
            case cst.BooleanOperation(right=right) if child is right:
                return None
            case _:
                pass
        child, parent = parent, reads.around.get(parent)
    return None


def _backward(loop: Loop) -> list[cst.Call]:
    calls = [one for one in descendants(loop.body) if isinstance(one, cst.Call)]
    return [one for one in calls if isinstance(one.func, cst.Attribute) and _is_backward(one)]


def _is_backward(call: cst.Call) -> bool:
    return last_name(call.func) in ("backward", "manual_backward")


def _has_other_steps(node: cst.CSTNode) -> bool:
    """Steps that end early by a count, and `env.step(action)`, which needs what the model gives."""
    if isinstance(node, cst.If) and any(isinstance(one, cst.Modulo) for one in descendants(node)):
        return any(isinstance(one, cst.Continue) for one in descendants(node.body))
    if not (isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)):
        return False
    return node.func.attr.value == "step" and bool(node.args) and not _is_optimizer(node)


def _is_optimizer(call: cst.Call) -> bool:
    """Whether it is the step of an optimizer, a scheduler or a scaler."""
    func = call.func
    assert isinstance(func, cst.Attribute)
    words = [word for name in names_in(call) for word in words_of(name)]
    return any(word.endswith("opt") or any(one in word for one in _OPTIMIZERS) for word in words)
