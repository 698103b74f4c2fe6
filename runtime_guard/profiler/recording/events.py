"""One event of a recording, from what was sighted to a line of JSON; and the run's header."""

from __future__ import annotations

import json
import os
import platform
import socket
import sys
from dataclasses import asdict

import torch

from runtime_guard.distributed import rank, world_size
from runtime_guard.machines import in_effect
from runtime_guard.profiler.recording.names import Names
from runtime_guard.profiler.recording.tables import Sum
from runtime_guard.profiler.recording.values import FORMAT, Header, RecordedEvent, Spot
from runtime_guard.profiler.recording.watch import Sighting

LONGEST_ARGUMENTS = 2000
ASKING = frozenset(
    "array asarray bool complex float format hex index int print range repr round str".split()
)
"""Functions that ask their only argument for its value, and nothing else."""


class PendingEvent:
    """An event that waits for its line to be written, and perhaps for what the device measures."""

    __slots__ = ("at", "bytes", "device_us", "host_us", "step", "sums", "thread", "values")

    def __init__(self, sighting: Sighting, sums: Sum, at: float, step: int) -> None:
        self.sums = sums
        self.at = at
        self.step = step
        self.bytes = sighting.transfer.bytes
        self.host_us = (sighting.ended - sighting.began) / 1000
        self.device_us: float | None = None
        self.thread = sighting.thread
        self.values = devices_of_names(sighting)

    def add_device_time(self, device_us: float) -> None:
        """Add what the device measured, here and to the sums."""
        self.device_us = device_us
        self.sums.add_device_time(device_us)

    def event(self) -> RecordedEvent:
        """Return the event as a value."""
        spot = self.sums.spot
        return RecordedEvent(self.at, spot, self.bytes, self.host_us, self.device_us, self.thread)

    def line(self) -> str:
        """Return the event as JSON."""
        device_us = "null" if self.device_us is None else f"{self.device_us:.1f}"
        values = f', "values": {json.dumps(self.values)}' if self.values else ""
        return (
            f'{{"type": "event", "at": {self.at:.6f}, "step": {self.step}, "bytes": {self.bytes}, '
            f'"host_us": {self.host_us:.1f}, "device_us": {device_us}, "thread": {self.thread}, '
            f"{self.sums.encoded}{values}}}"
        )


def spot_of(sighting: Sighting) -> Spot:
    """Return where it was, and what."""
    site, transfer = sighting.site, sighting.transfer
    return Spot(
        site.file,
        site.line,
        site.function,
        transfer.kind,
        sighting.op,
        transfer.source,
        transfer.target,
    )


def devices_of_names(sighting: Sighting) -> dict[str, str]:
    """Return on which device each named value is, once the statement is over."""
    names, (kind, source, target, *_rest) = sighting.site.names, sighting.transfer
    called = sighting.op.rpartition(".")[2]
    if sighting.op.startswith("x["):
        held = source if kind == "sync" else target
        found = {names.receiver: held, names.argument: source if kind == "index" else ""}
        if sighting.op == "x[index] = value":
            found = {names.receiver: target, names.assigned: source}
    elif kind == "sync":
        found = {_asked(names, called): source}
    elif names.called != called:
        # Asked for inside a library that the line called.
        found = {}
    elif called == "copy_":
        found = {names.receiver: target, names.argument: source}
    else:
        moves_itself = sighting.op.startswith("Module.")
        found = {names.receiver: target if moves_itself else source, names.assigned: target}
    found.pop("", None)
    return {name: device for name, device in found.items() if device}


def _asked(names: Names, called: str) -> str:
    """Return what was asked for its value: `x` in `x.item()`, `float(x)` and `if x:`."""
    if names.called == called:
        return names.receiver
    if called == "bool()" and names.itself:
        return names.itself
    return names.argument if called.endswith("()") and names.called in ASKING else ""


def header(started: float, known: Header | None = None) -> Header:
    """Describe this process, which may be `known` as it described itself before.

    While `python -m` imports the package of a module, the arguments begin with "-m"; a process
    may learn its rank late, and forget it before its end.
    """
    is_told = known is not None and known.argv[:1] != ("-m",)
    own, size = rank(), world_size()
    return Header(
        format=FORMAT,
        started=started,
        pid=os.getpid(),
        host=socket.gethostname(),
        rank=known.rank if known and own is None else own,
        world_size=known.world_size if known and size is None else size,
        argv=known.argv if known and is_told else tuple(_shortened(sys.argv)),
        python=platform.python_version(),
        torch=str(torch.__version__),
        virtual=bool(in_effect) or (known is not None and known.virtual),
    )


def header_line(of: Header, continues: bool) -> str:
    """Return the line that a file begins with."""
    return json.dumps({"type": "header", **asdict(of), "continues": continues}) + "\n"


def _shortened(argv: list[str]) -> list[str]:
    room = LONGEST_ARGUMENTS
    kept = []
    for argument in argv:
        kept.append(argument[: max(0, room)])
        room -= len(argument)
        if room <= 0:
            break
    return kept
