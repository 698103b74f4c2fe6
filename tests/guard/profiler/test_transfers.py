"""What counts as a copy, a wait or an index from elsewhere, at which line and under which name.

Data is on `cuda:0` in the sense of the test double: a line that the real CUDA runs, runs here.
"""

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
from runtime_guard.profiler.recording import watch as _record_watch
from runtime_guard.profiler.recording.values import Spot, Tally
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


DATA_DEPENDENT = {
    "nonzero": lambda x: x.nonzero(),
    "argwhere": lambda x: x.argwhere(),
    "masked_select": lambda x: x.masked_select(x > 0),
    "unique": lambda x: x.unique(),
    "unique_consecutive": lambda x: x.unique_consecutive(),
    "equal": lambda x: x.equal(x),
    "allclose": lambda x: x.allclose(x),
}


@pytest.mark.parametrize("name", DATA_DEPENDENT)
def test_a_wait_for_the_size_or_the_truth_of_a_result_moves_nothing(name, recorder):
    DATA_DEPENDENT[name](on_accelerator(torch.ones(3)))
    assert seen(recorder) == [("sync", f"Tensor.{name}", GPU, CPU, 0)]


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
    assert isinstance(inner, runtime_guard.Recorder)
    assert sum(tally.count for tally in outer.totals.values()) == 2
    assert sum(tally.count for tally in inner.totals.values()) == 1


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
