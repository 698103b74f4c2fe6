"""Holds what was announced against what was observed, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.mdtest.analyser import Observation
from tests.mdtest.expectations import Expectation


@dataclass(frozen=True)
class Mismatch:
    """A line of the bare code where announcement and observation differ."""

    line: int
    origin: int | None
    """The line of the block where the announcement stands, where there is one."""
    expected: str
    actual: str


def mismatches(
    expectations: Iterable[Expectation], observations: Iterable[Observation]
) -> Iterator[Mismatch]:
    """Every announcement unmet, every observation unannounced, every known miss that works."""
    announced = tuple(expectations)
    observed = tuple(observations)
    lines = {item.line for item in announced} | {item.line for item in observed}
    for line in sorted(lines):
        here = [item for item in announced if item.line == line]
        yield from _on_one_line(line, here, [item for item in observed if item.line == line])


def meets(expectation: Expectation, observation: Observation) -> bool:
    """Whether the observation is what the expectation announces."""
    if expectation.kind != observation.kind:
        return False
    if expectation.kind == "revealed":
        if expectation.message == "unknown":
            return observation.message.startswith("unknown (")
        return expectation.message == observation.message
    return (
        expectation.column in (None, observation.column)
        and expectation.rule in (None, observation.code, observation.rule)
        and (expectation.message or "") in observation.message
    )


def _on_one_line(
    line: int, expectations: Sequence[Expectation], observations: Sequence[Observation]
) -> Iterator[Mismatch]:
    left = list(observations)
    unmet: list[Expectation] = []
    for expectation in sorted(expectations, key=lambda one: (one.todo, -one.exactness)):
        found = next((item for item in left if meets(expectation, item)), None)
        if found is not None:
            left.remove(found)
        if expectation.todo and found is not None:
            yield Mismatch(line, expectation.origin, str(expectation), f"works now: {found}")
        elif not expectation.todo and found is None:
            unmet.append(expectation)
    rest = " and ".join(map(str, left)) or "nothing more on this line"
    for expectation in unmet:
        yield Mismatch(line, expectation.origin, str(expectation), rest)
    if left and not unmet:
        yield Mismatch(line, None, "nothing more on this line", rest)
