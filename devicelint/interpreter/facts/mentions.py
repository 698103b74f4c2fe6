"""What a piece of code names: nothing is evaluated, and comments do not count."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import libcst as cst

from devicelint.interpreter.engine.nodes import descendants


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

    def calls(self, methods: Collection[str]) -> bool:
        """Whether any of these methods is called."""
        return any(one in self.methods for one in methods)


@functools.lru_cache(maxsize=4)
def mentions_in(code: cst.CSTNode) -> Mentions:
    """What a file, or a part of one, names."""
    names: set[str] = set()
    strings: set[str] = set()
    methods: defaultdict[str, set[str]] = defaultdict(set)
    keywords: defaultdict[str, set[str]] = defaultdict(set)
    for node in descendants(code):
        match node:
            case cst.Name(value=name):
                names.add(name)
            case cst.SimpleString():
                strings.add(node.raw_value)
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=method), value=owner)):
                methods[method].add(path_of(owner))
            case cst.Arg(keyword=cst.Name(value=keyword), value=given):
                keywords[keyword].add(_plain(given))
            case _:
                pass
    return Mentions(frozenset(names), frozenset(strings), _frozen(methods), _frozen(keywords))


def calls_method(code: cst.CSTNode, methods: Collection[str]) -> bool:
    """Whether a method with one of these names is called anywhere in a piece of code."""
    return any(called_method(node) in methods for node in descendants(code))


def called_method(node: cst.CSTNode) -> str:
    """The method that a node calls; empty where it calls none."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=method))):
            return method
        case _:
            return ""


def names_in(code: cst.CSTNode) -> set[str]:
    """The names that stand in a piece of code."""
    return {node.value for node in descendants(code) if isinstance(node, cst.Name)}


def path_of(node: cst.BaseExpression) -> str:
    """`self.model` of a name or an attribute; empty for any other expression."""
    if isinstance(node, cst.Name):
        return node.value
    owner = path_of(node.value) if isinstance(node, cst.Attribute) else ""
    return f"{owner}.{node.attr.value}" if owner and isinstance(node, cst.Attribute) else ""


def _plain(given: cst.BaseExpression) -> str:
    return given.raw_value if isinstance(given, cst.SimpleString) else path_of(given)


def _frozen(found: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(held) for name, held in found.items()}
