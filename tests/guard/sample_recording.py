"""A training run of a few steps as a recording, in memory and as the lines that lie on disk."""

import json
from dataclasses import replace
from pathlib import Path

from runtime_guard.profiler.recording.recording import Header, RecordedEvent, Recording, Spot, Tally

TRAIN = """\
import torch


def train(model, batches, device):
    total = 0.0
    for x, y in batches:
        x = x.to(device)
        loss = model(x, y.to(device))
        total += loss.item()
    return total
"""

HEADER = Header(
    format=1,
    started=4e9,
    pid=41,
    host="node7",
    rank=None,
    world_size=None,
    argv=("train.py", "--epochs", "3"),
    python="3.11.7",
    torch="2.13.0",
)


def spot(file: str, line: int, kind="copy", op="Tensor.to", source="cpu", target="cuda:0") -> Spot:
    return Spot(file, line, "train", kind, op, source, target)


def events_of(file: str, steps: int, device: str, thread: int = 41) -> list[RecordedEvent]:
    """Each of the steps takes 10 ms: 1 ms to copy, 2 ms to wait."""
    copy = spot(file, 7, target=device)
    wait = spot(file, 9, "sync", "Tensor.item", device, "cpu")
    found = []
    for step in range(steps):
        found.append(RecordedEvent(step / 100, copy, 1000, 1000.0, 50.0, thread))
        found.append(RecordedEvent(step / 100 + 0.008, wait, 4, 2000.0, None, thread))
    return found


def recording(file: str, steps: int = 10, device: str = "cuda:0", **changes) -> Recording:
    """What such a run leaves; `changes` are fields of the recording."""
    events = events_of(file, steps, device)
    totals: dict[Spot, Tally] = {}
    for event in events:
        tally = Tally(1, event.bytes, event.host_us, event.device_us)
        before = totals.get(event.spot)
        totals[event.spot] = before.plus(tally) if before else tally
    values = {(file, 7, "x"): {device: steps - 1, "cpu": 1}, (file, 9, "loss"): {device: steps}}
    found = Recording(
        HEADER,
        totals,
        tuple(events),
        values,
        (MISMATCH | {"failed_at": line(file, 8)},),
        steps,
        steps / 100,
        True,
    )
    return replace(found, **changes)


def ranks(file: str, count: int = 2) -> tuple[Recording, ...]:
    """The same run in several processes, each with a device of its own."""
    return tuple(
        replace(
            recording(file, device=f"cuda:{rank}"),
            events=tuple(events_of(file, 10, f"cuda:{rank}", 41 + rank)),
            header=replace(HEADER, rank=rank, pid=41 + rank, world_size=count),
        )
        for rank in range(count)
    )


def line(file: str, number: int) -> dict[str, object]:
    return {"file": file, "line": number, "function": "train", "text": "loss = model(x, y)"}


MISMATCH: dict[str, object] = {
    "module": "layers.0",
    "module_class": "Linear",
    "argument": "input",
    "tensor": {"device": "cpu", "shape": [4, 8], "dtype": "torch.float32", "bytes": 128},
    "expected": "cuda:0",
    "anchor": "parameter 'weight'",
    "entered_at": None,
    "launched_at": None,
    "advice": "write `x = x.to(device)` above",
    "rank": "",
}


def on_disk(path: Path, file: str, steps: int = 10, device: str = "cuda:0") -> Path:
    """Write a run as its journal would, killed before its end."""
    header = {"type": "header", "continues": False} | {
        name: getattr(HEADER, name) for name in HEADER.__slots__
    }
    lines = [header, *map(_as_written, events_of(file, steps, device))]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def _as_written(event: RecordedEvent) -> dict[str, object]:
    return {
        "type": "event",
        "at": event.at,
        "kind": event.spot.kind,
        "op": event.spot.op,
        "from": event.spot.source,
        "to": event.spot.target,
        "bytes": event.bytes,
        "host_us": event.host_us,
        "device_us": event.device_us,
        "file": event.spot.file,
        "line": event.spot.line,
        "function": event.spot.function,
        "thread": event.thread,
    }
