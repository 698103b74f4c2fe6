"""What a piece of code names: nothing is evaluated, and comments do not count."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import libcst as cst

from devicelint.interpreter.engine.nodes import cached_of_nodes, descendants
from devicelint.interpreter.facts.name_uses import last_name


@dataclass(frozen=True, eq=False)
class Mentions:
    """The identifiers, strings and calls that stand in a piece of code."""

    names: frozenset[str]
    """Names, attributes, parameters and keywords."""
    strings: frozenset[str]
    methods: Mapping[str, frozenset[str]]
    """The methods that are called, each with what it is called on: `optimizer`, `self.model`."""
    keywords: Mapping[str, frozenset[str]]
    """The arguments that are given by name, each with the names and strings that it is given."""
    members: Mapping[str, frozenset[str]]
    """The attributes that are read, by the last name of what they are read of: `cuda`, `args`."""
    imports: frozenset[str]
    """The modules that are imported, and what is imported from one, by full names."""

    @functools.cached_property
    def words(self) -> frozenset[str]:
        """Identifiers, and strings that are no prose: `"--no-cuda"`, but no docstring."""
        return self.names | {one for one in self.strings if len(one.split()) == 1}

    def calls(self, methods: Collection[str]) -> bool:
        """Whether any of these methods is called."""
        return any(one in self.methods for one in methods)


@cached_of_nodes(64)
def mentions_in(code: cst.CSTNode) -> Mentions:
    """What a file, or a part of one, names."""
    found = _Found()
    for node in descendants(code):
        read = _READERS.get(type(node))
        if read is not None:
            read(found, node)
    return Mentions(
        frozenset(found.names),
        frozenset(found.strings),
        _frozen(found.methods),
        _frozen(found.keywords),
        _frozen(found.members),
        frozenset(found.imports),
    )


def _frozen(found: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(held) for name, held in found.items()}


class _Found:
    """What is found on the way through a tree."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.strings: set[str] = set()
        self.imports: set[str] = set()
        self.methods: defaultdict[str, set[str]] = defaultdict(set)
        self.keywords: defaultdict[str, set[str]] = defaultdict(set)
        self.members: defaultdict[str, set[str]] = defaultdict(set)

    def name(self, node: cst.Name) -> None:
        self.names.add(node.value)

    def string(self, node: cst.SimpleString) -> None:
        self.strings.add(node.raw_value)

    def attribute(self, node: cst.Attribute) -> None:
        self.members[last_name(node.value)].add(node.attr.value)

    def call(self, node: cst.Call) -> None:
        if isinstance(node.func, cst.Attribute):
            self.methods[node.func.attr.value].add(path_of(node.func.value))

    def argument(self, node: cst.Arg) -> None:
        if node.keyword is not None:
            self.keywords[node.keyword.value].add(_plain(node.value))

    def imported(self, node: cst.Import) -> None:
        self.imports.update(one.evaluated_name for one in node.names)

    def imported_from(self, node: cst.ImportFrom) -> None:
        if node.module is not None and not node.relative:
            module = path_of(node.module)
            names = () if isinstance(node.names, cst.ImportStar) else node.names
            self.imports |= {module, *(f"{module}.{one.evaluated_name}" for one in names)}


_READERS: Mapping[type[cst.CSTNode], Callable[[_Found, Any], None]] = {
    cst.Name: _Found.name,
    cst.SimpleString: _Found.string,
    cst.Attribute: _Found.attribute,
    cst.Call: _Found.call,
    cst.Arg: _Found.argument,
    cst.Import: _Found.imported,
    cst.ImportFrom: _Found.imported_from,
}


def calls_method(code: cst.CSTNode, methods: Collection[str]) -> bool:
    """Whether a method with one of these names is called anywhere in a piece of code."""
    return any(called_method(node) in methods for node in descendants(code))


def called_method(node: cst.CSTNode) -> str:
    """The method that a node calls; empty where it calls none."""
    if type(node) is cst.Call and type(node.func) is cst.Attribute:
        return node.func.attr.value
    return ""


def names_in(code: cst.CSTNode) -> set[str]:
    """The names that stand in a piece of code."""
    return {node.value for node in descendants(code) if type(node) is cst.Name}


def path_of(node: cst.BaseExpression) -> str:
    """`self.model` of a name or an attribute; empty for any other expression."""
    if type(node) is cst.Name:
        return node.value
    owner = path_of(node.value) if type(node) is cst.Attribute else ""
    return f"{owner}.{node.attr.value}" if owner and type(node) is cst.Attribute else ""


def sets_own(method: cst.FunctionDef, attribute: str) -> bool:
    """Whether a method gives an attribute of its own object a value."""
    place = f"{next((one.name.value for one in method.params.params), '')}.{attribute}"
    return any(
        path_of(part) == place
        for node in descendants(method.body)
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign))
        for part in _parts_of(node.target)
    )


def _parts_of(target: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(target, (cst.Tuple, cst.List)):
        return [one.value for one in target.elements]
    return [target]


def _plain(given: cst.BaseExpression) -> str:
    return given.raw_value if isinstance(given, cst.SimpleString) else path_of(given)
