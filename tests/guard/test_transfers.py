"""What counts as a copy, a wait or an index from elsewhere, at which line and under which name.

Data is on `cuda:0` in the sense of the test double: a line that the real CUDA runs, runs here.
"""

import copy
import pickle
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard import _record_clock, _record_watch
from runtime_guard._record_values import Spot, Tally
from tests.guard.accelerator import Accelerator, on_accelerator

HERE = __file__
CPU, GPU = "cpu", "cuda:0"


@pytest.fixture
def accelerator():
    with Accelerator():
        yield


@pytest.fixture
def recorder():
    with runtime_guard.record() as handle:
        yield handle


def seen(recorder) -> list[tuple[str, str, str, str, int]]:
    """Say of every spot of this file what it was, without its place and its times."""
    return [
        (spot.kind, spot.op, spot.source, spot.target, tally.bytes)
        for spot, tally in recorder.totals.items()
        if spot.file == HERE
    ]


def use_as_truth(tensor):
    if tensor:
        return 1
    return 0


COPIES = {
    "Tensor.to": lambda x: x.to("cuda:0"),
    "Tensor.cuda": lambda x: x.cuda(),
    "torch.tensor": lambda x: torch.tensor([1.0, 2.0, 3.0], device="cuda:0"),
    "torch.as_tensor": lambda x: torch.as_tensor([1.0, 2.0, 3.0], device="cuda:0"),
    "Tensor.copy_": lambda x: on_accelerator(torch.zeros(3)).copy_(x),
    "x[index] = value": lambda x: on_accelerator(torch.zeros(2, 3)).__setitem__(0, x),
}


@pytest.mark.parametrize("op", COPIES)
def test_a_copy_to_the_device_counts_its_bytes(op, accelerator, recorder):
    x = torch.ones(3)
    if op == "x[index] = value":
        on_accelerator(torch.zeros(2, 3))[0] = x
    else:
        COPIES[op](x)
    assert seen(recorder) == [("copy", op, CPU, GPU, 12)]


@pytest.mark.parametrize("op", ["Tensor.to", "Tensor.cpu", "Tensor.copy_"])
def test_so_does_a_copy_back(op, recorder):
    x = on_accelerator(torch.ones(3))
    match op:
        case "Tensor.to":
            x.to("cpu", torch.float64)
        case "Tensor.cpu":
            x.cpu()
        case _:
            torch.zeros(3).copy_(x)
    assert seen(recorder) == [("copy", op, GPU, CPU, 12)]


READS: dict[str, Callable[[Any], object]] = {
    "Tensor.item": lambda x: x.item(),
    "Tensor.tolist": lambda x: x.tolist(),
    "Tensor.numpy": lambda x: x.numpy(force=True),
    "float()": float,
    "int()": int,
    "bool()": bool,
    "complex()": complex,
    "index()": lambda x: range(9)[x],
    "repr()": repr,
    "format()": lambda x: f"{x:d}",
}


@pytest.mark.parametrize("op", READS)
def test_a_value_that_python_gets_is_a_wait(op, recorder):
    READS[op](on_accelerator(torch.tensor(7)))
    assert seen(recorder) == [("sync", op, GPU, CPU, 8)]


def test_a_condition_is_a_wait_where_it_is_asked(recorder):
    assert use_as_truth(on_accelerator(torch.tensor(1))) == 1
    (spot,) = recorder.totals
    assert (spot.op, spot.function) == ("bool()", "use_as_truth")


def test_printing_is_one_wait_at_the_users_line(recorder, capsys):
    print(on_accelerator(torch.ones(3)))  # noqa: T201
    assert seen(recorder) == [("sync", "repr()", GPU, CPU, 12)]
    assert "device='cuda:0'" in capsys.readouterr().out


INDEXING = {
    "a CPU index": (lambda x: x[torch.tensor([0, 2])], ("index", "x[index]", CPU, GPU, 16)),
    "a list": (lambda x: x[[0, 2]], ("index", "x[index]", CPU, GPU, 16)),
    "an array": (lambda x: x[np.array([0, 2])], ("index", "x[index]", CPU, GPU, 16)),
    "a CPU index among others": (
        lambda x: x[:, torch.tensor([0])],
        ("index", "x[index]", CPU, GPU, 8),
    ),
    "a mask": (lambda x: x[x > 1], ("sync", "x[mask]", GPU, CPU, 0)),
    "a number there": (
        lambda x: x[on_accelerator(torch.tensor(1))],
        ("sync", "x[index]", GPU, CPU, 8),
    ),
}


@pytest.mark.parametrize("kind", INDEXING)
def test_an_index_that_crosses_or_waits_is_counted(kind, recorder):
    act, expected = INDEXING[kind]
    act(on_accelerator(torch.arange(9.0).reshape(3, 3)))
    assert seen(recorder) == [expected]


def test_a_wait_for_the_size_of_a_result_moves_nothing(recorder):
    on_accelerator(torch.ones(3)).nonzero()
    assert seen(recorder) == [("sync", "Tensor.nonzero", GPU, CPU, 0)]


def test_a_mask_that_is_filled_with_one_value_does_not_wait(recorder):
    x = on_accelerator(torch.ones(3))
    x[x > 0] = 0.0
    x[x > 0] = on_accelerator(torch.tensor(1.0))
    assert seen(recorder) == []


def test_what_stays_where_it_is_is_no_event(recorder):
    x, there = torch.ones(3), on_accelerator(torch.arange(3))
    x.to("cpu")
    x.to(torch.float64)
    there.to(torch.float32)
    there.to("cuda:0")
    x[torch.tensor([0])] = x[x > 3].sum().item()
    there[0], there[1:], there[there]
    there[torch.tensor(1)]
    float(x[0]), x.tolist(), repr(x), x.numpy(), x.copy_(x), bool(x[0])
    torch.tensor([1.0])
    nn.Linear(2, 2).to("cpu")
    assert seen(recorder) == []


def test_what_raises_has_moved_nothing(recorder):
    with pytest.raises(TypeError, match="can't convert cuda:0"):
        on_accelerator(torch.ones(3)).numpy()
    with pytest.raises(RuntimeError):
        torch.ones(3, device="meta").item()
    assert seen(recorder) == []


def test_meta_has_no_data_to_move(recorder):
    torch.ones(3).to("meta")
    assert seen(recorder) == [("copy", "Tensor.to", CPU, "meta", 0)]


def test_a_module_is_one_copy_of_all_its_tensors(accelerator, recorder):
    nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).to("cuda:0")
    (tally,) = recorder.totals.values()
    assert tally.count == 1
    # 9 of the layer, 4 x 3 of the normalisation, and its count of batches.
    assert seen(recorder) == [("copy", "Module.to", CPU, GPU, 4 * (9 + 12) + 8)]


def test_the_line_is_the_users_where_a_library_of_torch_asks(recorder):
    losses = [on_accelerator(torch.tensor(1.0, requires_grad=False)) for _ in range(2)]
    np.asarray(losses[0])
    torch.is_nonzero(losses[0])
    assert {spot.file for spot in recorder.totals} == {HERE}


def test_each_line_counts_for_itself(accelerator, recorder):
    for _ in range(5):
        x = torch.ones(4).to("cuda:0")
        x.cpu()
    x.cpu()
    tallies = [(tally.count, tally.bytes) for tally in recorder.totals.values()]
    assert tallies == [(5, 80), (5, 80), (1, 16)]


def named(recorder) -> dict[str, dict[str, int]]:
    return {name: devices for (_file, _line, name), devices in recorder.values.items()}


def test_values_are_seen_by_name_after_the_assignment(accelerator, recorder):
    batch = {"x": torch.ones(3)}
    batch["x"] = batch["x"].to("cuda:0")
    y = torch.ones(3)
    moved = y.to("cuda:0")
    back, other = moved.cpu(), y
    assert back.shape == other.shape
    assert named(recorder) == {
        'batch["x"]': {GPU: 1},
        "y": {CPU: 1},
        "moved": {GPU: 1},
        "back": {CPU: 1},
    }


def test_values_that_are_waited_for_are_seen_by_name(recorder):
    loss, index, table = (on_accelerator(torch.ones(2)).sum() for _ in range(3))
    loss.item()
    float(index)
    if not table:
        raise AssertionError
    rows = torch.tensor([0])
    (on_accelerator(torch.ones(2))[rows])
    assert named(recorder) == {
        "loss": {GPU: 1},
        "index": {GPU: 1},
        "table": {GPU: 1},
        "rows": {CPU: 1},
    }


def test_a_name_is_not_guessed(recorder):
    def inner(tensor):
        return tensor.cpu()

    a, b = on_accelerator(torch.ones(1)), on_accelerator(torch.ones(1))
    (a + b).item()
    str((a, b))
    map(float, [a])
    assert named(recorder) == {}


def test_what_a_function_of_torch_asks_inside_has_no_name_here(recorder):
    made: dict[str, Any] = {}
    source = "def ask(t): return t.item()"
    exec(compile(source, str(Path(torch.__file__).with_name("made.py")), "exec"), made)
    ask = made["ask"]
    x = on_accelerator(torch.tensor(1.0))
    ask(x)
    assert seen(recorder) == [("sync", "Tensor.item", GPU, CPU, 4)]
    assert named(recorder) == {}


def test_no_tensor_is_kept(recorder):
    def work():
        x = on_accelerator(torch.ones(3))
        kept.append(weakref.ref(x))
        x.cpu()
        del x
        return kept[0]() is None

    kept: list[weakref.ref[torch.Tensor]] = []
    assert work()


def test_threads_are_counted_together_and_told_apart(recorder):
    def work():
        for _ in range(200):
            x.cpu()

    x = on_accelerator(torch.ones(3))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    (tally,) = recorder.totals.values()
    assert (tally.count, tally.bytes) == (800, 9600)
    assert len({event.thread for event in recorder.recording().events}) == 4


def test_two_recorders_both_count():
    x = on_accelerator(torch.ones(3))
    with runtime_guard.record() as outer:
        x.cpu()
        with runtime_guard.record() as inner:
            x.cpu()
    assert sum(tally.count for tally in outer.totals.values()) == 2
    assert sum(tally.count for tally in inner.totals.values()) == 1


def test_removed_it_leaves_torch_as_it_was():
    before = [dict(vars(owner)) for owner in (torch.Tensor, nn.Module, torch)]
    handle = runtime_guard.record()
    x = on_accelerator(torch.ones(3))
    x.cpu()
    assert [dict(vars(owner)) for owner in (torch.Tensor, nn.Module, torch)] != before
    handle.remove()
    handle.remove()
    x.cpu()
    assert [dict(vars(owner)) for owner in (torch.Tensor, nn.Module, torch)] == before
    (tally,) = handle.totals.values()
    assert tally.count == 1


def test_a_wrapper_that_somebody_put_around_ours_stays():
    own = torch.tensor
    handle = runtime_guard.record()
    ours = torch.tensor
    calls = []

    def theirs(*args, **kwargs):
        calls.append(args)
        return ours(*args, **kwargs)

    torch.tensor = theirs
    try:
        handle.remove()
        assert torch.tensor is theirs
        assert torch.tensor(1).item() == 1
    finally:
        torch.tensor = own
    assert len(calls) == 1


def test_as_a_decorator_it_counts_while_the_function_runs():
    recorder = runtime_guard.record()
    x = on_accelerator(torch.ones(3))

    @recorder
    def work():
        return x.cpu()

    x.cpu()
    work()
    work()
    (tally,) = recorder.totals.values()
    assert tally.count == 2


def test_methods_look_and_pickle_as_before(recorder):
    assert torch.Tensor.to.__name__ == "to"
    assert torch.Tensor.to.__doc__ == torch._C.TensorBase.to.__doc__
    assert torch.Tensor.to is torch._C.TensorBase.to
    assert pickle.loads(pickle.dumps(torch.Tensor.item)) is torch.Tensor.item
    assert torch.tensor.__name__ == "tensor"
    assert pickle.loads(pickle.dumps(torch.tensor)) is torch.tensor
    x = torch.ones(2)
    assert pickle.loads(pickle.dumps(x.item)).__self__.tolist() == [1.0, 1.0]
    assert copy.deepcopy(x).to("cpu").__class__ is torch.Tensor


def test_functions_of_subclasses_and_modes_see_torchs_own(recorder):
    told = []

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            told.append(function)
            return super().__torch_function__(function, types, args, kwargs)

    Told([1.0]).to("cpu")
    float(Told([1.0]))
    Told([1.0])[0:1]
    own = torch._C.TensorBase
    assert [each for each in told if each.__name__ in ("to", "__float__", "__getitem__")] == [
        own.to,
        own.__float__,
        own.__getitem__,
    ]
    assert not [each for each in told if each.__name__ == "__get__"]


def test_gradients_flow_through_a_watched_move(accelerator, recorder):
    x = torch.ones(3, requires_grad=True)
    y = x.to(torch.float64).copy_(torch.zeros(3))[torch.tensor([0, 1])]
    (x.to(torch.float64)[1:] * 2).sum().backward()
    assert y.requires_grad
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 2.0, 2.0]


def test_the_default_device_holds_for_new_tensors_whenever_it_is_asked():
    from torch.utils import _device

    _device._device_constructors.cache_clear()
    with runtime_guard.record(), torch.device("meta"):
        assert torch.tensor(1.0).device.type == "meta"
    with torch.device("meta"):
        assert torch.tensor(1.0).device.type == "meta"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripts_compile_while_it_records(recorder):
    class Scaled(nn.Module):
        def forward(self, x):
            return x * torch.tensor([2.0]) + torch.as_tensor(1.0) + float(x[0])

    scripted = torch.jit.script(Scaled())
    assert scripted(torch.ones(2)).tolist() == [4.0, 4.0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_traced_functions_work_while_it_records(recorder):
    traced = torch.jit.trace(lambda x: x.to(torch.float64)[0:1] + 1, torch.ones(2))
    assert traced(torch.zeros(2)).tolist() == [1.0]
    doubled = torch.vmap(lambda x: x.to(torch.float64)[0] * 2)(torch.ones(2, 3))
    assert doubled.tolist() == [2.0, 2.0]


class Labelled(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs)


def compiled_graphs() -> tuple[list[str], dict[str, dict[str, int]]]:
    """Compile what calls the watched methods in every way; return the graphs and the counters."""
    graphs = []

    def backend(graph, _inputs):
        graphs.append(str(graph.code))
        return graph.forward

    def moves(x):
        y = x.to(torch.float64)[0:2].cpu() + torch.tensor([1.0, 2.0])[:, None]
        return torch.as_tensor(y).copy_(y)

    def asks(x):
        return x + 1 if x.sum() > 3 else x * x.mean().item()

    def calls_unbound(x):
        return torch.Tensor.to(x, torch.float64) + x[x > 0].sum()

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    x = torch.ones(2, 4)
    for function in (moves, asks, calls_unbound, nn.Linear(4, 4)):
        compiled = torch.compile(function, backend=backend)
        for _ in range(3):
            compiled(x)
    compiled = torch.compile(moves, backend=backend)
    for _ in range(3):
        compiled(x.as_subclass(Labelled))
    counters = torch._dynamo.utils.counters
    return graphs, {name: dict(counters[name]) for name in ("stats", "graph_break")}


@pytest.mark.filterwarnings("ignore")
def test_the_compiler_makes_the_same_graphs_and_breaks():
    plain = compiled_graphs()
    with runtime_guard.record() as recorder:
        assert compiled_graphs() == plain
    assert compiled_graphs() == plain
    assert recorder.totals == {}


@pytest.mark.filterwarnings("ignore")
def test_what_was_compiled_before_is_not_compiled_anew():
    graphs = []

    def backend(graph, _inputs):
        graphs.append(graph)
        return graph.forward

    @torch.compile(backend=backend, fullgraph=True)
    def step(x):
        return x.to(torch.float64)[0:1].cpu().copy_(x[0:1])

    torch._dynamo.reset()
    step(torch.ones(2))
    with runtime_guard.record():
        step(torch.ones(2))
    step(torch.ones(2))
    assert len(graphs) == 1


class FakeEvent:
    """An event of CUDA that tells its time when the device is said to have come so far."""

    done = False

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self, stream):
        assert stream == "stream of cuda:0"

    def query(self):
        return FakeEvent.done

    def elapsed_time(self, other):
        assert FakeEvent.done
        return 0.25


@pytest.fixture
def cuda(monkeypatch):
    """Let copies to the double be timed as on CUDA; whoever would wait for it fails."""
    monkeypatch.setattr(_record_watch, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: pytest.fail("waited for the device"))
    monkeypatch.setattr(FakeEvent, "done", False)


def test_the_device_tells_its_time_when_it_is_ready(cuda, recorder):
    x = on_accelerator(torch.ones(3))
    for _ in range(2):
        x.cpu()
    (tally,) = recorder.totals.values()
    assert tally.device_us is None
    FakeEvent.done = True
    (tally,) = recorder.totals.values()
    assert tally.device_us == 500.0


def test_moves_that_do_not_cross_are_not_timed(cuda, recorder):
    x, y = on_accelerator(torch.ones(3)), torch.ones(3)
    timed = [
        _record_clock.started("Tensor.to", args, kwargs) is not None
        for args, kwargs in [
            ((x, "cpu"), {}),
            ((x, y), {}),
            ((x, torch.float64), {}),
            ((x, "cuda"), {}),
            ((x,), {"device": "cuda:0"}),
            ((y, "cpu"), {}),
            ((y, torch.float64), {}),
        ]
    ]
    assert timed == [True, True, False, False, False, False, False]


def test_a_device_that_never_answers_costs_bounded_memory(cuda, recorder):
    x = on_accelerator(torch.ones(3))
    for _ in range(2000):
        x.cpu()
    assert len(recorder._timings) <= 512
    (tally,) = recorder.totals.values()
    assert tally.count == 2000


def test_a_device_that_failed_does_not_stop_the_counting(cuda, recorder, monkeypatch):
    def query(self):
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(FakeEvent, "query", query)
    x = on_accelerator(torch.ones(3))
    for _ in range(3):
        x.cpu()
    (tally,) = recorder.totals.values()
    assert (tally.count, tally.device_us) == (3, None)


def test_a_mistake_of_the_recorder_does_not_fail_the_training(monkeypatch):
    def broken(frame):
        raise KeyError("mistake")

    with runtime_guard.record() as recorder:
        monkeypatch.setattr(_record_watch, "site_of", broken)
        x = on_accelerator(torch.ones(3))
        with pytest.warns(RuntimeWarning, match="stopped recording: KeyError"):
            assert x.cpu().tolist() == [1.0, 1.0, 1.0]
        x.cpu()
    assert recorder.totals == {}


def test_spots_print_where_and_what(accelerator, recorder):
    torch.ones(3).to("cuda:0")
    ((spot, tally),) = recorder.totals.items()
    line = Path(HERE).read_text().splitlines()[spot.line - 1]
    assert line.strip() == 'torch.ones(3).to("cuda:0")'
    function = "test_spots_print_where_and_what"
    assert spot == Spot(HERE, spot.line, function, "copy", "Tensor.to", CPU, GPU)
    assert tally == Tally(1, 12, tally.host_us, None)
    assert tally.host_us > 0
