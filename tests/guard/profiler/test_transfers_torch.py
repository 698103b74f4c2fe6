"""Recording leaves torch what it is to whoever compares, pickles, traces, scripts or compiles."""

import copy
import pickle
import subprocess
import sys

import pytest
import torch
from torch import nn

import runtime_guard
from runtime_guard.profiler.recording import sequences
from tests.guard.accelerator import Accelerator, on_accelerator


@pytest.fixture
def recorder():
    with runtime_guard.record() as handle:
        yield handle


@pytest.fixture
def accelerator():
    with Accelerator():
        yield


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


SEQUENCES = """
import ctypes
import torch
import runtime_guard

class Labelled(torch.Tensor):
    pass

class Listed(torch.Tensor):
    def __getitem__(self, index):
        return super().__getitem__(index)

def sequences(*kinds):
    tensors = [torch.ones(()).as_subclass(kind) for kind in kinds]
    return [bool(ctypes.pythonapi.PySequence_Check(ctypes.py_object(each))) for each in tensors]

numbers = [torch.tensor(1.0), torch.tensor(2.0)]
KNOWN = torch.Tensor, torch.nn.Parameter, Labelled, Listed
print(sequences(*KNOWN), torch.tensor(numbers))
with runtime_guard.record():
    class Later(torch.Tensor):
        pass

    class LaterListed(Listed):
        pass

    print(sequences(*KNOWN, Later, LaterListed), torch.tensor(numbers))
print(sequences(*KNOWN, Later, LaterListed), torch.tensor(numbers))
"""


def test_tensors_do_not_become_sequences_of_python():
    """In a process of its own, where nothing has made them sequences before."""
    command = [sys.executable, "-c", SEQUENCES]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.stdout.splitlines(), run.stderr) == (
        [
            "[False, False, False, True] tensor([1., 2.])",
            "[False, False, False, True, False, True] tensor([1., 2.])",
            "[False, False, False, True, False, True] tensor([1., 2.])",
        ],
        "",
    )


def test_a_python_that_keeps_its_classes_otherwise_is_left_alone(monkeypatch):
    monkeypatch.setattr(sequences, "can_be_told", lambda _owner: False)
    x = on_accelerator(torch.ones(3))
    with runtime_guard.record() as recorder:
        assert "__getitem__" not in vars(torch.Tensor)
        x[torch.tensor([0])]
        x.cpu()
    assert [spot.op for spot in recorder.totals] == ["Tensor.cpu"]


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

    def selects(x):
        return x.unique().sum() + x.argwhere().sum() + float(x.allclose(x))

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    x = torch.ones(2, 4)
    for function in (moves, asks, calls_unbound, selects, nn.Linear(4, 4)):
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
