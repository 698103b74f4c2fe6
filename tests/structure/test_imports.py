"""Imports of the interpreter: no circle, whatever stands in a function or under TYPE_CHECKING."""

from __future__ import annotations

from tests.structure.circles import circles
from tests.structure.sources import functions, imported, modules

INTERPRETER = "devicelint.interpreter"


def test_circles_are_found():
    graph = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": [], "e": ["e"]}
    assert list(circles(graph)) == [frozenset("bc")]


def test_no_module_reaches_itself():
    known = modules(INTERPRETER)
    graph = {name: set(imported(one.tree, known)) for name, one in known.items()}
    found = {name for circle in circles(graph) for name in circle}
    assert not found


def test_no_function_imports_another_module_of_the_interpreter():
    known = modules(INTERPRETER)
    found = {
        (one.name, target)
        for one in known.values()
        for function in functions(one.tree)
        for target in imported(function, known)
    }
    assert not found
