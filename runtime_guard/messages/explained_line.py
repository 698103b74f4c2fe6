"""What the line says where no function of torch's does: which of its tensors is out of place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from runtime_guard.messages.frames import Step, Whereabouts, module_of
from runtime_guard.messages.message import HEAD, headline, places, row
from runtime_guard.messages.moving import moved
from runtime_guard.messages.naming import device_in
from runtime_guard.messages.unnamed import Unnamed

_MOST_TENSORS = 6


def name_of(where: Whereabouts) -> str:
    """What a message calls the code that failed: the module, or else the function."""
    module, step = where.module, where.failing
    if step is None or module is None or module_of(step) is not module:
        function = where.failed_at.function if where.failed_at else "<module>"
        # `<module>`, `<lambda>`, `<listcomp>`: Python has a name for them, and nobody else.
        return "this line" if function.endswith(">") else f"{function}()"
    kind = type(module).__name__
    return f"{where.path} ({kind})" if where.path else kind


def announced(kind: str, path: str) -> str:
    """What a message calls a tensor: `variable 'mask'`, `attribute `self.mask``."""
    if path.startswith("self."):
        kind = "attribute"
    return f"{kind} '{path}'" if path.isidentifier() else f"{kind} `{path}`"


def by_device(named: Iterable[tuple[str, Tensor]]) -> Iterator[str]:
    """The tensors device by device, each once."""
    found: dict[str, dict[int, str]] = {}
    for name, tensor in named:
        if not name.startswith("_"):
            found.setdefault(str(tensor.device), {}).setdefault(id(tensor), name)
    for device, names in found.items():
        shown = list(names.values())
        more = f" and {len(shown) - _MOST_TENSORS} more" if len(shown) > _MOST_TENSORS else ""
        yield from row(f"on {device}", ", ".join(shown[:_MOST_TENSORS]) + more)


def of_unnamed(where: Whereabouts, tensors: dict[str, Tensor]) -> str:
    """What the line names is in one place, and met what it makes or what a call returned."""
    if not tensors or where.failing is None:
        return ""
    name, tensor = next(iter(tensors.items()))
    said, advice = _met(where.failing, name, tensor)
    if not said:
        return ""
    first = f"{name_of(where)} has {announced('variable', name)} on {tensor.device}, but {said}"
    lines = [*headline(HEAD + first)]
    lines += places(where.failed_at, where.entered_at, where.launched_at)
    return "\n".join([*lines, *row("to fix it", advice), *by_device(tensors.items())])


def _met(step: Step, name: str, tensor: Tensor) -> tuple[str, str]:
    """What a named tensor met on its line, and what to write about it."""
    met, device, place = Unnamed(step), torch.get_default_device(), step.written.place
    goal = device_in(step, tensor.device)
    if met.made and device != tensor.device:
        code, said = met.made[0], f"`{met.made[0]}` is made on {device}"
        if tensor.device.type == "cpu":
            there = device_in(step, device)
            return said, f"write `{moved(step, name, there, device)}` before {place}"
        inside = f"device={goal}" if code.endswith("()") else f", device={goal}"
        return said, f"write `{code[:-1]}{inside})` in place of `{code}` at {place}"
    if len(met.returned) == 1 and tensor.device.type != "cpu":
        code = met.returned[0]
        said = f"what `{code}` returns is on another device"
        return said, f"write `{code}.to({goal})` in place of `{code}` at {place}"
    return "", ""
