"""What the ranks of one run did together, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from runtime_guard.profiler.recording.recording import Recording, Spot, Tally
from runtime_guard.profiler.report.mismatches import Misplaced, gather

Order = Literal["time", "bytes", "count"]


@dataclass(frozen=True, slots=True)
class Row:
    """What one call at one line of source moved or waited for, in all ranks.

    Attributes:
        per_step: how often in each training step of each rank; None where no step was counted.
        share: the part of the run's time that the calling threads spent in it.
    """

    file: str
    line: int
    function: str
    kind: str
    op: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    count: int
    bytes: int
    host_us: float
    device_us: float | None
    per_step: float | None
    share: float


@dataclass(frozen=True, slots=True)
class Flow:
    """All that was copied to one device."""

    target: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Value:
    """A name that held tensors of several devices at one line."""

    file: str
    line: int
    name: str
    devices: dict[str, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """One run: all of its ranks.

    Attributes:
        seconds: how long the ranks were recorded, added up.
        steps: the training steps of all ranks, added up.
    """

    rows: tuple[Row, ...]
    flows: tuple[Flow, ...]
    synchronisations: int
    seconds: float
    steps: int
    values: tuple[Value, ...]
    mismatches: tuple[Misplaced, ...]
    virtual: bool = False
    """Whether there was a virtual GPU, so that times, and advice about them, say nothing."""

    @property
    def timed(self) -> bool:
        """Whether how long it took is known, and says something."""
        return bool(self.seconds) and not self.virtual

    @property
    def share(self) -> float:
        """The part of the run's time that went into copies and synchronisations."""
        return sum(row.share for row in self.rows)

    def share_of(self, *kinds: str) -> float:
        """The same, of rows of these kinds alone."""
        return sum(row.share for row in self.rows if row.kind in kinds)

    def sorted(self, order: Order) -> list[Row]:
        """The rows, the costliest first."""
        return sorted(self.rows, key=_COSTS[order], reverse=True)


_COSTS: dict[Order, Callable[[Row], tuple[float, ...]]] = {
    "time": lambda row: (row.host_us, row.count),
    "bytes": lambda row: (row.bytes, row.host_us),
    "count": lambda row: (row.count, row.host_us),
}


def summarise(recordings: Sequence[Recording]) -> Summary:
    """Add up the ranks of a run."""
    seconds = sum(recording.seconds for recording in recordings)
    steps = sum(recording.steps for recording in recordings)
    rows = [
        _row(key, spots, seconds, steps) for key, spots in _grouped(recordings).items() if spots
    ]
    return Summary(
        rows=tuple(sorted(rows, key=_COSTS["time"], reverse=True)),
        flows=_flows(recordings),
        synchronisations=sum(row.count for row in rows if row.kind == "sync"),
        seconds=seconds,
        steps=steps,
        values=_values(recordings),
        mismatches=gather(each for recording in recordings for each in recording.mismatches),
        virtual=any(recording.header.virtual for recording in recordings),
    )


Key = tuple[str, int, str, str, str, str, str]
Counted = list[tuple[Spot, Tally]]


def _grouped(recordings: Sequence[Recording]) -> dict[Key, Counted]:
    """Ranks do the same on devices of their own: of several, only types of devices count."""
    found: dict[Key, Counted] = {}
    for recording in recordings:
        for spot, tally in recording.totals.items():
            source, target = (
                name.partition(":")[0] if len(recordings) > 1 else name
                for name in (spot.source, spot.target)
            )
            key = (spot.file, spot.line, spot.function, spot.kind, spot.op, source, target)
            found.setdefault(key, []).append((spot, tally))
    return found


def _row(key: Key, counted: Counted, seconds: float, steps: int) -> Row:
    file, line, function, kind, op, _, _ = key
    count = sum(tally.count for _, tally in counted)
    host_us = sum(tally.host_us for _, tally in counted)
    on_device = [tally.device_us for _, tally in counted if tally.device_us is not None]
    return Row(
        file=file,
        line=line,
        function=function,
        kind=kind,
        op=op,
        sources=tuple(sorted({spot.source for spot, _ in counted})),
        targets=tuple(sorted({spot.target for spot, _ in counted})),
        count=count,
        bytes=sum(tally.bytes for _, tally in counted),
        host_us=host_us,
        device_us=sum(on_device) if on_device else None,
        per_step=count / steps if steps else None,
        share=host_us / 1e6 / seconds if seconds else 0.0,
    )


def _flows(recordings: Iterable[Recording]) -> tuple[Flow, ...]:
    found: dict[str, Flow] = {}
    for recording in recordings:
        for spot, tally in recording.totals.items():
            # Tensors on meta have no data to copy.
            devices = {spot.source, spot.target}
            if spot.kind != "sync" and len(devices) == 2 and "meta" not in devices:
                before = found.get(spot.target, Flow(spot.target, 0, 0))
                found[spot.target] = Flow(
                    spot.target, before.count + tally.count, before.bytes + tally.bytes
                )
    return tuple(sorted(found.values(), key=lambda flow: (-flow.bytes, flow.target)))


def _values(recordings: Iterable[Recording]) -> tuple[Value, ...]:
    """The ranks are looked at one by one: that each has a device of its own is as it should be."""
    found: dict[tuple[str, int, str], dict[str, int]] = {}
    for recording in recordings:
        for place, seen in recording.values.items():
            if len(seen) > 1:
                merged = found.setdefault(place, {})
                for device, count in seen.items():
                    merged[device] = merged.get(device, 0) + count
    return tuple(Value(*place, devices) for place, devices in sorted(found.items()))
