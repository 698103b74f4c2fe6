"""What code comes to when its moves are left out: whether two branches then say the same."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

import libcst as cst

from devicelint.interpreter.engine.nodes import children

Branch = Sequence[cst.CSTNode]
"""The statements of a branch, or its only expression."""


def is_same(moves: Collection[cst.Call], branch: Branch, other: Branch) -> bool:
    """Whether a branch without its moves says what another one does."""
    one, two = _parsed(moves, branch), _parsed(moves, other)
    return one is not None and two is not None and _dumped(one) == _dumped(two)


def does_nothing_else(moves: Collection[cst.Call], branch: Branch) -> bool:
    """Whether a branch without its moves does nothing: `x = x`, `net`."""
    parsed = _parsed(moves, branch)
    return parsed is not None and bool(parsed.body) and all(map(_is_idle, parsed.body))


class _WithoutMoves(cst.CSTTransformer):
    """Leaves of each move what it moves."""

    def __init__(self, moves: Collection[cst.Call]) -> None:
        self._moves = moves

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """`x.cuda()` comes to `x`, and so does `x.cpu()`, where it was not walked either."""
        func = updated_node.func
        if not isinstance(func, cst.Attribute):
            return updated_node
        back = func.attr.value == "cpu" and not updated_node.args
        return func.value if back or original_node in self._moves else updated_node


def _parsed(moves: Collection[cst.Call], branch: Branch) -> ast.Module | None:
    left_out = _WithoutMoves(moves)
    module = cst.Module(())
    try:
        return ast.parse("\n".join(_written(module, node.visit(left_out)) for node in branch))
    except SyntaxError:
        return None


def _written(module: cst.Module, node: object) -> str:
    assert isinstance(node, cst.CSTNode)
    code = module.code_for_node(node)
    return f"({code})" if isinstance(node, cst.BaseExpression) else code.strip("\r\n")


def _dumped(tree: ast.AST) -> str:
    return ast.dump(tree).replace("Store()", "Load()")


_Items = Mapping[str, str]
"""The items that names stand for in a loop: `v` for `state[k]`."""


def _is_idle(statement: ast.stmt, items: _Items = MappingProxyType({})) -> bool:
    """Whether a statement changes nothing."""
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=value):
            return _is_place(value)
        case ast.Assign(targets=[target], value=value):
            return _stays(target, value, items)
        case ast.For(target=target, iter=over, body=body, orelse=[]):
            within = {**items, **dict(_items_of(target, over))}
            return _only_reads(over) and all(_is_idle(one, within) for one in body)
        case ast.If(test=test, body=body, orelse=orelse):
            return _only_reads(test) and all(_is_idle(one, items) for one in (*body, *orelse))
        case _:
            return False


def _items_of(target: ast.expr, over: ast.expr) -> Iterator[tuple[str, str]]:
    """What `for k, v in state.items()` and `for i, v in enumerate(xs)` take out of what."""
    match target, over:
        case ast.Tuple(elts=[key, ast.Name(id=name)]), (
            ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[])
            | ast.Call(func=ast.Name(id="enumerate"), args=[owner])
        ):
            yield name, _dumped(ast.Subscript(owner, key, ast.Load()))
        case _:
            pass


def _stays(target: ast.expr, value: ast.expr, items: _Items) -> bool:
    """Whether a place is given what it has: `x = x`, `x, y = x, y`, `xs = [x for x in xs]`."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=False)
        same = len(target.elts) == len(value.elts)
        return same and all(_stays(*pair, items) for pair in pairs)
    if isinstance(value, ast.Name) and items.get(value.id) == _dumped(target):
        return True
    return _is_place(target) and _dumped(target) == _dumped(_copied(value))


def _copied(value: ast.expr) -> ast.expr:
    """What a value is a copy of: `xs` of `[x for x in xs]`, `tuple(x for x in xs)`."""
    match value:
        case ast.Call(func=ast.Name(id="list" | "tuple" | "dict"), args=[inner], keywords=[]):
            return _copied(inner)
        case ast.ListComp() | ast.GeneratorExp():
            (first, *rest) = value.generators
            same = _dumped(value.elt) == _dumped(first.target)
            return value if rest or first.ifs or not same else first.iter
        case ast.DictComp(generators=[ast.comprehension(target=ast.Tuple(elts=[key, one]))]):
            same = _dumped(value.key) == _dumped(key) and _dumped(value.value) == _dumped(one)
            only = value.generators[0]
            items = only.iter.func if isinstance(only.iter, ast.Call) else None
            if same and not only.ifs and isinstance(items, ast.Attribute):
                return items.value if items.attr == "items" else value
            return value
        case _:
            return value


def _is_place(value: ast.expr) -> bool:
    """Whether it is a name, an attribute or an item: to read it changes nothing."""
    match value:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=owner):
            return _is_place(owner)
        case ast.Subscript(value=owner, slice=index):
            return _is_place(owner) and _is_place(index)
        case ast.Tuple(elts=elements):
            return all(map(_is_place, elements))
        case _:
            return False


_READERS = frozenset(
    "items keys values enumerate range len zip list isinstance is_tensor parameters buffers "
    "modules children named_parameters named_buffers hasattr".split()
)
"""Functions and methods that change nothing."""


def _only_reads(value: ast.expr) -> bool:
    for node in ast.walk(value):
        if isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        if isinstance(node, ast.Call):
            func = node.func
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if name not in _READERS:
                return False
    return True


def calls_below(node: cst.CSTNode) -> list[cst.Call]:
    """The calls that happen where code runs: not those of functions that it only defines."""
    found: list[cst.Call] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, cst.Call):
            found.append(one)
        if not isinstance(one, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            waiting.extend(children(one))
    return found
