"""Sequences put together and taken apart: `a + b`, `a * 3`, `a[1:]`."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    HOST,
    Const,
    Instance,
    ListOf,
    Module,
    OneOf,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes
from devicelint.interpreter.python.containers.contents import element_of, extend, known_elements
from devicelint.interpreter.python.containers.fields import ELEMENT, LENGTH, is_shared
from devicelint.interpreter.python.containers.lists import put_instead


def put_together(run: Run, node: cst.BinaryOperation, left: Value, right: Value) -> Value:
    """What an operator makes of a sequence and something that is no tensor."""
    if isinstance(node.operator, cst.Multiply):
        return _repeated(run, node, right if isinstance(left, Const) else left)
    if not isinstance(node.operator, cst.Add):
        return HOST
    if isinstance(left, Tuple) and isinstance(right, Tuple):
        return Tuple((*left.items, *right.items))
    if isinstance(left, ListOf) and isinstance(right, ListOf):
        if run.frame.loops and _grows(run, node):
            for one in known_elements(run, right) or (element_of(run, right, node.right),):
                extend(run, left.ref, one)
            return left
        return _new_list(run, node, (left, node.left), (right, node.right))
    return Unknown("two sequences put together")


def _grows(run: Run, node: cst.BinaryOperation) -> bool:
    """`found = found + [x]` in a loop: the list before is no longer needed."""
    statement = run.frame.statement
    if not (isinstance(statement, cst.Assign) and statement.value is node):
        return False
    return [run.code_of(one.target) for one in statement.targets] == [run.code_of(node.left)]


def _repeated(run: Run, node: cst.BinaryOperation, value: Value) -> Value:
    if not isinstance(value, (ListOf, Tuple)):
        return Unknown("a sequence repeated")
    if len(known_elements(run, value) or ()) == 0:
        return _new_list(run, node) if isinstance(value, ListOf) else value
    made = _new_list(run, node, (value, node))
    run.state.write(made.ref, LENGTH, HOST)
    return made


def _new_list(run: Run, site: cst.CSTNode, *parts: tuple[Value, cst.CSTNode]) -> ListOf:
    held = [known_elements(run, part) for part, _ in parts]
    joined = [element_of(run, part, place) for part, place in parts]
    made = ListOf(run.allocate(site), site)
    for elements, element in zip(held, joined, strict=True):
        for one in (element,) if elements is None else elements:
            extend(run, made.ref, one)
        if elements is None:
            run.state.write(made.ref, LENGTH, HOST)
    return made


def sliced(run: Run, node: cst.Subscript, value: ListOf | Tuple, part: cst.Slice) -> Value:
    """Part of a list or tuple: which elements, where the bounds are written out."""
    elements = known_elements(run, value)
    taken = _written_bounds(run, part)
    if elements is None or taken is None or _is_of_loop(run, elements):
        if isinstance(value, Tuple):
            return Unknown("part of a tuple")
        return _some_of(run, value, node)
    kept = elements[taken]
    return Tuple(kept) if isinstance(value, Tuple) else _new_list(run, node, (Tuple(kept), node))


def replaced_slice(run: Run, owner: ListOf, target: cst.Subscript, value: Value) -> bool:
    """`xs[:2] = ys`: other elements in their places, where it is known which they are."""
    part = target.slice[0].slice
    if not isinstance(part, cst.Slice) or is_shared(run, owner.ref):
        return False
    elements, others = known_elements(run, owner), known_elements(run, value)
    taken = _written_bounds(run, part)
    if elements is None or others is None or taken is None or taken.step not in (None, 1):
        return False
    kept = list(elements)
    kept[taken] = others
    put_instead(run, owner.ref, kept)
    return True


def _written_bounds(run: Run, part: cst.Slice) -> slice | None:
    """The bounds of a slice, where all of them are known."""
    bounds = [_bound(run, one) for one in (part.lower, part.upper, part.step)]
    known = [one for one in bounds if one is None or isinstance(one, int)]
    return slice(*known) if len(known) == len(bounds) and known[2] != 0 else None


def _is_of_loop(run: Run, elements: tuple[Value, ...]) -> bool:
    """Whether a loop has made them: then each stands for several, and there are more."""
    options = (
        one for each in elements for one in (each.options if isinstance(each, OneOf) else (each,))
    )
    return any(isinstance(one, (Module, Instance)) and is_shared(run, one.ref) for one in options)


def _some_of(run: Run, value: ListOf, node: cst.Subscript) -> ListOf:
    """Part of a list: what it holds, and nothing of the places."""
    made = ListOf(run.allocate(node), node)
    for name, one in run.state.fields(value.ref).items():
        if name == ELEMENT or name.startswith("["):
            run.state.write(made.ref, name if name == ELEMENT else f"[?{name[1:]}", one)
    run.state.write(made.ref, LENGTH, HOST)
    return made


def _bound(run: Run, node: cst.BaseExpression | None) -> object:
    if node is None:
        return None
    value = run.evaluate(node)
    return value.value if isinstance(value, Const) and type(value.value) is int else value


_NAMED = (("values", "indices"), ("U", "S", "Vh"), ("Q", "R"), ("eigenvalues", "eigenvectors"))
"""What torch calls the parts of the tuples that it gives."""


@attributes(Tuple)
def of_tuple(run: Run, value: Tuple, name: str, node: cst.Attribute) -> Value:
    """`x.max(1).values`: the first of its parts."""
    for names in (value.names, *_NAMED):
        if name in names and len(names) == len(value.items):
            return value.items[names.index(name)]
    return Unknown(f"{name} of a tuple")
