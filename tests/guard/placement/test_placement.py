"""Where a model's parts lie. `meta` stands for the accelerator: what is moved there is gone from
the CPU, and what stays is left behind."""

import copy
import json
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from rich.console import Console
from torch import nn
from torch.nn.utils import parametrizations, prune

from runtime_guard.errors import PlacementWarning
from runtime_guard.placement.placement import report, warn_of

TEXT = """
    device       held as    tensors      bytes
    cpu                           4   64 bytes
                 attribute        2   40 bytes
                 list             2   24 bytes
    meta (main)                   2  288 bytes
                 parameter        2  288 bytes

    left behind on cpu, while the model is on meta:
      mask float32[2, 2]
        a plain attribute, which model.to() does not move:
        write self.register_buffer("mask", …, persistent=False)
      layers[0].weight float32[2, 2], layers[0].bias float32[2]
        in a module in a plain list, which model.to() does not move and model.parameters() does
        not have: use nn.ModuleList

    worth knowing:
      index int64[3]
        a plain attribute, which model.to() does not move: as an index it is copied at each use,
        anywhere else it fails
"""


class Model(nn.Module):
    """A linear layer, and whatever a test puts beside it."""

    def __init__(self, **attributes):
        super().__init__()
        self.body = nn.Linear(8, 8)
        for name, value in attributes.items():
            setattr(self, name, value)


def moved(**attributes) -> nn.Module:
    return Model(**attributes).to("meta")


def left_behind(model, optimizer=None) -> list[str]:
    return [entry.path for entry in report(model, optimizer).left_behind]


def only_problem(model, optimizer=None) -> tuple[str, str, str]:
    (entry,) = report(model, optimizer).left_behind
    return entry.path, entry.kind, entry.problem


def entries(model, optimizer=None) -> dict[str, str]:
    return {entry.path: entry.kind for entry in report(model, optimizer).entries}


def move_as_to_an_accelerator(model: nn.Module) -> None:
    """Move to `meta`, and keep the parameters as a move to an accelerator does; `.to` does not."""
    for parameter in model.parameters():
        parameter.grad = None
        there = nn.Parameter(torch.empty_like(parameter, device="meta"))
        torch.utils.swap_tensors(parameter, there)


def trained(model: nn.Module) -> torch.optim.Optimizer:
    optimizer = torch.optim.Adam(model.parameters())
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return optimizer


def test_parameters_and_buffers_are_listed_with_their_device_shape_and_bytes():
    placement = report(nn.BatchNorm1d(3))
    assert [(entry.path, entry.kind, str(entry.tensor)) for entry in placement.entries] == [
        ("weight", "parameter", "float32[3] on cpu"),
        ("bias", "parameter", "float32[3] on cpu"),
        ("running_mean", "buffer", "float32[3] on cpu"),
        ("running_var", "buffer", "float32[3] on cpu"),
        ("num_batches_tracked", "buffer", "int64[] on cpu"),
    ]
    assert placement.by_device == {"cpu": (5, 4 * 3 * 4 + 8)}


def test_nothing_is_left_behind_when_all_is_on_the_cpu():
    model = Model(mask=torch.ones(2), layers=[nn.Linear(2, 2)])
    placement = report(model, trained(model))
    assert placement.main_device == "cpu"
    assert not placement.left_behind
    assert not placement.remarks


def test_nothing_is_left_behind_when_all_was_moved():
    assert not left_behind(moved(norm=nn.BatchNorm1d(3), embedding=nn.Embedding(3, 4)))


def test_a_plain_tensor_attribute_stays_behind():
    path, kind, problem = only_problem(moved(mask=torch.ones(2, 2)))
    assert (path, kind) == ("mask", "attribute")
    assert problem == (
        "a plain attribute, which model.to() does not move: "
        'write self.register_buffer("mask", …, persistent=False)'
    )


def test_a_registered_buffer_does_not_stay_behind():
    model = Model()
    model.register_buffer("mask", torch.ones(2, 2), persistent=False)
    assert not left_behind(model.to("meta"))


def test_a_plain_attribute_of_an_inner_module_has_its_path():
    model = Model(inner=nn.Sequential(Model(mask=torch.ones(2)))).to("meta")
    assert left_behind(model) == ["inner.0.mask"]


def test_a_plain_attribute_that_learns_should_be_a_parameter():
    scale = torch.ones(2, requires_grad=True)
    assert "write self.scale = nn.Parameter(…)" in only_problem(moved(scale=scale))[2]


@pytest.mark.parametrize(
    ("value", "path", "container"),
    [
        ([torch.ones(2)], "masks[0]", "list"),
        ((0, torch.ones(2)), "masks[1]", "tuple"),
        ({"causal": torch.ones(2)}, 'masks["causal"]', "dict"),
        ({1: [torch.ones(2)]}, "masks[1][0]", "list"),
        ({torch.ones(1): torch.ones(2)}, "masks[Tensor]", "dict"),
    ],
)
def test_tensors_in_plain_containers_stay_behind(value, path, container):
    found, kind, problem = only_problem(moved(masks=value))
    assert (found, kind) == (path, "attribute")
    assert f"in a plain {container}" in problem
    assert "self.register_buffer for each" in problem


def test_parameters_in_a_plain_list_belong_in_a_parameter_list():
    problem = only_problem(moved(scales=[nn.Parameter(torch.ones(2))]))[2]
    assert "use nn.ParameterList" in problem


@pytest.mark.parametrize(
    ("wrap", "paths", "remedy"),
    [
        (lambda layer: [layer], ["layers[0].weight", "layers[0].bias"], "nn.ModuleList"),
        (lambda layer: (1, layer), ["layers[1].weight", "layers[1].bias"], "nn.ModuleList"),
        (lambda layer: {"a": layer}, ['layers["a"].weight', 'layers["a"].bias'], "nn.ModuleDict"),
        (lambda layer: [[layer]], ["layers[0][0].weight", "layers[0][0].bias"], "nn.ModuleList"),
    ],
)
def test_modules_in_plain_containers_stay_behind(wrap, paths, remedy):
    found = report(moved(layers=wrap(nn.Linear(2, 2)))).left_behind
    assert [entry.path for entry in found] == paths
    assert {entry.kind for entry in found} == {"list"}
    assert all(f"use {remedy}" in entry.problem for entry in found)


@pytest.mark.parametrize("wrap", [nn.ModuleList, lambda layers: nn.ModuleDict({"a": layers[0]})])
def test_modules_in_containers_of_torch_do_not_stay_behind(wrap):
    assert not left_behind(moved(layers=wrap([nn.Linear(2, 2)])))


def test_attributes_and_lists_below_an_unregistered_module_are_found():
    inner = Model(mask=torch.ones(2), more=[nn.Linear(2, 2, bias=False)])
    found = report(moved(layers=[inner])).left_behind
    assert {entry.path: entry.kind for entry in found} == {
        "layers[0].body.weight": "list",
        "layers[0].body.bias": "list",
        "layers[0].mask": "attribute",
        "layers[0].more[0].weight": "list",
    }


def test_a_module_hidden_from_registration_stays_behind():
    model = moved()
    vars(model)["teacher"] = nn.Linear(2, 2, bias=False)
    path, kind, problem = only_problem(model)
    assert (path, kind) == ("teacher.weight", "list")
    assert 'move that module with .to("meta") as well' in problem


def test_a_list_of_modules_that_are_registered_elsewhere_is_no_matter():
    model = Model(first=nn.Linear(2, 2))
    model.both = [model.body, model.first]
    assert entries(model).keys() == {"body.weight", "body.bias", "first.weight", "first.bias"}
    assert not left_behind(model.to("meta"))


def test_modules_that_refer_to_their_parents_end_and_repeat_nothing():
    model = Model(layers=[Model(), Model()])
    for layer in model.layers:
        vars(layer)["parent"] = model
        layer.siblings = model.layers
    model.loop = [model]
    model.loop.append(model.loop)
    assert list(entries(model)) == [
        "body.weight",
        "body.bias",
        "layers[0].body.weight",
        "layers[0].body.bias",
        "layers[1].body.weight",
        "layers[1].body.bias",
    ]


def test_deeply_nested_lists_are_walked_without_recursion():
    masks = [torch.ones(2)]
    for _ in range(5000):
        masks = [masks]
    assert len(left_behind(moved(masks=masks))) == 1


def test_a_layer_added_after_the_move_stays_behind():
    model = moved()
    model.head = nn.Linear(2, 2, bias=False)
    path, kind, problem = only_problem(model)
    assert (path, kind) == ("head.weight", "parameter")
    assert 'call model.to("meta") once the model is complete' in problem


def test_the_larger_part_may_be_the_one_left_behind():
    model = moved()
    model.embedding = nn.Embedding(1000, 8)
    assert report(model).main_device == "meta"
    assert left_behind(model) == ["embedding.weight"]


def test_a_buffer_added_after_the_move_stays_behind():
    model = moved()
    model.register_buffer("mask", torch.ones(3))
    assert only_problem(model)[:2] == ("mask", "buffer")


class OnAccelerator(torch.Tensor):
    """A tensor on the CPU that says it is elsewhere: models on several devices need no more."""

    @staticmethod
    def __new__(cls, *shape, index):
        made = torch.Tensor._make_subclass(cls, torch.zeros(*shape))
        made.index = index
        return made

    @property
    def device(self):
        return torch.device("cuda", self.index)


def test_a_model_on_several_accelerators_is_where_most_bytes_are_and_no_part_is_wrong():
    model = nn.ModuleList(nn.Module() for _ in range(2))
    model[0].register_buffer("small", OnAccelerator(2, index=0))
    model[1].register_buffer("large", OnAccelerator(9, index=1))
    placement = report(model)
    assert placement.main_device == "cuda:1"
    assert placement.by_device == {"cuda:0": (1, 8), "cuda:1": (1, 36)}
    assert not placement.left_behind
    model[0].mask = torch.ones(2)
    assert left_behind(model) == ["0.mask"]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_tensors_that_are_elsewhere_than_a_model_on_the_cpu_are_not_called_left_behind(device):
    assert not left_behind(Model(mask=torch.ones(2, device=device)))


def test_a_zero_dimensional_tensor_on_the_cpu_is_allowed():
    model = moved(temperature=torch.tensor(0.5), empty=torch.empty(0))
    assert not left_behind(model)
    assert {"temperature", "empty"} <= entries(model).keys()
    assert left_behind(moved(temperature=torch.tensor([0.5]))) == ["temperature"]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.bool, torch.uint8])
def test_an_index_on_the_cpu_is_remarked_upon_but_not_called_wrong(dtype):
    placement = report(moved(positions=torch.zeros(4, dtype=dtype)))
    assert not placement.left_behind
    assert [entry.path for entry in placement.remarks] == ["positions"]
    assert "copied at each use" in placement.remarks[0].remark


def test_an_index_that_is_a_buffer_left_behind_is_called_wrong():
    model = moved()
    model.register_buffer("positions", torch.arange(3))
    assert left_behind(model) == ["positions"]


def test_what_accelerate_places_is_not_called_left_behind():
    model = Model(inner=nn.Sequential(nn.Linear(2, 2)), mask=torch.ones(2)).to("meta")
    model.inner[0] = nn.Linear(2, 2)
    assert left_behind(model) == ["inner.0.weight", "inner.0.bias", "mask"]
    model.inner._hf_hook = SimpleNamespace()
    assert left_behind(model) == ["mask"]
    model._hf_hook = SimpleNamespace()
    assert left_behind(model) == []


def test_parameters_that_accelerate_parks_on_meta_do_not_say_where_the_model_is():
    model = Model(parked=nn.Linear(90, 90).to("meta"), mask=torch.ones(2))
    assert report(model).main_device == "meta"
    model.parked._hf_hook = SimpleNamespace()
    assert report(model).main_device == "cpu"
    assert not left_behind(model)


def test_lazy_parameters_are_passed_over():
    model = Model(lazy=nn.LazyLinear(3), norm=nn.LazyBatchNorm1d())
    assert "lazy.weight" not in entries(model)
    model.lazy(torch.ones(1, 2))
    assert "lazy.weight" in entries(model)


def test_a_replica_has_the_parameters_that_it_had():
    replica = nn.Linear(2, 2)._replicate_for_data_parallel()
    replica._former_parameters = {"weight": torch.ones(2, 2)}
    replica.weight = replica._former_parameters["weight"]
    assert entries(replica) == {"weight": "parameter"}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    "reparametrize",
    [
        parametrizations.weight_norm,
        parametrizations.orthogonal,
        nn.utils.weight_norm,
        nn.utils.spectral_norm,
        lambda layer: prune.l1_unstructured(layer, "weight", 0.5),
    ],
)
def test_a_weight_that_is_computed_from_others_is_not_called_left_behind(reparametrize):
    layer = nn.Linear(4, 4)
    reparametrize(layer)
    assert not left_behind(Model(layer=layer).to("meta"))
    layer.mask = torch.ones(4)
    assert left_behind(layer) == ["mask"]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_the_flat_weights_of_a_recurrent_layer_are_its_parameters(kind):
    layer = kind(2, 3)
    assert set(entries(layer).values()) == {"parameter"}
    assert not left_behind(layer.to("meta"))


def test_tied_weights_count_once():
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    assert report(model).by_device == {"cpu": (1, 64)}


def test_views_of_a_weight_count_once_and_name_it():
    model = Model()
    model.rows = model.body.weight.detach()[2:4]
    rows = report(model).entries[-1]
    assert (rows.path, rows.same_as) == ("rows", "body.weight")
    assert report(model).by_device == {"cpu": (2, 4 * (64 + 8))}


def test_two_parts_of_one_memory_both_count():
    whole = torch.ones(10)
    assert report(Model(first=whole[:5], second=whole[5:])).by_device["cpu"] == (
        4,
        4 * (64 + 8 + 10),
    )


@pytest.mark.filterwarnings("ignore:.*Sparse:UserWarning")
def test_sparse_and_nested_tensors_are_listed():
    ragged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    model = Model(sparse=torch.eye(3).to_sparse(), ragged=ragged)
    assert {"sparse", "ragged"} <= entries(model).keys()


def test_optimizer_state_that_was_there_before_the_move_stays_behind():
    model = Model()
    optimizer = trained(model)
    move_as_to_an_accelerator(model)
    found = report(model, optimizer).left_behind
    assert [entry.path for entry in found] == [
        'optimizer.state[model.body.weight]["exp_avg"]',
        'optimizer.state[model.body.weight]["exp_avg_sq"]',
        'optimizer.state[model.body.bias]["exp_avg"]',
        'optimizer.state[model.body.bias]["exp_avg_sq"]',
    ]
    assert {entry.kind for entry in found} == {"optimizer state"}
    assert "optimizer.load_state_dict(…) after model.to(…)" in found[0].problem
    assert 'optimizer.state[model.body.weight]["step"]' in entries(model, optimizer)


def test_optimizer_state_loaded_after_the_move_does_not_stay_behind():
    model = Model()
    optimizer = trained(model)
    saved = copy.deepcopy(optimizer.state_dict())
    move_as_to_an_accelerator(model)
    optimizer.load_state_dict(saved)
    assert not left_behind(model, optimizer)


def test_state_of_a_parameter_that_is_on_the_cpu_belongs_there():
    model = Model()
    model.head = nn.Linear(2, 2, bias=False)
    optimizer = trained(model)
    move_as_to_an_accelerator(model.body)
    optimizer.load_state_dict(optimizer.state_dict())
    assert left_behind(model, optimizer) == ["head.weight"]


def test_an_optimizer_of_parameters_that_the_model_no_longer_has_is_stale():
    model = Model(head=nn.Linear(2, 2, bias=False)).to("meta")
    optimizer = torch.optim.SGD(model.parameters())
    assert not left_behind(model, optimizer)
    optimizer = torch.optim.SGD([*nn.Linear(2, 2, bias=False).parameters()])
    path, kind, problem = only_problem(model, optimizer)
    assert path == 'optimizer.param_groups[0]["params"][0]'
    assert kind == "optimizer parameter"
    assert "from model.parameters(), after the model is moved" in problem


def test_an_optimizer_that_is_not_one_of_torch_places_its_own_tensors():
    model = Model()
    optimizer = trained(model)
    move_as_to_an_accelerator(model)
    groups = [{"params": [torch.ones(2)]}]
    offloading = SimpleNamespace(param_groups=groups, state=optimizer.state)
    assert not left_behind(model, offloading)
    assert 'optimizer.param_groups[0]["params"][0]' in entries(model, offloading)


def test_a_report_moves_and_changes_nothing():
    model = Model(mask=torch.ones(2), layers=[nn.Linear(2, 2)])
    before = {name: dict(vars(module)) for name, module in model.named_modules()}
    report(model, trained(model))
    assert {name: dict(vars(module)) for name, module in model.named_modules()} == before


def test_the_text_shows_the_devices_and_says_what_to_write():
    model = moved(mask=torch.ones(2, 2), layers=[nn.Linear(2, 2)], index=torch.arange(3))
    text = str(report(model))
    assert max(map(len, text.splitlines())) <= 100
    assert text.startswith("device       held as    tensors      bytes\ncpu           ")
    assert " ".join(text.split()) == " ".join(TEXT.split())


def test_a_console_of_rich_draws_it():
    console = Console(width=60, color_system=None)
    with console.capture() as captured:
        console.print(report(moved(mask=torch.ones(2))))
    assert "left behind on cpu" in captured.get()
    assert max(map(len, captured.get().splitlines())) <= 60


def test_json_says_the_same_as_the_values():
    placement = report(moved(mask=torch.ones(2)))
    read = json.loads(placement.to_json())
    assert read["main_device"] == "meta"
    assert read["by_device"] == {
        "cpu": {"tensors": 1, "bytes": 8},
        "meta": {"tensors": 2, "bytes": 288},
    }
    assert read["left_behind"] == ["mask"]
    assert [entry["path"] for entry in read["entries"]] == ["body.weight", "body.bias", "mask"]
    assert read["entries"][2]["tensor"]["shape"] == [2]


def test_the_warning_names_both_devices_and_points_at_the_line_outside_the_package():
    placement = report(moved(mask=torch.ones(2), layers=[nn.Linear(2, 2, bias=False)] * 2))
    with pytest.warns(PlacementWarning) as warned:
        warn_of(placement)
    line = sys._getframe().f_lineno - 1
    (warning,) = warned
    assert (warning.filename, warning.lineno) == (__file__, line)
    assert str(warning.message).startswith(
        "left behind on cpu, while the model is on meta:\n  mask float32[2]\n    a plain attribute"
    )
    assert "\n  layers[0].weight float32[2, 2]\n    in a module in a plain list" in str(
        warning.message
    )


def test_the_warning_points_at_the_users_line_where_a_library_guards_the_model():
    library = compile("def fit(model): warn_of(report(model))", "/x/site-packages/y.py", "exec")
    names: dict[str, Any] = {"warn_of": warn_of, "report": report}
    exec(library, names)
    with pytest.warns(PlacementWarning) as warned:
        names["fit"](moved(mask=torch.ones(2)))
    line = sys._getframe().f_lineno - 1
    assert [(warning.filename, warning.lineno) for warning in warned] == [(__file__, line)]


def test_many_that_are_left_behind_are_named_in_few_words():
    model = moved(layers=[nn.Linear(2, 2) for _ in range(50)])
    with pytest.warns(PlacementWarning, match="and 97 more") as warned:
        warn_of(report(model))
    assert len(str(warned[0].message)) < 400


def test_there_is_no_warning_where_nothing_is_left_behind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of(report(moved(index=torch.arange(3))))
