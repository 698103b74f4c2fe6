"""What torch is made of, as far as Python can see it, before and after virtual GPUs were there.

    python -m tests.guard.left_behind

prints, for each way of using a block, what it left behind: an empty list, if all is well.
"""

from __future__ import annotations

import concurrent.futures.thread
import copyreg
import importlib
import json
import multiprocessing.process
import multiprocessing.reduction
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from runtime_guard import virtual_gpu

warnings.simplefilter("ignore")

OTHERS = {
    "ForkingPickler": multiprocessing.reduction.ForkingPickler,
    "BaseProcess": multiprocessing.process.BaseProcess,
    "Thread": threading.Thread,
    "_WorkItem": concurrent.futures.thread._WorkItem,
    "copyreg": copyreg,
    "sys": sys,
    "threading": threading,
}
"""What else may be changed for the sake of torch."""

NOT_STATE = {
    "sys.modules",
    "sys.path_importer_cache",
    "sys.last_traceback",
    "sys.last_value",
    "sys.last_type",
    "sys.last_exc",
}

Places = dict[str, Any]


def everything() -> Places:
    """What lies at each place: every attribute of torch's modules and classes, and every switch."""
    found: Places = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "torch":
            attributes(found, name, module)
    for kind in classes(found):
        attributes(found, f"{kind.__module__}.{kind.__qualname__}", kind)
    for name, holder in OTHERS.items():
        attributes(found, name, holder)
    found.update({f"os.environ[{name}]": value for name, value in os.environ.items()})
    found.update(switches())
    return {place: value for place, value in found.items() if place not in NOT_STATE}


def classes(found: Places) -> list[type]:
    """Torch's classes among these."""
    kinds = {value for value in found.values() if isinstance(value, type)}
    return [kind for kind in kinds if str(kind.__module__).split(".")[0] == "torch"]


def attributes(found: Places, path: str, holder: Any) -> None:
    """Add what a module or class holds, and what is in its dictionaries, lists and sets."""
    for name, value in list(vars(holder).items()):
        place = f"{path}.{name}"
        found[place] = value
        if place in NOT_STATE:
            continue
        if isinstance(value, dict):
            for key, item in list(value.items()):
                found[f"{place}[{key if isinstance(key, str) else id(key)}]"] = item
        elif isinstance(value, (list, set, frozenset)):
            found[f"{place}, its items"] = tuple(value)


def switches() -> Iterator[tuple[str, Any]]:
    """What torch keeps in C++."""
    yield "function modes", tuple(torch.overrides._get_current_function_mode_stack())
    yield "dispatch modes", torch._C._len_torch_dispatch_stack()
    yield "functorch's interpreters", torch._C._functorch.peek_interpreter_stack()
    yield "default device", torch.get_default_device()
    yield "default dtype", torch.get_default_dtype()
    yield "the CPU's random numbers", torch.default_generator.get_state().tolist()
    for device in ("cpu", "cuda"):
        yield f"autocast on {device}", torch.is_autocast_enabled(device)
        yield f"autocast's dtype on {device}", torch.get_autocast_dtype(device)
    yield "autocast's cache", torch.is_autocast_cache_enabled()
    yield "gradients", torch.is_grad_enabled()
    yield "inference", torch.is_inference_mode_enabled()
    yield "anomalies", torch.is_anomaly_enabled()
    yield "has CUDA", torch.cuda.is_available()
    yield "threads", tuple(threading.enumerate())


def differences(before: Places, after: Places, modules: set[str]) -> Iterator[str]:
    """Where something else lies than before; what was imported since is no difference."""
    for place, value in before.items():
        if place not in after:
            yield f"{place} is gone"
        elif not is_same(value, after[place]):
            yield f"{place} was {value!r:.60}, is {after[place]!r:.60}"
    imported = sys.modules.keys() - modules
    for place in after.keys() - before.keys():
        if place not in imported and not any(place.startswith(f"{one}.") for one in imported):
            yield f"{place} is new: {after[place]!r:.60}"


def is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(map(is_same, one, other))
    plain = (int, float, str, bool, list, torch.device, torch.dtype)
    return type(one) is type(other) and isinstance(one, plain) and bool(one == other)


# Ways of using a block.


def train(device: str = "cuda") -> None:
    """Use a bit of everything, drawing no random numbers of the CPU."""
    model = nn.utils.skip_init(nn.Linear, 3, 3, device=device)
    nn.init.ones_(model.weight)
    optimizer = torch.optim.Adam(model.parameters())
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = model(torch.full((2, 3), 0.5, device=device)).float().square().mean()
    loss.backward()
    optimizer.step()
    torch.cuda.synchronize()


def an_empty_block() -> None:
    with virtual_gpu():
        pass


def a_block_that_trains() -> None:
    with virtual_gpu(2):
        train()


def a_block_with_an_error() -> None:
    try:
        with virtual_gpu():
            train()
            torch.ones(2, 2) @ torch.ones(2, 2, device="cuda")
    except RuntimeError:
        return
    raise AssertionError("no error")


def a_block_inside_a_block() -> None:
    with virtual_gpu(2), virtual_gpu(), virtual_gpu(3):
        train()


def a_block_inside_itself() -> None:
    block = virtual_gpu()
    with block, block:
        train()
    with block:
        train()


def blocks_that_do_not_end_in_their_order() -> None:
    outer, inner = virtual_gpu(), virtual_gpu(2)
    outer.__enter__()
    inner.__enter__()
    train()
    outer.__exit__(None, None, None)
    train()
    assert torch.cuda.device_count() == 2
    assert os.environ["RUNTIME_GUARD_VIRTUAL_GPU"] == "2"
    inner.__exit__(None, None, None)


def a_block_in_a_generator() -> None:
    def batches() -> Iterator[torch.Tensor]:
        with virtual_gpu():
            yield torch.ones(1, device="cuda")

    loader = batches()
    next(loader)
    with virtual_gpu(2):
        del loader
        train()


def a_default_device_of_the_block() -> None:
    with virtual_gpu():
        torch.set_default_device("cuda")
        train()


def a_device_context_that_outlives_the_block() -> None:
    with virtual_gpu():
        context = torch.device("cuda")
        context.__enter__()
    context.__exit__(None, None, None)


def a_block_in_a_thread() -> None:
    def work() -> None:
        with virtual_gpu():
            train()

    in_thread(work)


def a_thread_in_a_block() -> None:
    with virtual_gpu():
        in_thread(train)


def a_thread_that_outlives_the_block() -> None:
    began, ended = threading.Event(), threading.Event()
    seen: list[torch.device] = []

    def work() -> None:
        weight = torch.ones(2, device="cuda", requires_grad=True)
        began.set()
        assert ended.wait(60)
        (weight * torch.ones(2)).sum().backward()
        seen.extend([weight.device, weight.grad.device, torch.ones(1).device])

    thread = threading.Thread(target=work)
    with virtual_gpu():
        thread.start()
        assert began.wait(60)
    ended.set()
    thread.join()
    assert seen == [torch.device("cpu")] * 3


def a_block_that_ends_while_another_thread_has_one() -> None:
    began, ended = threading.Event(), threading.Event()

    def work() -> None:
        with virtual_gpu(3):
            began.set()
            assert ended.wait(60)
            train()

    thread = threading.Thread(target=work)
    with virtual_gpu():
        thread.start()
        assert began.wait(60)
    ended.set()
    thread.join()


def a_block_that_ends_in_another_thread() -> None:
    block = virtual_gpu()

    def begin() -> None:
        block.__enter__()
        train()

    in_thread(begin)
    block.__exit__(None, None, None)


def in_thread(work: Callable[[], None]) -> None:
    """Call it in a thread of its own, and raise here what it raises there."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


WAYS: tuple[Callable[[], None], ...] = (
    an_empty_block,
    a_block_that_trains,
    a_block_with_an_error,
    a_block_inside_a_block,
    a_block_inside_itself,
    blocks_that_do_not_end_in_their_order,
    a_block_in_a_generator,
    a_default_device_of_the_block,
    a_device_context_that_outlives_the_block,
    a_block_in_a_thread,
    a_thread_in_a_block,
    a_thread_that_outlives_the_block,
    a_block_that_ends_while_another_thread_has_one,
    a_block_that_ends_in_another_thread,
)


def warm_up() -> None:
    """Let torch change what it changes itself, once, wherever an optimizer takes a step."""
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.Adam([weight])
    weight.sum().backward()
    optimizer.step()
    in_thread(lambda: None)
    # It imports setuptools, which puts a folder of its own on Python's path.
    importlib.import_module("torch.utils.cpp_extension")


def left_behind(way: Callable[[], None]) -> list[str]:
    """What a way of using a block leaves behind."""
    before, modules = everything(), set(sys.modules)
    way()
    return sorted(differences(before, everything(), modules))


def main() -> None:
    """Print what each leaves behind, as JSON."""
    warm_up()
    print(json.dumps({way.__name__: left_behind(way) for way in WAYS}, indent=1))  # noqa: T201


if __name__ == "__main__":
    main()
