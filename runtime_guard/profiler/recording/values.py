"""What a recording is made of: frozen values, free of torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

FORMAT = 1

Kind: TypeAlias = Literal["copy", "sync", "index"]
Values: TypeAlias = dict[tuple[str, int, str], dict[str, int]]


@dataclass(frozen=True, slots=True)
class Spot:
    """A line of the user that moves data or waits for a device, and how.

    Attributes:
        file: the path of the source, as Python knows it.
        line: counted from one.
        function: the name of the function that the line is in.
        kind: `copy` moves a tensor, `sync` waits for a value, `index` moves a CPU index.
        op: what was called: `Tensor.to`, `Tensor.item`, `float()`, `x[index]`.
        source: the device that the data comes from.
        target: the device that it goes to.
    """

    file: str
    line: int
    function: str
    kind: Kind
    op: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Tally:
    """What happened at a spot so far; times in microseconds.

    `host_us` is how long the host was busy or blocked. `device_us` is None where none measured.
    """

    count: int
    bytes: int
    host_us: float
    device_us: float | None = None

    def plus(self, other: Tally) -> Tally:
        """Return the sum of both."""
        times = [each for each in (self.device_us, other.device_us) if each is not None]
        return Tally(
            self.count + other.count,
            self.bytes + other.bytes,
            self.host_us + other.host_us,
            sum(times) if times else None,
        )


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One copy or wait, `at` seconds after the start; `thread` is the system's number for it."""

    at: float
    spot: Spot
    bytes: int
    host_us: float
    device_us: float | None
    thread: int


@dataclass(frozen=True, slots=True)
class Header:
    """Which run it was; `started` counts seconds since 1970."""

    format: int
    started: float
    pid: int
    host: str
    rank: int | None
    world_size: int | None
    argv: tuple[str, ...]
    python: str
    torch: str
    virtual: bool = False
    """Whether a virtual GPU was in effect: nothing is copied then, and times say nothing."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What one process recorded.

    Attributes:
        header: which run it was.
        totals: the whole run, spot by spot.
        events: the latest ones only, where the file was rotated.
        values: for (file, line, name) how often the value was seen on which device.
        mismatches: what a guard found meanwhile, as dictionaries.
        steps: of the optimizer.
        seconds: for how long it recorded; the time while it was removed is not in it.
        complete: the recording was ended; otherwise the process still runs, or was killed.
        dropped: how many events and values went uncounted because the tables were full.
    """

    header: Header
    totals: dict[Spot, Tally] = field(default_factory=dict)
    events: tuple[RecordedEvent, ...] = ()
    values: Values = field(default_factory=dict)
    mismatches: tuple[dict[str, Any], ...] = ()
    steps: int = 0
    seconds: float = 0.0
    complete: bool = False
    dropped: int = 0
