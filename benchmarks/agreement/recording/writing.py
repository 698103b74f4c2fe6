"""Writes what a process has noted, a line of JSON for each file, expression, call and class."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.agreement.recording.noting import Recorder, Signature

Line = dict[str, Any]


def write(recorder: Recorder, into: Path) -> None:
    """Write all that was noted so far to the file of this process, which is made anew."""
    lines = [f"{json.dumps(line)}\n" for line in lines_of(recorder)]
    path = into / f"{os.getpid()}.jsonl"
    unfinished = path.with_suffix(".part")
    unfinished.write_text("".join(lines), encoding="utf-8")
    unfinished.replace(path)


def lines_of(recorder: Recorder) -> Iterator[Line]:
    """What was noted: files, expressions, calls that saw several devices, classes of modules."""
    places = recorder.places
    for number, path in enumerate(places.files):
        yield {"file": number, "path": path, "expressions": places.file_of.count(number)}
    for path in places.failed:
        yield {"failed": path}
    for place, counts in list(recorder.counts.items()):
        seen = [[*recorder.keys[key], times] for key, times in list(counts.items())]
        at = [places.file_of[place], *places.spans[place]]
        yield {"place": at, "kind": places.kinds[place], "seen": seen}
    yield from _calls(recorder)
    for kind, attributes in list(recorder.ownership.kinds.items()):
        owned = {name: sorted(found) for name, found in attributes.items()}
        yield {"class": kind.__qualname__, "path": recorder.ownership.files[kind], "owned": owned}


def _calls(recorder: Recorder) -> Iterator[Line]:
    places = recorder.places
    for function, times in list(recorder.entered.items()):
        file, line, name = places.functions[function]
        kept = list(recorder.signatures.get(function, {}).items())
        calls = [[_signed(recorder, signature), count] for signature, count in kept]
        yield {"function": [file, line, name], "calls": times, "mixed": calls}
    for file, signature in recorder.of_files():
        yield {"function": [file, 1, ""], "calls": 1, "mixed": [[_signed(recorder, signature), 1]]}
    if recorder.dropped:
        yield {"dropped": recorder.dropped}


def _signed(recorder: Recorder, signature: Signature) -> list[Any]:
    """A call: each expression, and the devices on which it was."""
    return [
        [list(recorder.places.spans[place]), _devices(recorder, bits)] for place, bits in signature
    ]


def _devices(recorder: Recorder, bits: int) -> list[str]:
    return [name for at, name in enumerate(recorder.devices) if bits >> at & 1]
