"""What stands below a node of the tree, and how it is written: quicker than libcst's visitors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import ParamSpec, TypeVar

import libcst as cst

_About = ParamSpec("_About")
_Fact = TypeVar("_Fact")
_caches: list[functools._lru_cache_wrapper[object]] = []

_LAYOUT = frozenset(
    "comma semicolon equal colon dot slash bar lambda asynchronous returns_ "
    "lpar rpar lbracket rbracket lbrace rbrace".split()
)
"""Fields that hold no code, only how it is laid out."""
_SPACE = ("whitespace", "lines", "header", "footer", "indent")
"""What other names of such fields are made of."""
_NO_NODES = frozenset({str, bool, int, type(None), cst.MaybeSentinel})


def cached_of_nodes(most: int) -> Callable[[Callable[_About, _Fact]], Callable[_About, _Fact]]:
    """Remember what a function has found out of nodes, of the last `most` that it was asked about.

    Whoever frees trees calls `forget_nodes`: what is remembered holds its nodes.
    """

    def cached(fact: Callable[_About, _Fact]) -> Callable[_About, _Fact]:
        remembering = functools.lru_cache(maxsize=most)(fact)
        _caches.append(remembering)
        return remembering  # type: ignore[return-value]

    return cached


def forget_nodes() -> None:
    """Remember nothing of any node."""
    for cache in _caches:
        cache.cache_clear()


def descendants(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all the code below it, without what only lays it out."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        if _parts(type(one)):
            waiting.extend(children(one))


def in_order(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all the code below it, as it is written."""
    yield node
    for one in children(node):
        yield from in_order(one)


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The code right below a node, without what only lays it out."""
    found: list[cst.CSTNode] = []
    for name in _parts(type(node)):
        part = getattr(node, name)
        kind = type(part)
        if kind is tuple or kind is list:
            found.extend(part)
        elif kind not in _NO_NODES:
            found.append(part)
    return found


@cached_of_nodes(32)
def code_by_kind(tree: cst.Module) -> Mapping[type[cst.CSTNode], Sequence[cst.CSTNode]]:
    """All code of a tree; the programs of one tree, each walked for a purpose, share it."""
    found: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
    for node in descendants(tree):
        found.setdefault(type(node), []).append(node)
    return found


def names_bound_by(target: cst.BaseExpression) -> Iterator[str]:
    """The names that a target gives values to: `x`, `(x, *rest)`; not items and attributes."""
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from names_bound_by(element.value)


def parameters_of(node: cst.FunctionDef | cst.Lambda) -> tuple[cst.Param, ...]:
    """The parameters that a function names, but for `*args` and `**kwargs`."""
    given = node.params
    return (*given.posonly_params, *given.params, *given.kwonly_params)


@functools.cache
def _parts(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(
        one.name
        for one in fields(kind)
        if one.name not in _LAYOUT
        and one.type not in (str, bool)
        and not any(word in one.name for word in _SPACE)
    )
