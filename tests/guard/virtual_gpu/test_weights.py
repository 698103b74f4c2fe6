"""What torch does with weights on the virtual GPU: swaps, dresses, prunes, averages, copies."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune
from torch.optim import swa_utils

from tests.guard.leaves import CPU, GPU, OTHER, gradient_of, network

pytestmark = pytest.mark.virtual_gpu(2)


def test_swapped_tensors_swap_their_devices():
    one, other = torch.ones(2, device=GPU), torch.zeros(3, device=OTHER)
    torch.utils.swap_tensors(one, other)
    assert (one.device, one.tolist()) == (OTHER, [0.0, 0.0, 0.0])
    assert (other.device, other.tolist()) == (GPU, [1.0, 1.0])


@pytest.mark.parametrize("way", ["set_swap_module_params", "set_overwrite_module_params"])
def test_modules_convert_in_every_way(way, request):
    switch = getattr(torch.__future__, f"{way}_on_conversion")
    request.addfinalizer(lambda: switch(False))
    switch(True)
    model = network(CPU).to(GPU)
    assert {each.device for each in model.parameters()} == {GPU}
    model(torch.ones(1, 3, device=GPU)).sum().backward()
    model.to(OTHER)
    assert {gradient_of(each).device for each in model.parameters()} == {OTHER}


@pytest.mark.parametrize(
    "dress",
    [
        parametrizations.weight_norm,
        parametrizations.spectral_norm,
        parametrizations.orthogonal,
        nn.utils.spectral_norm,
        lambda layer: prune.l1_unstructured(layer, "weight", amount=0.5),
        lambda layer: prune.random_structured(layer, "weight", amount=1, dim=0),
    ],
    ids=["weight_norm", "spectral_norm", "orthogonal", "old spectral_norm", "l1", "structured"],
)
@pytest.mark.parametrize("moved", ["before", "after"])
def test_a_dressed_layer_trains(dress, moved):
    def trained(device: torch.device) -> tuple[set[torch.device], list[Any]]:
        torch.manual_seed(0)
        layer = nn.Linear(3, 3)
        layer = dress(layer.to(device)) if moved == "before" else dress(layer).to(device)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            layer(torch.ones(2, 3, device=device)).square().sum().backward()
            optimizer.step()
        tensors = [*layer.state_dict().values(), layer.weight, layer.bias]
        tensors += [gradient_of(each) for each in layer.parameters()]
        return {each.device for each in tensors}, [each.tolist() for each in tensors]

    places, values = trained(GPU)
    assert places == {GPU}
    assert values == trained(CPU)[1]


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated")
def test_dresses_come_off():
    layer = nn.utils.weight_norm(nn.Linear(3, 3)).cuda()
    assert nn.utils.remove_weight_norm(layer).weight.device == GPU
    layer = parametrizations.weight_norm(nn.Linear(3, 3)).cuda()
    assert parametrize.remove_parametrizations(layer, "weight").weight.device == GPU
    layer = prune.l1_unstructured(nn.Linear(3, 3).cuda(), "weight", amount=1)
    assert prune.remove(layer, "weight").weight.device == GPU


@pytest.mark.parametrize("average", ["swa", "ema"])
def test_averaged_models_follow(average):
    model = network()
    settings = {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.5)} if average == "ema" else {}
    averaged = swa_utils.AveragedModel(model, **settings)
    for _ in range(2):
        nn.init.ones_(model[0].weight)
        averaged.update_parameters(model)
    assert {each.device for each in averaged.parameters()} == {GPU}
    assert averaged.n_averaged.device == CPU
    swa_utils.update_bn([torch.ones(2, 3, device=GPU)], averaged)
    assert averaged(torch.ones(2, 3, device=GPU)).device == GPU


def test_copies_of_models_are_where_the_models_are():
    model = network(OTHER)
    for made in (deepcopy(model), copy(model)):
        assert {each.device for each in made.parameters()} == {OTHER}
    made = deepcopy(model)
    with torch.no_grad():
        made[0].weight.zero_()
    assert model[0].weight.any()


@pytest.mark.parametrize("moved", ["before", "after"])
def test_lazy_layers_get_their_weights_where_they_are(moved):
    model = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.LazyLinear(1))
    if moved == "before":
        model.cuda()
        model(torch.ones(2, 3, device=GPU))
    else:
        model(torch.ones(2, 3))
        model.cuda()
    assert {each.device for each in model.state_dict().values()} == {GPU}
    assert deepcopy(model)[0].weight.device == GPU


def test_layers_made_on_meta_get_empty_weights_on_the_device():
    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model.to_empty(device=GPU)
    assert {each.device for each in model.state_dict().values()} == {GPU}
    model.load_state_dict({name: each.cpu() for name, each in model.state_dict().items()})
    assert {each.device for each in model.state_dict().values()} == {GPU}
    with torch.device("meta"):
        model = nn.Linear(2, 2)
    state = {"weight": torch.ones(2, 2, device=OTHER), "bias": torch.ones(2, device=OTHER)}
    model.load_state_dict(state, assign=True)
    assert {each.device for each in model.parameters()} == {OTHER}


def test_weights_as_one_vector():
    model = network()
    vector = nn.utils.parameters_to_vector(model.parameters())
    assert vector.device == GPU
    nn.utils.vector_to_parameters(torch.zeros_like(vector), model.parameters())
    assert not model[0].weight.any()
    second = network(OTHER)
    with pytest.raises(TypeError, match="Found two parameters on different devices"):
        nn.utils.parameters_to_vector([*model.parameters(), *second.parameters()])
