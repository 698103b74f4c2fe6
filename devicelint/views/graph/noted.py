"""What is noted of values and moves while a walk runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import libcst as cst

from devicelint.domain.devices import Device
from devicelint.domain.history import Step
from devicelint.views.graph.chart import NodeKind

LONGEST = 24
"""Characters of an expression that has no name."""


@dataclass(eq=False)
class NotedValue:
    """A name or place, with the device on which it was seen."""

    site: cst.CSTNode
    name: str
    device: Device
    kind: NodeKind
    inputs: dict[NotedValue | NotedMove, None] = field(default_factory=dict)
    step: Step | None = None


@dataclass(eq=False)
class NotedMove:
    """One call that moves something."""

    site: cst.CSTNode
    method: str
    receiver: cst.CSTNode
    what: str
    origin: Device | None
    target: Device
    source: NotedValue | None = None
    result: NotedValue | None = None
    since: cst.CSTNode | None = None
    is_discarded: bool = False
    beside: dict[NotedValue | NotedMove, None] = field(default_factory=dict)
    """What the statement reads."""

    def name_ends(self) -> Iterator[NotedValue]:
        """Make values of what is moved, and of what comes of it, where they have no names."""
        name = brief(self.what)
        if self.source is None and self.origin is not None:
            made_from: dict[NotedValue | NotedMove, None] = {
                one: None for one in self.beside if isinstance(one, NotedValue)
            }
            self.source = NotedValue(self.receiver, name, self.origin, NodeKind.UNNAMED, made_from)
            yield self.source
        if self.result is None and not self.is_discarded:
            self.result = NotedValue(self.site, name, self.target, NodeKind.UNNAMED)
            yield self.result


def brief(code: str) -> str:
    """An expression on one line, and not too much of it."""
    return code if len(code) <= LONGEST else f"{code[: LONGEST - 1]}…"


def values_of(one: NotedValue) -> Iterable[NotedValue]:
    """The values that one is made from, also by a move."""
    made_from = (given.result if isinstance(given, NotedMove) else given for given in one.inputs)
    return [given for given in made_from if given is not None]


def site_of(step: Step) -> cst.CSTNode:
    """The node of a step."""
    assert isinstance(step.site, cst.CSTNode)
    return step.site
