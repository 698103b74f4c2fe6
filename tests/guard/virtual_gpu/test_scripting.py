"""TorchScript of libraries: compiled before the block, and classes of it inside."""

import copy
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


def script_class():
    class Net(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        @torch.jit.script_method
        def forward(self, x):
            return self.layer(x)

    return Net


def test_a_class_of_torchscript_is_pythons():
    with pytest.warns(VirtualGpuWarning, match="classes of it compile nothing"):
        model = script_class()().to("cuda")
    assert str(model(rows("cuda")).device) == "cuda:0"
    assert str(copy.deepcopy(model).layer.weight.device) == "cuda:0"
    with pytest.raises(RuntimeError, match=f"{REFUSED} cpu"):
        model(rows("cpu"))


def test_modules_of_torchscript_are_known():
    kinds = [isinstance(one, torch.jit.ScriptModule) for one in (early, script_class()(), nn.ELU())]
    assert kinds == [True, True, False]
