"""Counts what the expressions of a process give: by expression, and by call of a function."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.agreement.recording.devices import (
    MODULE,
    NAMES,
    NOTHING,
    DeviceReader,
    kind_of,
)
from benchmarks.agreement.recording.owning import Ownership
from benchmarks.agreement.recording.places import Places

MOST_SIGNATURES = 64
"""Of a function, so many different calls with values on several devices are kept."""
MOST_CLASSES = 20_000
"""Of so many classes it is remembered what they are."""
SAVED_EVERY = 30.0
"""Seconds after which the notes are written anew: a process may be killed."""

Seen = tuple[str, str, bool]
"""A device, what the value is (tensor, parameter, module), and whether it is 0-dim."""
Signature = tuple[tuple[int, int], ...]
"""What one call has seen: expressions by number, with the devices of each as bits."""


class CallNotes:
    """The notes of one call of a function, handed over when its frame goes."""

    __slots__ = ("function", "leave", "seen")

    def __init__(self, function: int, leave: Callable[[int, dict[int, int]], None]) -> None:
        self.function = function
        self.leave = leave
        self.seen: dict[int, int] = {}

    def __del__(self) -> None:
        if self.seen:
            self.leave(self.function, self.seen)


class Recorder:
    """What this process has noted so far.

    Attributes:
        places: the expressions that are noted.
        counts: of each expression, how often it gave what.
        keys: what the numbers in `counts` stand for.
        devices: what the bits in signatures stand for.
        entered: how often each function had something to note.
        signatures: of each function, calls that saw several devices, and how often.
        dropped: the calls of which no signature was kept.
    """

    def __init__(self) -> None:
        self.places = Places()
        self.save: Callable[[], None] = lambda: None
        self.ownership = Ownership()
        self._reader = DeviceReader()
        self._kinds: dict[type, int] = {}
        self._numbers: dict[Seen, int] = {}
        self.keys: list[Seen] = []
        self.devices: list[str] = []
        self._last_saved = time.monotonic()
        self.forget()

    def forget(self) -> None:
        """Begin anew, as a process does that was forked off."""
        self.counts: dict[int, dict[int, int]] = {}
        self.entered: Counter[int] = Counter()
        self.signatures: dict[int, Counter[Signature]] = {}
        self.dropped = 0
        self._of_files: dict[int, dict[int, int]] = {}
        self.ownership.forget()

    # -- what the compiled files call ------------------------------------------------------

    def note(self, place: int, value: Any, frame: CallNotes | int | None) -> Any:
        """Note the value of an expression, and give it back."""
        kind = self._kinds.get(type(value))
        if kind is None:
            kind = self._kind_of(type(value))
        if kind:
            self._see(place, value, kind, frame)
        return value

    def enter(self, function: int) -> CallNotes:
        """A function is called."""
        return CallNotes(function, self._leave)

    def enter_forward(self, function: int, module: Any) -> CallNotes:
        """The `forward` of a module is called."""
        self.ownership.entered(module)
        return CallNotes(function, self._leave)

    # -- what is made of it ----------------------------------------------------------------

    def _kind_of(self, kind: type) -> int:
        found = kind_of(kind)
        if len(self._kinds) < MOST_CLASSES:
            self._kinds[kind] = found
        return found

    def _see(self, place: int, value: Any, kind: int, frame: CallNotes | int | None) -> None:
        seen = self._notes(place, frame)
        if kind == MODULE:
            device, is_scalar = self._reader.of_module(value), False
        else:
            device, is_scalar = self._reader.of_tensor(value)
        number = self._number(device, kind, is_scalar)
        counts = self.counts.setdefault(place, {})
        counts[number] = counts.get(number, 0) + 1
        if "+" not in device:
            seen[place] = seen.get(place, 0) | self._bit(device)

    def _notes(self, place: int, frame: CallNotes | int | None) -> dict[int, int]:
        """The notes of a call, of a file's own statements, or of nothing that is compared."""
        if isinstance(frame, CallNotes):
            return frame.seen
        if frame is None:
            return self._of_files.setdefault(self.places.file_of[place], {})
        return {}

    def _number(self, device: str, kind: int, is_scalar: bool) -> int:
        key = (device, NAMES[kind], is_scalar)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.keys)
            self.keys.append(key)
        return number

    def _bit(self, device: str) -> int:
        """The bit of a device; what is nowhere, or cannot be read, speaks against nothing."""
        if device in ("none", "unreadable"):
            return 0
        if device not in self.devices:
            self.devices.append(device)
        return 1 << self.devices.index(device)

    def _leave(self, function: int, seen: dict[int, int]) -> None:
        """A call is over: what it saw is kept where that was on several devices."""
        self.entered[function] += 1
        together = 0
        for bits in seen.values():
            together |= bits
        if together & (together - 1):
            self._keep(function, tuple(sorted(seen.items())))
        if time.monotonic() - self._last_saved > SAVED_EVERY:
            self._last_saved = time.monotonic()
            self.save()

    def _keep(self, function: int, signature: Signature) -> None:
        kept = self.signatures.setdefault(function, Counter())
        if signature in kept or len(kept) < MOST_SIGNATURES:
            kept[signature] += 1
        else:
            self.dropped += 1

    def of_files(self) -> list[tuple[int, Signature]]:
        """What the statements of each file have seen: a call of their own."""
        return [(file, tuple(sorted(seen.items()))) for file, seen in self._of_files.items()]


assert NOTHING == 0, "`note` asks whether there is anything to note"
