"""Propagation: modules move in place, with everything that is registered with them."""

import pytest
import torch
from torch import nn

from tests.conformance.given import CPU, GPU, cpu, each, gpu, places
from tests.conformance.texts import refused

SPELLINGS = {
    'to("cuda")': lambda m: m.to("cuda"),
    "to(device)": lambda m: m.to(torch.device("cuda:0")),
    "to(0)": lambda m: m.to(0),
    "to(device=...)": lambda m: m.to(device="cuda"),
    "to(device, dtype)": lambda m: m.to("cuda", torch.float32),
    "to(another tensor)": lambda m: m.to(gpu(1)),
    "to(tensor=...)": lambda m: m.to(tensor=gpu(1)),
    "cuda()": lambda m: m.cuda(),
    "cuda(0)": lambda m: m.cuda(0),
    "cuda(device)": lambda m: m.cuda(torch.device("cuda:0")),
    "to, not waiting": lambda m: m.to("cuda", non_blocking=True),
    "apply": lambda m: m._apply(lambda t: t.cuda()),
}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.BatchNorm1d(2)])
        self.named = nn.ModuleDict({"head": nn.Linear(2, 1)})
        self.scale = nn.Parameter(torch.ones(2))
        self.numbers = nn.ParameterList([nn.Parameter(torch.zeros(1))])
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("hidden", torch.zeros(1), persistent=False)
        self.plain = torch.zeros(2)
        self.listed = [nn.Linear(2, 2)]


@each(SPELLINGS)
def test_all_that_is_registered_moves(row):
    net = Net()
    assert row(net) is net
    assert places([list(net.parameters()), list(net.buffers())]) == {"cuda:0"}


def test_what_is_not_registered_stays_behind():
    net = Net().cuda()
    assert (net.plain.device, net.listed[0].weight.device) == (CPU, CPU)


def test_it_moves_back():
    net = Net().cuda().cpu()
    assert places([list(net.parameters()), list(net.buffers())]) == {"cpu"}


def test_parameters_stay_the_same_objects():
    layer = nn.Linear(2, 2)
    weight = layer.weight
    layer.cuda()
    assert layer.weight is weight
    assert (weight.device, weight.is_leaf, type(weight)) == (GPU, True, nn.Parameter)


def test_values_stay_the_same():
    layer = nn.Linear(2, 2)
    before = layer.weight.tolist()
    assert layer.cuda().weight.tolist() == before


def test_gradients_move_along():
    layer = nn.Linear(2, 1)
    layer(cpu(1, 2)).sum().backward()
    layer.cuda()
    assert layer.weight.grad.device == GPU


def test_buffers_are_other_objects_after_a_move():
    layer = nn.BatchNorm1d(2)
    before = layer.running_mean
    layer.cuda()
    assert (before.device, layer.running_mean.device) == (CPU, GPU)


def test_tied_weights_stay_tied():
    embedding, head = nn.Embedding(3, 2), nn.Linear(2, 3, bias=False)
    head.weight = embedding.weight
    both = nn.ModuleList([embedding, head]).cuda()
    assert both[0].weight is both[1].weight
    assert both[0].weight.device == GPU


DTYPES = {
    "half": (lambda m: m.half(), torch.float16),
    "double": (lambda m: m.double(), torch.float64),
    "bfloat16": (lambda m: m.bfloat16(), torch.bfloat16),
    "to(dtype)": (lambda m: m.to(torch.float64), torch.float64),
    "type": (lambda m: m.type(torch.float16), torch.float16),
}


@each(DTYPES)
def test_another_dtype_changes_no_device(row):
    change, dtype = row
    weight = change(nn.Linear(2, 2).cuda()).weight
    assert (weight.device, weight.dtype) == (GPU, dtype)


def test_a_module_is_made_on_meta_and_emptied_onto_cuda():
    layer = nn.Linear(2, 2, device="meta")
    assert layer.weight.is_meta
    assert places(list(layer.to_empty(device="cuda").parameters())) == {"cuda:0"}


def test_a_module_on_meta_does_not_move():
    refused(
        lambda: nn.Linear(2, 2, device="meta").to("cuda"),
        r"Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty\(\)",
        NotImplementedError,
    )


def test_a_module_is_skipped_while_it_is_initialised():
    layer = nn.utils.skip_init(nn.Linear, 2, 2, device="cuda")
    assert layer.weight.device == GPU


def test_a_layer_added_later_is_where_it_was_made():
    net = nn.Sequential(nn.Linear(2, 2)).cuda()
    net.append(nn.Linear(2, 2))
    assert places(list(net.parameters())) == {"cuda:0", "cpu"}


def test_a_parameter_may_be_assigned_from_elsewhere():
    layer = nn.Linear(2, 2)
    layer.weight = nn.Parameter(gpu(2, 2))
    assert (layer.weight.device, layer.bias.device) == (GPU, CPU)


def test_the_usual_question_for_a_modules_device():
    assert next(nn.Linear(2, 2).cuda().parameters()).device == GPU
    assert next(nn.Linear(2, 2).cuda().parameters()).is_cuda


def test_the_state_dict_holds_the_parameters_memory():
    layer = nn.Linear(1, 1, bias=False).cuda()
    state = layer.state_dict()
    with torch.no_grad():
        layer.weight.fill_(3)
    assert state["weight"].item() == 3.0
    assert state["weight"].device == GPU


def test_parameters_become_one_vector_and_parameters_again():
    layer = nn.Linear(2, 2).cuda()
    vector = nn.utils.parameters_to_vector(layer.parameters())
    nn.utils.vector_to_parameters(torch.zeros_like(vector), layer.parameters())
    assert (vector.device, layer.weight.sum().item()) == (GPU, 0.0)


def test_parameters_of_two_devices_become_no_vector():
    refused(
        lambda: nn.utils.parameters_to_vector([gpu(2), cpu(2)]),
        "Found two parameters on different devices, this is currently not supported.",
        TypeError,
    )


@pytest.mark.parametrize("norm", ["weight_norm", "spectral_norm", "orthogonal"])
def test_a_parametrized_layer_moves(norm):
    layer = getattr(nn.utils.parametrizations, norm)(nn.Linear(2, 2)).cuda()
    assert places([layer.weight, layer(gpu(1, 2))]) == {"cuda:0"}


def test_a_lazy_layer_takes_its_size_and_stays():
    layer = nn.LazyLinear(2).cuda()
    assert layer(gpu(1, 3)).device == GPU
    assert layer.weight.shape == (2, 3)


def test_a_module_prints_as_ever():
    assert repr(nn.Sequential(nn.ReLU()).cuda()) == "Sequential(\n  (0): ReLU()\n)"
