"""Lays what a run recorded over what was read from the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from devicelint.map.amounts import amounts
from devicelint.map.model import Arrow, Lane, LaneGroup, Measure, RecordedRun, View


def with_measures(view: View, lanes: Sequence[Lane], run: RecordedRun) -> View:
    """Each arrow with what was measured at its line."""
    measured = {arrow: tuple(_measured(arrow, lanes, run)) for arrow in view.arrows}
    sharing: dict[tuple[int, ...], list[int]] = {}
    for arrow, indices in measured.items():
        if indices:
            sharing.setdefault(indices, []).append(arrow.id)
    arrows = (
        _with(arrow, indices, tuple(sharing.get(indices, ())), run)
        for arrow, indices in measured.items()
    )
    return replace(view, arrows=tuple(arrows))


def _with(
    arrow: Arrow, indices: tuple[int, ...], shared_by: tuple[int, ...], run: RecordedRun
) -> Arrow:
    measures = [run.measures[index] for index in indices]
    together = "together " if len(shared_by) > 1 else ""
    return replace(
        arrow,
        measures=indices,
        shared_by=shared_by,
        micros=sum(one.micros for one in measures),
        amount=together + amounts(measures),
    )


def _measured(arrow: Arrow, lanes: Sequence[Lane], run: RecordedRun) -> Iterator[int]:
    for index, measure in enumerate(run.measures):
        if measure.line == arrow.line and _is_of(measure, arrow, lanes):
            yield index


def _is_of(measure: Measure, arrow: Arrow, lanes: Sequence[Lane]) -> bool:
    """Whether a run did what an arrow says; a wait for a value brings it to the host."""
    if measure.op.rpartition(".")[2] != arrow.method:
        return False
    if measure.kind == "sync":
        return lanes[arrow.target].group is LaneGroup.HOST
    return _may_be(measure.origin, lanes[arrow.origin]) and _may_be(
        measure.target, lanes[arrow.target]
    )


def _may_be(device: str, lane: Lane) -> bool:
    """Whether a device of a run is one that a lane stands for: `cuda` is `cuda:0`, or another."""
    if lane.group in (LaneGroup.HOST, LaneGroup.CPU):
        return device == "cpu"
    if lane.group is LaneGroup.ACCELERATOR:
        named, _, index = lane.name.partition(":")
        return device == lane.name or (not index and device.partition(":")[0] == named)
    return True
