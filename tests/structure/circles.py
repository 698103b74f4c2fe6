"""Circles of a directed graph: the sets of nodes that reach one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def circles(graph: Mapping[str, Iterable[str]]) -> Iterator[frozenset[str]]:
    """Every largest set of more than one node in which each reaches each other."""
    onward = {node: _reached(graph, node) for node in graph}
    seen: set[str] = set()
    for node in graph:
        if node in seen or node not in onward[node]:
            continue
        circle = frozenset(one for one in onward[node] if node in onward.get(one, ()))
        seen |= circle
        if len(circle) > 1:
            yield circle


def _reached(graph: Mapping[str, Iterable[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting.extend(graph.get(node, ()))
    return reached
