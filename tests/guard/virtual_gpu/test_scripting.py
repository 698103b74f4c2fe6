"""TorchScript: compiled before the block or inside it, traced, saved and loaded."""

import copy
import io
import warnings

import pytest
import torch
from torch import nn

from runtime_guard import VirtualGpuWarning, virtual_gpu
from runtime_guard.virtual.notices import forget

with warnings.catch_warnings():
    warnings.simplefilter("ignore")

    @torch.jit.script
    def swish(x):
        return x * torch.sigmoid(x)

    @torch.jit.script
    def plus(x, y):
        return x + y

    def compiled():
        return torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).eval())

    early = compiled()

GPU = "cuda:1"
REFUSED = "Expected all tensors to be on the same device, but got mat1 is on"


@pytest.fixture(autouse=True)
def gpus():
    forget()
    with virtual_gpu(2) as two, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield two


def rows(device):
    return torch.ones(1, 2, device=device)


def test_a_compiled_function_follows_its_tensors():
    assert str(swish(rows("cuda:1")).device) == "cuda:1"
    assert str(swish(rows("cpu")).device) == "cpu"
    assert str(plus(rows("cuda"), torch.tensor(1.0)).device) == "cuda:0"
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        plus(rows("cuda"), rows("cpu"))


def test_gradients_go_back_through_it():
    leaf = rows("cuda").requires_grad_()
    swish(leaf).sum().backward()
    assert str(leaf.grad.device) == "cuda:0"


def test_a_compiled_module_lies_where_it_is_moved():
    model = copy.deepcopy(early).to("cuda:1")
    assert str(model(rows("cuda:1")).device) == "cuda:1"
    with pytest.raises(RuntimeError, match=f"{REFUSED} cpu, different from .* on cuda:1"):
        model(rows("cpu"))
    with pytest.raises(RuntimeError, match=f"{REFUSED} cuda:0, different from .* on cpu"):
        early(rows("cuda"))


class Net(nn.Module):
    """Makes a tensor of its own, beside its input or on the CPU."""

    def __init__(self, follows: bool = True):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)
        self.follows = follows

    def forward(self, x):
        device = x.device if self.follows else torch.device("cpu")
        return self.norm(self.layer(x) + torch.ones(2, device=device))


def two_rows(device):
    return torch.tensor([[1.0, 2.0], [3.0, 5.0]], device=device)


def two_rows_of(x):
    return torch.stack([x, x])


def test_what_lies_on_the_cpu_is_compiled_as_outside_the_block():
    scripted, traced = torch.jit.script(Net()), torch.jit.trace(Net(), two_rows("cpu"))
    function = torch.jit.script(two_rows_of)
    assert isinstance(scripted, torch.jit.ScriptModule)
    assert isinstance(traced, torch.jit.ScriptModule)
    assert isinstance(function, torch.jit.ScriptFunction)
    assert "aten::linear" in str(scripted.inlined_graph)
    assert str(scripted(two_rows("cpu")).device) == str(traced(two_rows("cpu")).device) == "cpu"


def test_functions_of_torch_compile_in_the_block():
    layer = torch.jit.script(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval())
    assert layer(torch.ones(1, 2, 4)).shape == (1, 2, 4)


@pytest.mark.parametrize("make", [torch.jit.script, lambda it: torch.jit.trace(it, two_rows(GPU))])
def test_on_a_device_the_python_of_a_module_runs(make):
    model = make(Net().to(GPU))
    assert isinstance(model, torch.jit.ScriptModule)
    model.train()
    before = model.norm.running_mean.clone()
    assert str(model(two_rows(GPU)).device) == GPU
    assert not torch.equal(model.norm.running_mean, before)
    assert str(copy.deepcopy(model)(two_rows(GPU)).device) == GPU
    with pytest.raises(RuntimeError, match=f"{REFUSED} cpu, different from .* on cuda:1"):
        model(two_rows("cpu"))
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:1 and cpu!"):
        torch.jit.script(Net(follows=False).to(GPU))(two_rows(GPU))


def test_a_compiled_module_keeps_the_mode_of_its_python():
    python = Net().to(GPU)
    model = torch.jit.script(python).eval()
    model(two_rows(GPU))
    assert python.training
    assert not model.norm.training


def test_what_is_traced_may_be_given_by_name():
    for device in ("cpu", GPU):
        model = torch.jit.trace(Net().to(device).eval(), example_inputs=two_rows(device))
        assert str(model(two_rows(device)).device) == device


def test_tracing_runs_the_model_as_torch_does():
    with pytest.raises(RuntimeError, match="got mat1 is on cpu"):
        torch.jit.trace(nn.Linear(2, 2).cuda(), torch.ones(1, 2))


def test_it_is_said_where_a_device_is_met():
    model = torch.jit.script(nn.Linear(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error", VirtualGpuWarning)
        model(rows("cpu"))
    with pytest.warns(VirtualGpuWarning, match="runs as the Python that it was compiled from"):
        model.cuda()(rows("cuda"))


def saved(model):
    file = io.BytesIO()
    torch.jit.save(model, file)
    file.seek(0)
    return file


def test_a_saved_module_is_loaded_where_it_lay_or_is_to_lie():
    file = saved(torch.jit.script(nn.Linear(2, 2).to(GPU)))
    places = {}
    for where in (None, "cpu", "cuda", torch.device("cuda", 1)):
        file.seek(0)
        places[str(where)] = str(torch.jit.load(file, map_location=where).weight.device)
    assert places == {"None": GPU, "cpu": "cpu", "cuda": "cuda:0", "cuda:1": "cuda:1"}


def test_a_loaded_module_runs_as_one_operator():
    model = torch.jit.load(saved(torch.jit.script(Net().to(GPU).eval())))
    assert str(model(two_rows(GPU)).device) == GPU
    with pytest.raises(RuntimeError, match="cuda:1"):
        model(two_rows("cpu"))


def test_what_a_program_saves_beside_a_module_is_given_back():
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.Linear(2, 2)), file, _extra_files={"notes": "kept"})
    file.seek(0)
    files: dict[str, object] = {"notes": ""}
    torch.jit.load(file, _extra_files=files)
    assert files == {"notes": b"kept"}


def written():
    class Written(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        @torch.jit.script_method
        def forward(self, x):
            return self.layer(x)

    return Written()


def test_a_class_of_torchscript_lies_where_it_is_moved():
    model = written().to("cuda")
    assert isinstance(model, torch.jit.ScriptModule)
    assert str(model(rows("cuda")).device) == "cuda:0"
    with pytest.raises(RuntimeError, match=f"{REFUSED} cpu"):
        model(rows("cpu"))
