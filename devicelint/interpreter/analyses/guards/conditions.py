"""What a guard asks, as an expression that is true where its moves are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.history import Site
from devicelint.interpreter.engine.nodes import children, descendants
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.bound_names import names_bound_in
from devicelint.interpreter.facts.name_uses import Reads
from devicelint.interpreter.python.conditions import is_machine

Scope = cst.Module | cst.FunctionDef | cst.ClassDef


@dataclass(frozen=True, eq=False)
class Asked:
    """A condition as a guard asks it."""

    expression: cst.BaseExpression
    code: str
    """As an expression that is true where the moves are made."""
    scope: Scope
    """Where its names have their values; the class, for an attribute of `self`."""

    @property
    def key(self) -> tuple[Site, str]:
        """The same for all guards that ask the same."""
        return self.scope, self.code


def asked_by(run: Run, reads: Reads, node: cst.If | cst.IfExp, *, moved: bool) -> Asked | None:
    """What a guard asks; None for what may have another answer each time."""
    expression, negated = _plain(node.test, negated=not moved)
    if not all(isinstance(one, _PURE) or _asks_torch(one) for one in descendants(expression)):
        return None
    code = run.module.code_for_node(expression)
    if follows_values(expression) or "\n" in code:
        return None
    if negated:
        code = f"not ({code})" if isinstance(expression, cst.BooleanOperation) else f"not {code}"
    scope = _scope_of(run, reads, node, expression)
    return None if scope is None else Asked(expression, code, scope)


_PURE = (
    *(cst.Name, cst.Attribute, cst.Comparison, cst.ComparisonTarget, cst.BooleanOperation),
    *(cst.UnaryOperation, cst.Integer, cst.SimpleString, cst.Not, cst.And, cst.Or, cst.BaseCompOp),
)
_FOLLOWING = frozenset({"is_cuda", "device", "type", "training", "requires_grad"})
_ANSWERS = frozenset({"is_available", "device_count"})


def follows_values(code: cst.CSTNode) -> bool:
    """Whether an expression asks a tensor or a module, and no setting."""
    return any(
        isinstance(node, cst.Attribute) and node.attr.value in _FOLLOWING
        for node in descendants(code)
    )


def _asks_torch(node: cst.CSTNode) -> bool:
    """`torch.cuda.is_available()`, whose answer stays the same."""
    if not isinstance(node, cst.Call) or node.args:
        return False
    func = node.func
    name = func.attr if isinstance(func, cst.Attribute) else func
    return isinstance(name, cst.Name) and name.value in _ANSWERS


def _plain(node: cst.BaseExpression, *, negated: bool) -> tuple[cst.BaseExpression, bool]:
    """An expression without its parentheses, `not` and `== True`."""
    while True:
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
            node, negated = node.expression, not negated
        elif isinstance(node, cst.Comparison) and (truth := _compared_with(node)) is not None:
            node, negated = node.left, negated is truth
        else:
            return node.with_changes(lpar=(), rpar=()), negated


def _compared_with(node: cst.Comparison) -> bool | None:
    (first, *rest) = node.comparisons
    same = isinstance(first.operator, (cst.Equal, cst.Is))
    name = first.comparator.value if isinstance(first.comparator, cst.Name) else ""
    return name == "True" if same and not rest and name in ("True", "False") else None


def _scope_of(
    run: Run, reads: Reads, node: cst.CSTNode, expression: cst.BaseExpression
) -> Scope | None:
    """The innermost scope that binds a name of a condition."""
    roots = roots_of(expression)
    if roots == {"self"} and isinstance(expression, cst.Attribute):
        return next((one for one in around(reads, node) if isinstance(one, cst.ClassDef)), None)
    for scope in around(reads, node):
        if not isinstance(scope, (cst.FunctionDef, cst.Lambda)):
            continue
        if not roots.isdisjoint(names_bound_in(scope)):
            return scope if isinstance(scope, cst.FunctionDef) else None
    return run.module


def around(reads: Reads, node: Site) -> Iterator[cst.CSTNode]:
    """What a node stands in, the innermost first."""
    assert isinstance(node, cst.CSTNode)
    parent = reads.around.get(node)
    while parent is not None:
        yield parent
        parent = reads.around.get(parent)


def roots_of(expression: cst.BaseExpression) -> set[str]:
    """The names that an expression reads, apart from True, False and None."""
    found: set[str] = set()
    waiting: list[cst.CSTNode] = [expression]
    while waiting:
        one = waiting.pop()
        if isinstance(one, cst.Name):
            found.add(one.value)
        waiting.extend([one.value] if isinstance(one, cst.Attribute) else children(one))
    return found - {"True", "False", "None"}


def asks_machine(run: Run, expression: cst.BaseExpression) -> bool:
    """Whether it is torch's own answer to whether there is an accelerator."""
    match expression:
        case cst.IfExp(test=test, body=cst.Name("True"), orelse=cst.Name("False")):
            return asks_machine(run, test)
        case cst.Call():
            with run.muted():
                return is_machine(run.evaluate(expression))
        case _:
            return False


def scope_around(reads: Reads, node: cst.CSTNode) -> cst.Module | cst.FunctionDef | cst.ClassDef:
    """The module, function or class in whose body a node stands."""
    scopes = (cst.FunctionDef, cst.ClassDef)
    return next((one for one in around(reads, node) if isinstance(one, scopes)), reads.tree)
