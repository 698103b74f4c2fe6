"""What the values of a call are called in the source: `batch["image"]`, `loss`, `self.mask`."""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import opcode
import warnings
from collections.abc import Iterator
from types import CodeType
from typing import NamedTuple

LONGEST_NAME = 60


class Names(NamedTuple):
    """The names at one call or subscript; empty where there is none.

    Attributes:
        called: the method or the function.
        receiver: what stands before the method or the index.
        argument: its first argument, or the index.
        assigned: what the result is bound to; for `x[index] = value`, the value.
        itself: the expression, where it is a name: `if done:`.
    """

    called: str = ""
    receiver: str = ""
    argument: str = ""
    assigned: str = ""
    itself: str = ""


NO_NAMES = Names()


def names_at(code: CodeType, instruction: int, line: int) -> Names:
    """Return the names at an instruction; none where the source is not at hand."""
    found = _index(code.co_filename)
    if not found:
        return NO_NAMES
    if not hasattr(code, "co_positions"):
        # Python 3.10 knows lines alone.
        operation = opcode.opname[code.co_code[instruction]]
        on_line = {
            names
            for (end, _column), names in found.items()
            if end == line and _does(names, operation)
        }
        return on_line.pop() if len(on_line) == 1 else NO_NAMES
    position = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    if position is None or None in position:
        return NO_NAMES
    start_line, end_line, start_column, end_column = position
    names = found.get((end_line or 0, end_column or 0), NO_NAMES)
    condition = found.get(_beginning(start_line or 0, start_column or 0), NO_NAMES)
    return names._replace(itself=condition.itself) if condition.itself else names


def _does(names: Names, operation: str) -> bool:
    """Return whether these may be the names of what an operation of Python 3.10 works on."""
    if operation.startswith("CALL_"):
        return names.called not in ("", "[]")
    if operation.endswith("_SUBSCR"):
        return names.called == "[]"
    return bool(names.itself)


@functools.lru_cache(maxsize=64)
def _index(file: str) -> dict[tuple[int, int], Names]:
    """Return the names at every call, index and condition of a file, by where it ends.

    The end distinguishes them, and does not depend on how a chain of calls is broken into lines.
    """
    tree = _parsed("".join(linecache.getlines(file)))
    found: dict[tuple[int, int], Names] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call | ast.Subscript):
            _put(found, _end(node), _names(node))
        for name, value in _bound(node):
            _put(found, _end(value), Names(assigned=name))
        for test in _tests(node):
            _put(found, _end(test), _names(test))
            if isinstance(node, ast.stmt | ast.IfExp):
                # Python takes the whole statement for the place where its condition is asked.
                place = _beginning(node.lineno, node.col_offset)
                _put(found, place, Names(itself=_name(test)))
    return found


def _end(node: ast.expr) -> tuple[int, int]:
    return (node.end_lineno or 0, node.end_col_offset or 0)


def _beginning(line: int, column: int) -> tuple[int, int]:
    """Make a key of a beginning that is none of an end."""
    return (line, -1 - column)


def _parsed(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _put(found: dict[tuple[int, int], Names], place: tuple[int, int], names: Names) -> None:
    known = found.get(place, NO_NAMES)
    found[place] = Names(*(new or old for new, old in zip(names, known, strict=True)))


def _tests(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what Python asks for its truth; of `not x`, the `x`."""
    match node:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            match node.test:
                case ast.UnaryOp(op=ast.Not(), operand=operand):
                    yield operand
                case test:
                    yield test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BoolOp(values=values):
            yield from values
        case _:
            pass


def _names(node: ast.expr) -> Names:
    itself = _name(node)
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=called), args=args):
            return Names(called, _name(value), _sole(args))
        case ast.Call(func=ast.Name(id=called), args=args):
            return Names(called, "", _sole(args))
        case ast.Subscript(value=value, slice=index):
            return Names("[]", _name(value), _name(index), itself=itself)
        case _:
            return Names(itself=itself)


def _sole(args: list[ast.expr]) -> str:
    """Return the name of the only argument: of several, nobody knows which was asked."""
    return _name(args[0]) if len(args) == 1 else ""


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            yield from ((_name(name), value) for name, value in zip(names, values, strict=False))
        case ast.Assign(targets=[target], value=value):
            yield _name(target), value
            if isinstance(target, ast.Subscript):
                yield _name(value), target
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield _name(target), value
        case ast.NamedExpr(target=target, value=value):
            yield _name(target), value
        case _:
            pass


def _name(node: ast.expr) -> str:
    """Return the source of a name, an attribute or an item of one."""
    base = node
    while isinstance(base, ast.Attribute | ast.Subscript):
        if isinstance(base, ast.Subscript) and not isinstance(base.slice, ast.Constant | ast.Name):
            return ""
        base = base.value
    if not isinstance(base, ast.Name):
        return ""
    name = ast.unparse(node)
    if '"' not in name:
        name = name.replace("'", '"')
    return name if len(name) <= LONGEST_NAME else ""
