"""Records, in every process, what backward begins from, and the parameters after each step."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = "EXAMPLES_RECORD"


def after_import(torch: Any) -> None:
    """Seed torch, keep its sums in one order, and record what it learns."""
    torch.manual_seed(int(os.environ["EXAMPLES_SEED"]))
    torch.set_num_threads(1)
    _define_memory(torch)
    if FOLDER in os.environ:
        _record_backward(torch)
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(lambda optimizer, *_: _note_step(torch, optimizer))


def _define_memory(torch: Any) -> None:
    """Let `to_empty` give what is the same each time: FSDP2's model resets a part of it alone."""
    to_empty = torch.nn.Module.to_empty

    def defined(self: Any, *args: Any, **kwargs: Any) -> Any:
        to_empty(self, *args, **kwargs)
        for tensor in (*self.parameters(), *self.buffers()):
            tensor.detach().fill_(0.01)
        return self

    torch.nn.Module.to_empty = defined


def _record_backward(torch: Any) -> None:
    run: Any = torch.autograd._engine_run_backward

    def recorded(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            for output in outputs:
                if isinstance(output, torch.Tensor):
                    _note("backward", _value(torch, output))
                    _note_device(output)
        return run(outputs, *args, **kwargs)

    torch.autograd._engine_run_backward = recorded


def _note_device(tensor: Any) -> None:
    marks = sys.modules.get("runtime_guard.virtual.devices.marks")
    device = tensor.device if marks is None else marks.device_of(_local(tensor))
    (Path(os.environ[FOLDER]) / f"{device.type}.device").touch()


def _note_step(torch: Any, optimizer: Any) -> None:
    with torch._C.DisableTorchFunction():
        check = 0
        for parameter in _parameters(optimizer):
            check = zlib.crc32(_bytes(torch, parameter), check)
    _note("step", f"{check:08x}")


def _parameters(optimizer: Any) -> Iterator[Any]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _value(torch: Any, tensor: Any) -> str:
    """The exact value of a tensor of one element; a checksum of the bytes of a larger one."""
    if tensor.numel() == 1 and tensor.is_floating_point():
        return float(_local(tensor).detach().double().item()).hex()
    return f"{zlib.crc32(_bytes(torch, tensor)):08x}"


def _bytes(torch: Any, tensor: Any) -> bytes:
    local = _local(tensor).detach().contiguous()
    data: bytes = local.reshape(-1).view(torch.uint8).numpy().tobytes()
    return data


def _local(tensor: Any) -> Any:
    """What of a distributed tensor lies in this process."""
    while True:
        if hasattr(tensor, "_local_tensor"):
            tensor = tensor._local_tensor
        elif hasattr(tensor, "elem"):
            tensor = tensor.elem
        else:
            return tensor


def _note(kind: str, value: str) -> None:
    """Write a line to this process's own file: a fork gets another one than its parent."""
    name = f"{os.environ.get('RANK', '-')}.{os.getpid()}.txt"
    with (Path(os.environ[FOLDER]) / name).open("a") as file:
        file.write(f"{kind} {value}\n")
