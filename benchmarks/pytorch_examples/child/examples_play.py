"""Lets the CPU play the accelerator, so that a script goes the way that it goes on a GPU.

Nothing is marked, checked or copied: what the scripts ask for their devices is answered by "cpu",
and a move there is the plain move to the CPU. `EXAMPLES_PLAY` says how many devices to play.
"""

from __future__ import annotations

import copy
import os
from typing import Any

COUNT = "EXAMPLES_PLAY"


def after_import(torch: Any) -> None:
    """Play, where that is asked for."""
    if COUNT in os.environ:
        count = int(os.environ[COUNT])
        _answer(torch, count)
        _move(torch)
        _distribute(torch)
        _parallel(torch, count)
        torch.load = _load(torch.load)
        _let_go(torch)


def _answer(torch: Any, count: int) -> None:
    accelerator, cuda = torch.accelerator, torch.cuda
    accelerator.is_available = lambda: True
    accelerator.current_accelerator = lambda **_kwargs: torch.device("cpu")
    accelerator.device_count = cuda.device_count = lambda: count
    accelerator.set_device_index = accelerator.device_index = lambda _index: None
    cuda.set_device = lambda _index: None
    # Pinned memory is for copies to a real accelerator, which the loader looks for.
    loader = torch.utils.data.DataLoader
    start = loader.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        start(self, *args, **{**kwargs, "pin_memory": False})

    loader.__init__ = init


def _move(torch: Any) -> None:
    """Take an ordinal, and `.cuda()`, for the CPU."""
    for kind in (torch.Tensor, torch.nn.Module):
        kind.to = _to(torch, kind.to)
        kind.cuda = lambda self, *_args, **_kwargs: self


def _to(torch: Any, original: Any) -> Any:
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        place = args[0] if args else None
        if isinstance(place, int) or (isinstance(place, torch.device) and place.type == "cpu"):
            args = ("cpu", *args[1:])
        return original(self, *args, **kwargs)

    return to


def _load(original: Any) -> Any:
    def load(*args: Any, map_location: Any = None, **kwargs: Any) -> Any:
        place = None if map_location is None else "cpu"
        return original(*args, map_location=place, **kwargs)

    return load


def _distribute(torch: Any) -> None:
    """Talk over gloo; let replicas of a model know no device."""
    distributed, parallel = torch.distributed, torch.nn.parallel
    start = distributed.init_process_group

    def init_process_group(backend: str | None = None, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("device_id", None)
        start("gloo" if backend == "nccl" else backend, *args, **kwargs)

    original: Any = parallel.DistributedDataParallel

    class Distributed(original):
        """Without device_ids, which only a GPU has."""

        def __init__(self, module: Any, device_ids: Any = None, **kwargs: Any) -> None:
            del device_ids
            super().__init__(module, **kwargs)

    distributed.init_process_group = init_process_group
    distributed.distributed_c10d.init_process_group = init_process_group
    parallel.DistributedDataParallel = parallel.distributed.DistributedDataParallel = Distributed


def _parallel(torch: Any, count: int) -> None:
    """Split each batch among the devices, as DataParallel does."""

    class DataParallel(torch.nn.Module):
        """The module itself for the first part of a batch, replicas of it for the others."""

        def __init__(self, module: Any) -> None:
            super().__init__()
            self.module = module

        def forward(self, batch: Any) -> Any:
            return data_parallel(self.module, batch, range(count))

    def data_parallel(module: Any, batch: Any, devices: Any) -> Any:
        first, *others = batch.chunk(len(devices))
        state = {name: copy.deepcopy(value) for name, value in module.named_buffers()}
        outputs = [module(first)]
        for part in others:
            buffers = {name: value.clone() for name, value in state.items()}
            outputs.append(torch.func.functional_call(module, buffers, (part,)))
        return torch.cat(outputs)

    torch.nn.DataParallel = torch.nn.parallel.DataParallel = DataParallel
    torch.nn.parallel.data_parallel = data_parallel


def _let_go(torch: Any) -> None:
    """Keep no Python object of a backward pass for gloo's threads.

    They may be the last to let go of it, and then wait for the lock of the interpreter, which a
    model that is deleted holds while it waits for them: some runs would not end.
    """
    for name in ("_stash_obj_in_tls", "_remove_obj_from_tls"):
        if hasattr(torch._C, name):
            setattr(torch._C, name, lambda *_args: None)
