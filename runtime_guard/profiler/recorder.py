"""Counts what is copied between the host and devices, and what makes the host wait for them.

with runtime_guard.record("run.jsonl") as recorder:
    train(model)
print(recorder)
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter, time
from typing import TYPE_CHECKING

from torch.compiler import is_compiling
from torch.optim.optimizer import register_optimizer_step_post_hook

from runtime_guard import distributed
from runtime_guard.messages.handle import Handle
from runtime_guard.profiler.recording.clock import Timing
from runtime_guard.profiler.recording.events import PendingEvent, header, header_line, spot_of
from runtime_guard.profiler.recording.mismatches import Mismatches
from runtime_guard.profiler.recording.output import Output
from runtime_guard.profiler.recording.patches import ignore, listen
from runtime_guard.profiler.recording.ranks import lines_of, room_for_each, summary
from runtime_guard.profiler.recording.tables import RecordingTables
from runtime_guard.profiler.recording.values import Header, Recording, Spot, Tally, Values
from runtime_guard.profiler.recording.watch import Sighting
from runtime_guard.witnesses import witnesses

if TYPE_CHECKING:
    from typing_extensions import Self

    from runtime_guard.mismatch import Mismatch

SMALLEST = 100_000
LINE = 200
"""About as many characters as a line of one event takes beside its spot."""
EVENTS_KEPT = 2048
TIMINGS_KEPT = 512
LARGEST_TABLES = 1_000_000


def record(path: str | Path | None = None, *, max_bytes: int = 16_000_000) -> Recorder:
    """Record copies and waits from now on, in every thread of this process.

    Args:
        path: where to write the recording, as JSON Lines; None keeps it in memory. Other ranks,
            and child processes, write files of their own beside it.
        max_bytes: how large the file may become, its older half `path.1` included. Totals are
            kept for the whole run, single events as many as fit.

    Raises:
        OSError: the file cannot be written.
        ValueError: this process records to that file already, or `max_bytes` is too small.
    """
    return Recorder(path, max_bytes=max_bytes).attach()


class Recorder(Handle):
    """Counts copies and waits, per line of the user's source, while it is attached."""

    def __init__(self, path: str | Path | None = None, *, max_bytes: int = 16_000_000) -> None:
        if max_bytes < SMALLEST:
            raise ValueError(f"max_bytes is {max_bytes}: at least {SMALLEST} are needed")
        self._max_bytes = max_bytes
        self._output = None if path is None else self._output_to(path)
        self._attached = self._complete = False
        self._undo: list[Callable[[], None]] = []
        self._call_off: Callable[[], None] | None = None
        self._begin()

    def _output_to(self, path: str | Path) -> Output:
        # The program may go to another folder before the file is opened, or rotated.
        return Output(Path(path).absolute(), self._max_bytes, self._head, self._totals_line)

    def _begin(self) -> None:
        """Start from nothing."""
        self._lock = threading.RLock()
        self._started, self._clock, self._seconds = time(), perf_counter(), 0.0
        self._header = self._written_header = header(self._started)
        self._tables = RecordingTables(min(LARGEST_TABLES, self._max_bytes // 8))
        self._events: deque[PendingEvent] = deque(maxlen=EVENTS_KEPT)
        self._timings: deque[tuple[Timing, PendingEvent]] = deque()
        self._mismatches = Mismatches(self._max_bytes // 16)

    @property
    def totals(self) -> dict[Spot, Tally]:
        """What happened so far, spot by spot."""
        with self._lock:
            self._read_timings()
            return self._tables.totals()

    @property
    def values(self) -> Values:
        """For (file, line, name) how often the value was seen on which device."""
        with self._lock:
            return self._tables.values()

    @property
    def steps(self) -> int:
        """How often an optimizer has stepped."""
        return self._tables.steps

    def recording(self) -> Recording:
        """Return everything so far; of the single events, the latest."""
        with self._lock:
            self._read_timings()
            return Recording(
                self._headed(),
                self._tables.totals(),
                tuple(each.event() for each in self._events),
                self._tables.values(),
                tuple(self._mismatches.contents),
                self._tables.steps,
                self._at(),
                self._complete,
                self._tables.dropped,
            )

    def __str__(self) -> str:
        from runtime_guard.profiler.report.tables import render

        return render([self.recording()])

    def note_mismatch(self, mismatch: Mismatch) -> None:
        """Put down what a guard has found, each place once."""
        with self._lock:
            line = self._mismatches.add(mismatch) if self._attached else ""
            if line:
                self._write(lambda: line, len(line))

    def attach(self) -> Self:
        """Count from now on, further where it was counted before."""
        with self._lock:
            if self._attached:
                return self
            if self._output is not None:
                self._open(self._output)
            self._attached, self._complete = True, False
            # The time while it was removed is not counted.
            self._clock = perf_counter() - self._seconds
            listen(self._note)
            witnesses.append(self.note_mismatch)
            hook = register_optimizer_step_post_hook(self._after_step)
            atexit.register(self._at_exit)
            self._undo = [hook.remove, lambda: atexit.unregister(self._at_exit)]
            if self._output is not None and self._call_off is None:
                # After the line above: what is registered last is called first.
                self._call_off = distributed.call_before_shutdown(self._gather)
        _recorders.add(self)
        return self

    def remove(self) -> None:
        """Count no more, and end the file.

        In a distributed run the first rank still adds the others' sums when they part.
        """
        self._end("removed")
        if self._call_off is not None and distributed.world_size() is None:
            self._call_off()
            self._call_off = None

    def _end(self, reason: str) -> None:
        with self._lock:
            if not self._attached:
                return
            self._seconds = self._at()
            self._attached, self._complete = False, True
            ignore(self._note)
            witnesses.remove(self.note_mismatch)
            for undo in self._undo:
                undo()
            self._undo = []
            self._read_timings()
            if self._output is not None:
                self._output.close(reason, self._at())
        _recorders.discard(self)

    def _note(self, sighting: Sighting) -> None:
        """Count one event."""
        with self._lock:
            sums = self._tables.sum_of(spot_of(sighting))
            if sums is None or not self._attached:
                return
            at = max(0.0, sighting.began / 1e9 - self._clock)
            entry = PendingEvent(sighting, sums, at, self._tables.steps)
            sums.add(entry.bytes, entry.host_us)
            self._tables.see(sums.spot, entry.values)
            self._events.append(entry)
            if sighting.timing is not None and len(self._timings) < TIMINGS_KEPT:
                self._timings.append((sighting.timing, entry))
            self._read_timings()
            self._write(entry.line, LINE + len(sums.encoded))

    def _after_step(self, *_arguments: object) -> None:
        # What is compiled must not count: it would be compiled anew for each number.
        if is_compiling():
            return
        with self._lock:
            self._tables.steps += 1
            if self._output is not None:
                self._output.tick()

    def _read_timings(self) -> None:
        """Take what the device has measured meanwhile; never wait for it."""
        with suppress(RuntimeError):
            while self._timings:
                device_us = self._timings[0][0].read()
                if device_us is None:
                    return
                self._timings.popleft()[1].add_device_time(device_us)
            return
        # A device that failed measures nothing any more.
        self._timings.clear()

    def _at(self) -> float:
        return perf_counter() - self._clock if self._attached else self._seconds

    def _headed(self) -> Header:
        self._header = header(self._started, self._header)
        return self._header

    def _write(self, line: Callable[[], str], size: int) -> None:
        if self._output is not None:
            self._output.append(line, size, self._at_exit)

    def _open(self, output: Output) -> None:
        paths = [each._output.path for each in _recorders if each._output is not None]
        if output.path in paths:
            raise ValueError(f"{output.path} is being recorded to already")
        output.open()

    def _head(self, continues: bool) -> str:
        return self._header_line(continues) + self._mismatches.lines()

    def _totals_line(self) -> str:
        is_written = self._headed() == self._written_header
        anew = "" if is_written else self._header_line(continues=True)
        return anew + self._tables.line(self._at())

    def _header_line(self, continues: bool) -> str:
        self._written_header = self._headed()
        return header_line(self._written_header, continues)

    def _at_exit(self) -> None:
        self._end("exit")

    def _gather(self) -> None:
        """Bring the sums of the other ranks into the file of rank 0, before they part."""
        self._call_off = None
        with self._lock:
            self._read_timings()
            room = room_for_each(self._max_bytes)
            mismatches = self._mismatches.contents
            own = summary(self._headed(), self._tables, mismatches, self._at(), room)
        lines = lines_of(distributed.gather(own))
        with self._lock:
            if not lines or self._output is None:
                return
            if not self._output.is_closed:
                self._output.add(lines)
                return
            with suppress(OSError):
                self._output.open()
                self._output.close("removed", self._at(), lines)

    def _after_fork(self) -> None:
        """Begin anew in a child process; what was counted so far is the parent's to report."""
        self._begin()
        if self._output is not None:
            self._output.leave_to_parent()


_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _after_fork() -> None:
    for recorder in tuple(_recorders):
        recorder._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
