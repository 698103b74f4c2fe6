"""From what was noted of a walk to places of the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from devicelint.domain.devices import Device, as_written
from devicelint.finding import Span
from devicelint.views.graph.chart import MoveEdge, Read, Sight, Value
from devicelint.views.graph.noted import NotedMove, NotedValue, brief, site_of, values_of
from devicelint.views.graph.tree import Tree


class Picture:
    """Notes to places of the text."""

    def __init__(self, spans: dict[cst.CSTNode, Span], tree: Tree) -> None:
        self._spans = spans
        self._tree = tree

    def sight(
        self,
        machine: str,
        noted: Iterable[NotedValue],
        moves: Iterable[NotedMove],
        reads: dict[cst.CSTNode, dict[str, Device]],
    ) -> Sight:
        """The picture of a machine, in the order of the text."""
        placed = sorted(
            (value for value in noted if value.site in self._spans),
            key=lambda value: (self._spans[value.site], value.name, str(value.device)),
        )
        numbers = {value: number for number, value in enumerate(placed)}
        moved = sorted(
            (move for move in moves if move.site in self._spans),
            key=lambda move: (self._spans[move.site], str(move.origin), str(move.target)),
        )
        return Sight(
            machine,
            tuple(self._value(value, numbers) for value in placed),
            tuple(self._move(move, numbers) for move in moved),
            tuple(self._reads(reads)),
        )

    def _reads(self, reads: dict[cst.CSTNode, dict[str, Device]]) -> Iterator[Read]:
        seen = ((self._spans[site], at) for site, at in reads.items() if site in self._spans)
        for span, places in sorted(seen, key=lambda pair: pair[0]):
            yield Read(span, tuple(map(as_written, places.values())))

    def _value(self, one: NotedValue, numbers: dict[NotedValue, int]) -> Value:
        inputs = {numbers[given] for given in values_of(one) if given in numbers}
        return Value(
            one.name,
            self._spans[one.site],
            as_written(one.device),
            one.kind,
            self._tree.function_of(one.site),
            tuple(sorted(inputs - {numbers[one]})),
            "" if one.step is None else str(one.step),
            None if one.step is None else self._spans.get(site_of(one.step)),
        )

    def _move(self, one: NotedMove, numbers: dict[NotedValue, int]) -> MoveEdge:
        return MoveEdge(
            self._spans[one.site],
            brief(one.what),
            one.method,
            None if one.origin is None else as_written(one.origin),
            as_written(one.target),
            self._tree.function_of(one.site),
            None if one.source is None else numbers.get(one.source),
            None if one.result is None else numbers.get(one.result),
            None if one.since is None else self._spans.get(one.since),
            one.is_discarded,
        )
