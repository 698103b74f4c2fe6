"""Where every value lives, line by line, for a reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devicelint.domain.devices import Device, Unsure
from devicelint.domain.events import Assigned, Event, Transfer
from devicelint.domain.values import Array, Const, HostValue
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.run import Listener, Run
from devicelint.interpreter.torch.reveal import revealed_device
from devicelint.text.positions import locate
from devicelint.text.source import SourceFile


@dataclass(frozen=True)
class Trace:
    """Notes for the margin of a file: line, and what is known of each value there."""

    lines: tuple[tuple[int, tuple[str, ...]], ...]


class Tracing:
    """Listens to assignments and transfers, in the world with one accelerator."""

    def __init__(self) -> None:
        self._notes: dict[tuple[World, cst.CSTNode, str], list[str]] = {}

    def listener_for(self, world: World) -> Listener:
        """The listener of one walk; a walk that is given up is walked again in other worlds."""

        def listen(event: Event, run: Run) -> None:
            if world.accelerators != 1:
                return
            for site, name, device in _noted(event, run):
                seen = self._notes.setdefault((world, site, name), [])
                if device not in seen:
                    seen.append(device)

        return listen

    def trace(self, source: SourceFile, module: cst.Module) -> Trace:
        """The notes at their lines, in the order of the text."""
        spans = locate(module, source, {site for _, site, _ in self._notes})
        merged: dict[tuple[int, int, str], list[str]] = {}
        for (_, site, name), devices in self._notes.items():
            start = spans[site].start
            known = merged.setdefault((source.position(start).line, start, name), [])
            known.extend(device for device in devices if device not in known)
        lines: dict[int, list[str]] = {}
        moved = {(line, name) for (line, _, name), notes in merged.items() if " -> " in notes[0]}
        for (line, _, name), devices in sorted(merged.items()):
            if " -> " in devices[0] or (line, name) not in moved:
                lines.setdefault(line, []).append(f"{name}: {' or '.join(devices)}")
        return Trace(tuple((line, tuple(notes)) for line, notes in lines.items()))


def _noted(event: Event, run: Run) -> Iterator[tuple[cst.CSTNode, str, str]]:
    if isinstance(event, Assigned):
        device = revealed_device(run, event.value)
        if not isinstance(device, Unsure) and not isinstance(event.value, _ON_HOST):
            assert isinstance(event.site, cst.CSTNode)
            yield event.site, event.name, str(device)
    elif isinstance(event, Transfer) and event.target is not None:
        assert isinstance(event.site, cst.CSTNode)
        assert isinstance(event.receiver_site, cst.CSTNode)
        before = "?" if event.origin is None else _brief(event.origin)
        name = _in_brief(run.code_of(event.receiver_site))
        if before != str(event.target):
            yield event.site, name, f"{before} -> {event.target}"


def _in_brief(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


_LONGEST = 24


def _brief(device: Device) -> str:
    return "?" if isinstance(device, Unsure) else str(device)


_ON_HOST = (Const, HostValue, Array)
