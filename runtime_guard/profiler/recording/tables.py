"""What a recording has counted so far, in memory: sums per spot, bounded in size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from runtime_guard.profiler.recording.values import Spot, Tally, Values

NUMBERS = 120
"""About as many characters as the numbers of one spot or value take in a line of totals."""


class Sum:
    """The running sums of one spot, and its text for every line that names it."""

    __slots__ = ("bytes", "count", "device_us", "encoded", "host_us", "spot")

    def __init__(self, spot: Spot) -> None:
        self.spot = spot
        self.encoded = encoded_spot(spot)
        self.count = self.bytes = 0
        self.host_us = 0.0
        self.device_us: float | None = None

    def add(self, size: int, host_us: float) -> None:
        """Count one more event."""
        self.count += 1
        self.bytes += size
        self.host_us += host_us

    def add_device_time(self, device_us: float) -> None:
        """Add what the device measured, which may be long after the event."""
        self.device_us = device_us + (self.device_us or 0.0)

    def tally(self) -> Tally:
        """Return the sums as they are now."""
        return Tally(self.count, self.bytes, self.host_us, self.device_us)


class RecordingTables:
    """Sums per spot and devices per name; beyond `max_bytes` of text, new ones are only counted.

    Lines of source are finite, but code may be made while it runs.
    """

    def __init__(self, max_bytes: int) -> None:
        self._room = max_bytes
        self._sums: dict[Spot, Sum] = {}
        self._values: Values = {}
        self.steps = 0
        self.dropped = 0

    def sum_of(self, spot: Spot) -> Sum | None:
        """Return the sums of a spot; None where there is no room for another one."""
        known = self._sums.get(spot)
        if known is None:
            known = Sum(spot)
            if not self._take(len(known.encoded)):
                return None
            self._sums[spot] = known
        return known

    def see(self, spot: Spot, values: Mapping[str, str]) -> None:
        """Count the devices of named values at a spot."""
        for name, device in values.items():
            place = (spot.file, spot.line, name)
            seen = self._values.get(place)
            if seen is None or device not in seen:
                if not self._take(len(json.dumps([*place, device]))):
                    continue
                seen = self._values.setdefault(place, {})
            seen[device] = seen.get(device, 0) + 1

    def _take(self, size: int) -> bool:
        if self._room < size + NUMBERS:
            self.dropped += 1
            return False
        self._room -= size + NUMBERS
        return True

    def totals(self) -> dict[Spot, Tally]:
        """Return the sums as they are now."""
        return {spot: each.tally() for spot, each in self._sums.items()}

    def values(self) -> Values:
        """Return how often each named value was seen on which device."""
        return {place: dict(devices) for place, devices in self._values.items()}

    def line(self, at: float) -> str:
        """Return the line of totals, without its end."""
        spots = ", ".join(_with_numbers(each) for each in self._sums.values())
        values = json.dumps(
            [
                {"file": file, "line": line, "name": name, "devices": devices}
                for (file, line, name), devices in self._values.items()
            ]
        )
        head = {"type": "totals", "at": round(at, 3), "steps": self.steps, "dropped": self.dropped}
        return f'{_open(head)}, "spots": [{spots}], "values": {values}}}'

    def summary(self, at: float, max_bytes: int) -> dict[str, Any]:
        """Return the totals as an object of bounded size: the costliest spots, and no values."""
        costliest = sorted(self._sums.values(), key=lambda each: -each.host_us)
        kept = _first(costliest, max_bytes)
        return {
            "type": "totals",
            "at": round(at, 3),
            "steps": self.steps,
            "dropped": self.dropped + sum(each.count for each in costliest[len(kept) :]),
            "spots": [json.loads(_with_numbers(each)) for each in kept],
            "values": [],
        }


def encoded_spot(spot: Spot) -> str:
    """Return the keys of a spot as they stand in a line, without braces."""
    content = {
        "kind": spot.kind,
        "op": spot.op,
        "from": spot.source,
        "to": spot.target,
        "file": spot.file,
        "line": spot.line,
        "function": spot.function,
    }
    return _open(content)[1:]


def _open(content: Mapping[str, Any]) -> str:
    """Encode an object, leaving it open for more."""
    return json.dumps(content)[:-1]


def _with_numbers(each: Sum) -> str:
    device_us = "null" if each.device_us is None else f"{each.device_us:.1f}"
    return (
        f'{{{each.encoded}, "count": {each.count}, "bytes": {each.bytes}, '
        f'"host_us": {each.host_us:.1f}, "device_us": {device_us}}}'
    )


def _first(sums: Iterable[Sum], max_bytes: int) -> list[Sum]:
    kept = []
    for each in sums:
        max_bytes -= len(each.encoded) + NUMBERS
        if max_bytes < 0:
            break
        kept.append(each)
    return kept
