"""Where the parts of a model lie, and which of them were left behind on the CPU."""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.optim import Optimizer

from runtime_guard.check.allowed import indexes_from_cpu, mixes_from_cpu
from runtime_guard.errors import PlacementWarning
from runtime_guard.lines import is_users
from runtime_guard.mismatch import TensorFacts
from runtime_guard.placement.advice import REMARK, problem_of
from runtime_guard.placement.memory import Memory, facts_of
from runtime_guard.placement.optimizer import held_by_optimizer
from runtime_guard.placement.walk import Held, Kind, held_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import FrameType

    from rich.console import RenderableType

_NAMED_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class PlacedTensor:
    """One tensor of the model or of its optimizer.

    Attributes:
        path: as Python would write it behind `model.`: `encoder.masks[0]`; for the optimizer,
            the whole of it: `optimizer.state[model.weight]["exp_avg"]`.
        kind: what it is held as.
        tensor: device, shape, dtype and size.
        problem: why it was left behind and what to write; empty where it was not.
        remark: what is worth knowing where nothing is wrong.
        same_as: the path of an entry in whose memory this one lies; it is not counted again.
    """

    path: str
    kind: Kind
    tensor: TensorFacts
    problem: str = ""
    remark: str = ""
    same_as: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """Every tensor of a model and its optimizer, with its device; `str` shows the summary.

    Attributes:
        entries: one for each tensor; one that is held at several places stands at the first.
        main_device: the device, other than the CPU, with most bytes of parameters and buffers;
            `cpu` where no other has any.
    """

    entries: tuple[PlacedTensor, ...]
    main_device: str

    @property
    def by_device(self) -> dict[str, tuple[int, int]]:
        """Number and bytes of the tensors on each device; shared memory counts once."""
        tensors, size = Counter[str](), Counter[str]()
        for entry in self.entries:
            if not entry.same_as:
                tensors[entry.tensor.device] += 1
                size[entry.tensor.device] += entry.tensor.bytes
        return {device: (tensors[device], size[device]) for device in sorted(tensors)}

    @property
    def remarks(self) -> tuple[PlacedTensor, ...]:
        """What works as it is, and is worth knowing."""
        return tuple(entry for entry in self.entries if entry.remark)

    @property
    def left_behind(self) -> tuple[PlacedTensor, ...]:
        """What lies on the CPU and will fail there, since the rest of the model is elsewhere."""
        return tuple(entry for entry in self.entries if entry.problem)

    def to_dict(self) -> dict[str, Any]:
        """The same as nested dictionaries, for JSON."""
        return {
            "main_device": self.main_device,
            "by_device": {
                device: {"tensors": tensors, "bytes": size}
                for device, (tensors, size) in self.by_device.items()
            },
            "left_behind": [entry.path for entry in self.left_behind],
            "entries": [asdict(entry) for entry in self.entries],
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def __rich__(self) -> RenderableType:
        from runtime_guard.placement.text import rendered

        return rendered(self)

    def __str__(self) -> str:
        from runtime_guard.placement.text import text_of

        return text_of(self)


def report(model: nn.Module, optimizer: Optimizer | None = None) -> Placement:
    """Say where each tensor of a model lies: in one pass, without changing or moving any.

    Args:
        model: its parameters, buffers, plain tensor attributes and the modules in plain lists,
            tuples and dictionaries are looked at.
        optimizer: its state is looked at too, and its parameters that are not the model's.
    """
    held = held_by(model)
    if optimizer is not None:
        held += held_by_optimizer(optimizer, held)
    main_device = _main_device(held)
    memory = Memory()
    return Placement(tuple(_entry(each, main_device, memory) for each in held), main_device)


def warn_of(placement: Placement) -> None:
    """Warn once of all that was left behind, at the user's line that led here."""
    left_behind = placement.left_behind
    if not left_behind:
        return
    lines = [f"left behind on cpu, while the model is on {placement.main_device}:"]
    for problem, entries in by_text(left_behind).items():
        lines += [f"  {summary_of(entries)}", f"    {problem}"]
    warnings.warn("\n".join(lines), PlacementWarning, stacklevel=_stacklevel())


def _entry(held: Held, main_device: str, memory: Memory) -> PlacedTensor:
    facts = facts_of(held.tensor)
    entry = PlacedTensor(
        held.path, held.kind, facts, same_as=memory.already_held(held.path, held.tensor)
    )
    if not _may_be_wrong(held, main_device):
        return entry
    if held.kind == "attribute" and indexes_from_cpu(held.tensor):
        return replace(entry, remark=REMARK)
    return replace(entry, problem=problem_of(held, main_device))


def _may_be_wrong(held: Held, main_device: str) -> bool:
    """Whether it lies on the CPU with no good reason, while the model lies elsewhere.

    0-dim tensors mix with those of any device, an empty one is a place for what comes later, and
    tensors of torch.distributed know their devices themselves.
    """
    return not (
        main_device == "cpu"
        or held.tensor.device.type != "cpu"
        or mixes_from_cpu(held.tensor)
        or held.tensor.numel() == 0
        or held.placed
        or held.computed
        or hasattr(held.tensor, "device_mesh")
    )


def _main_device(held: list[Held]) -> str:
    """What accelerate parks on `meta` is not there to stay, and does not count."""
    size = Counter[str]()
    for each in held:
        parked = each.placed and each.tensor.device.type == "meta"
        if each.kind in ("parameter", "buffer") and not parked:
            facts = facts_of(each.tensor)
            size[facts.device] += facts.bytes
    elsewhere = [device for device in size if device != "cpu"]
    return max(elsewhere, key=size.__getitem__, default="cpu")


def by_text(entries: Iterable[PlacedTensor]) -> dict[str, list[PlacedTensor]]:
    """Group entries of which the same is to be said, in the order in which they stand."""
    groups: dict[str, list[PlacedTensor]] = {}
    for entry in entries:
        groups.setdefault(entry.problem or entry.remark, []).append(entry)
    return groups


def summary_of(entries: Sequence[PlacedTensor]) -> str:
    """Name the first few of many: `a.weight float32[2, 2], a.bias float32[2] and 4 more`."""
    named = [
        f"{entry.path} {entry.tensor.dtype.removeprefix('torch.')}{list(entry.tensor.shape)}"
        for entry in entries[:_NAMED_AT_ONCE]
    ]
    more = len(entries) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _stacklevel() -> int:
    """How far the user's innermost line is from the function that asks."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return level
        frame, level = frame.f_back, level + 1
    return 2
