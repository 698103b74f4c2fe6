"""Reads what `runtime_guard.record` wrote: JSON Lines, of which the last totals count.

The format is public, and its number stands in the first line; nothing of runtime_guard is needed
to read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from devicelint.finding import InputError
from devicelint.map.model import Measure, RecordedRun

FORMAT = 1

_Spot = tuple[str, Measure]
"""A file, and what was measured in it."""


@dataclass(frozen=True)
class Recording:
    """What one process recorded, in all files of the program."""

    command: str
    seconds: float
    steps: int
    is_complete: bool
    spots: tuple[_Spot, ...]

    def in_file(self, path: str) -> RecordedRun:
        """What happened in one file: the one of that path, or else of that name and folder."""
        files = dict.fromkeys(file for file, _ in self.spots)
        meant = next((file for file in files if _is_same(file, path)), None)
        meant = meant or _alike(files, path)
        measures = tuple(measure for file, measure in self.spots if file == meant)
        return RecordedRun(self.command, self.seconds, self.steps, measures, self.is_complete)


def _is_same(recorded: str, path: str) -> bool:
    return os.path.abspath(recorded) == os.path.abspath(path)


def _alike(files: Iterable[str], path: str) -> str | None:
    """The recorded file that ends as a path does: the run may have been on another machine."""
    own = tuple(reversed(PurePath(os.path.abspath(path)).parts))
    alike = {file: _common(own, _reversed_parts(file)) for file in files}
    best = max(alike.values(), default=0)
    nearest = [file for file, parts in alike.items() if parts == best]
    return nearest[0] if best and len(nearest) == 1 else None


def _reversed_parts(recorded: str) -> tuple[str, ...]:
    return tuple(reversed(recorded.replace("\\", "/").split("/")))


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def read_recording(data: bytes, path: str) -> Recording:
    """Read a recording; raises InputError, with the line, for what is none."""
    fold = _Fold()
    *lines, _cut = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if reason := fold.refuses(line):
            raise InputError(path, number, 0, f"is no recording of runtime_guard: {reason}")
    if not fold.has_header:
        raise InputError(path, 1, 0, "is no recording of runtime_guard: it is empty")
    return fold.recording()


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def together(recordings: Iterable[Recording]) -> Recording:
    """Several processes of one run as one."""
    first, *others = recordings
    for one in others:
        first = replace(
            first,
            seconds=max(first.seconds, one.seconds),
            steps=max(first.steps, one.steps),
            is_complete=first.is_complete and one.is_complete,
            spots=tuple(_summed((*first.spots, *one.spots))),
        )
    return first


def _summed(spots: Iterable[_Spot]) -> Iterator[_Spot]:
    sums: dict[tuple[str, Measure], Measure] = {}
    for file, measure in spots:
        key = (file, replace(measure, count=0, bytes=0, host_us=0.0, device_us=None))
        sums[key] = _plus(sums[key], measure) if key in sums else measure
    yield from ((file, measure) for (file, _), measure in sums.items())


def _plus(one: Measure, other: Measure) -> Measure:
    device = [us for us in (one.device_us, other.device_us) if us is not None]
    return replace(
        one,
        count=one.count + other.count,
        bytes=one.bytes + other.bytes,
        host_us=one.host_us + other.host_us,
        device_us=sum(device) if device else None,
    )


class _Fold:
    """What the lines so far add up to."""

    def __init__(self) -> None:
        self.has_header = False
        self._command = ""
        self._seconds = 0.0
        self._steps = 0
        self._is_complete = False
        self._spots: list[_Spot] = []
        self._ranks: list[_Spot] = []

    def refuses(self, line: bytes) -> str:
        """Take a line; why it cannot be one of a recording, or nothing."""
        try:
            content = json.loads(line, parse_constant=_refuse)
            self._take(content if isinstance(content, dict) else {})
        except KeyError as error:
            return f"there is no {error}"
        except (ValueError, TypeError, RecursionError) as error:
            return str(error)
        return ""

    def _take(self, content: Mapping[str, Any]) -> None:
        kind = content["type"]
        if not self.has_header and kind != "header":
            raise ValueError("it begins with no header")
        match kind:
            case "header":
                self._header(content)
            case "event":
                self._spots.append(_spot(content, count=1))
                self._last_until(_number(content, "at"))
                self._steps = max(self._steps, int(_number(content, "step")))
            case "totals":
                self._spots = [_spot(one) for one in content["spots"]]
                self._steps = int(_number(content, "steps"))
                self._last_until(_number(content, "at"))
            case "rank":
                self._ranks += [_spot(one) for one in content["totals"]["spots"]]
            case "end":
                self._is_complete = True
                self._last_until(_number(content, "at"))
            case _:
                pass  # A later version may write more; what it means to add to is above.

    def _header(self, content: Mapping[str, Any]) -> None:
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r}, where this version reads {FORMAT}")
        self.has_header = True
        self._command = " ".join(_text(content, "argv", word) for word in content["argv"])

    def _last_until(self, seconds: float) -> None:
        self._seconds = max(self._seconds, seconds)

    def recording(self) -> Recording:
        spots = tuple(_summed((*self._spots, *self._ranks)))
        return Recording(self._command, self._seconds, self._steps, self._is_complete, spots)


def _spot(content: Mapping[str, Any], count: int | None = None) -> _Spot:
    device = content["device_us"]
    return _text(content, "file"), Measure(
        int(_number(content, "line")),
        _text(content, "op"),
        _text(content, "kind"),
        _text(content, "from"),
        _text(content, "to"),
        int(_number(content, "count")) if count is None else count,
        int(_number(content, "bytes")),
        _number(content, "host_us"),
        None if device is None else _number(content, "device_us"),
    )


def _text(content: Mapping[str, Any], key: str, value: object = None) -> str:
    found = content[key] if value is None else value
    if not isinstance(found, str):
        raise TypeError(f'"{key}" is no text')
    return found


def _number(content: Mapping[str, Any], key: str) -> float:
    found = content[key]
    if type(found) not in (int, float) or not 0 <= found < LARGEST:
        raise ValueError(f'"{key}" is no number that can be')
    return float(found)


LARGEST = 2**63
"""No number of a recording comes near it."""
