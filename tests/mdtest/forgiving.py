"""Code that goes on after the statements that are expected to raise."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TypeGuard

FORGIVE = "_forgive_"
"""The name that the code is given for what decides whether to go on."""
REACH = "_reach_"
"""…and for what is told the lines of each statement that it comes to."""
_UNTOUCHED = (
    ast.Global,
    ast.Nonlocal,
    ast.Pass,
    ast.Break,
    ast.Continue,
)
_ENDINGS = (ast.Return, ast.Raise)
"""After these there is nothing to go on with: the statement that called is over as well."""
_SCOPES = (
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def forgiving(code: str, marked: Collection[int]) -> ast.Module:
    """The code with a handler around each statement.

    `_reach_` is told of each. The handler asks `_forgive_` with the statement's own lines, which of
    them are marked, and the names that it would have bound.
    """
    tree: ast.Module = _Forgiving(marked).visit(ast.parse(code))
    return ast.fix_missing_locations(tree)


def statements(code: str) -> frozenset[int]:
    """The lines of all statements of which `_reach_` would be told."""
    nodes = ast.walk(ast.parse(code))
    return frozenset(node.lineno for node in nodes if _does_something(node))


class _Forgiving(ast.NodeTransformer):
    def __init__(self, marked: Collection[int]) -> None:
        self._marked = marked

    def generic_visit(self, node: ast.AST) -> ast.AST:
        own = _own_lines(node) if isinstance(node, ast.stmt) else range(0)
        super().generic_visit(node)
        if not _does_something(node):
            return node
        return _handled(node, own, tuple(line for line in own if line in self._marked))


def _does_something(node: ast.AST) -> TypeGuard[ast.stmt]:
    match node:
        case ast.ImportFrom(module="__future__") | ast.Expr(value=ast.Constant()):
            return False
        case _:
            return isinstance(node, ast.stmt) and not isinstance(node, _UNTOUCHED)


def _own_lines(node: ast.stmt) -> range:
    """The lines of a statement without those of the statements in it."""
    decorators = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(one.lineno for one in decorators)])
    inner = [one.lineno for one in _statements_in(node)]
    last = min(inner) - 1 if inner else node.end_lineno or node.lineno
    return range(first, max(last, node.lineno) + 1)


def _statements_in(node: ast.AST) -> Iterator[ast.stmt]:
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.stmt):
            yield inner
        elif isinstance(inner, (ast.ExceptHandler, ast.match_case)):
            yield from _statements_in(inner)


def _handled(node: ast.stmt, own: range, marks: tuple[int, ...]) -> ast.stmt:
    targets = tuple(dict.fromkeys(_targets(node)))
    names = tuple(target.rpartition(".")[2] for target in targets)
    lines = ["try:", f" {REACH}({own})", "except Exception:"]
    lines.append(f" if not {FORGIVE}({own}, {marks}, {names}): raise")
    if isinstance(node, _ENDINGS):
        lines.append(" raise")
    for target in targets:
        lines += [" try:", f"  del {target}", " except Exception: pass"]
    handled = ast.parse("\n".join(lines)).body[0]
    assert isinstance(handled, ast.Try)
    for inner in ast.walk(handled):
        ast.copy_location(inner, node)
    handled.body.append(node)
    return ast.copy_location(handled, node)


def _targets(node: ast.AST) -> Iterator[str]:
    """What a statement binds itself: names, and attributes of names."""
    match node:
        case ast.AugAssign():
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            return
        case ast.alias(name="*"):
            return
        case ast.alias():
            yield (node.asname or node.name).partition(".")[0]
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Attribute(value=ast.Name(), ctx=ast.Store()):
            yield ast.unparse(node)
        case _:
            pass
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, (ast.stmt, ast.ExceptHandler, ast.match_case, *_SCOPES)):
            yield from _targets(inner)
