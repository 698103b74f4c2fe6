"""Input and output: saving, loading, pickling."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn

from tests.conformance.given import CPU, GPU, cpu, each, gpu, places
from tests.conformance.texts import refused


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def test_a_cuda_tensor_comes_back_to_cuda():
    loaded = torch.load(saved(torch.tensor([1.0, 2.0], device="cuda")))
    assert (loaded.device, loaded.tolist()) == (GPU, [1.0, 2.0])


def test_a_cpu_tensor_comes_back_to_the_cpu():
    assert torch.load(saved(cpu(2))).device == CPU


LOCATIONS = {
    "a name": ("cpu", "cpu"),
    "a device": (torch.device("cpu"), "cpu"),
    "a dictionary": ({"cuda:0": "cpu"}, "cpu"),
    "a function that leaves the storage": (lambda storage, location: storage, "cpu"),
    "a function that moves it": (lambda storage, location: storage.cuda(), "cuda:0"),
    "a function that gives None": (lambda storage, location: None, "cuda:0"),
    "nothing": (None, "cuda:0"),
    "cuda": ("cuda", "cuda:0"),
    "cuda with an index": ("cuda:0", "cuda:0"),
    "a cuda device": (torch.device("cuda:0"), "cuda:0"),
    "a dictionary of another device": ({"cuda:1": "cpu"}, "cuda:0"),
}


@each(LOCATIONS)
def test_a_cuda_tensor_is_loaded_where_the_map_says(row):
    location, where = row
    loaded = torch.load(saved(torch.ones(2, device="cuda")), map_location=location)
    assert (str(loaded.device), loaded.tolist()) == (where, [1.0, 1.0])


@each({"a name": "cuda", "a device": torch.device("cuda"), "a dictionary": {"cpu": "cuda:0"}})
def test_a_cpu_tensor_is_loaded_on_cuda_where_the_map_says(row):
    assert torch.load(saved(cpu(2)), map_location=row).device == GPU


def test_the_function_is_told_the_location():
    told = []

    def locate(storage, location):
        told.append((storage.device, location))
        return storage

    torch.load(saved([gpu(1), cpu(1)]), map_location=locate)
    assert sorted(told, key=str) == [(CPU, "cpu"), (CPU, "cuda:0")]


def test_a_device_that_is_missing_is_named():
    refused(
        lambda: torch.load(saved(cpu(1)), map_location="cuda:99"),
        "Attempting to deserialize object on CUDA device 99 but torch.cuda.device_count\\(\\) is",
    )


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_checkpoint(weights_only):
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    model(gpu(4, 2)).sum().backward()
    optimizer.step()
    file = saved({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3})
    loaded = torch.load(file, weights_only=weights_only)
    assert places(loaded["model"]) == {"cuda:0"}
    assert loaded["optimizer"]["state"][0]["exp_avg"].device == GPU
    assert loaded["optimizer"]["state"][0]["step"].device == CPU
    model.load_state_dict(loaded["model"])
    optimizer.load_state_dict(loaded["optimizer"])


def test_a_checkpoint_of_cuda_is_loaded_into_a_cpu_model():
    state = torch.load(saved(nn.Linear(2, 2).cuda().state_dict()), map_location="cpu")
    model = nn.Linear(2, 2)
    model.load_state_dict(state)
    assert places([state, list(model.parameters())]) == {"cpu"}


def test_a_whole_module_comes_back_to_cuda():
    model = torch.load(saved(nn.Linear(2, 2).cuda()), weights_only=False)
    assert places(list(model.parameters())) == {"cuda:0"}
    assert model(gpu(1, 2)).device == GPU


def test_a_parameter_comes_back():
    loaded = torch.load(saved(nn.Parameter(gpu(2))))
    assert (type(loaded), loaded.device, loaded.requires_grad) == (nn.Parameter, GPU, True)


def test_views_come_back_sharing_memory():
    base = torch.zeros(3, device="cuda")
    loaded, view = torch.load(saved([base, base[1:]]))
    view[0] = 5
    assert (loaded.tolist(), view.device) == ([0.0, 5.0, 0.0], GPU)


def test_a_file_does_not_change_the_tensor():
    tensor = gpu(2)
    saved(tensor)
    assert tensor.device == GPU


@each({"half": torch.float16, "long": torch.int64, "bool": torch.bool, "bfloat16": torch.bfloat16})
def test_other_dtypes_come_back(row):
    loaded = torch.load(saved(torch.ones(2, device="cuda", dtype=row)))
    assert (loaded.device, loaded.dtype) == (GPU, row)


def test_the_old_format():
    file = io.BytesIO()
    torch.save(gpu(2), file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert torch.load(file).device == GPU


def test_a_file_on_disk(tmp_path):
    torch.save({"x": gpu(2)}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt")["x"].device == GPU
    assert torch.load(tmp_path / "x.pt", map_location="cpu", mmap=True)["x"].device == CPU


def test_pickle():
    tensor = torch.tensor([1.0, 2.0], device="cuda")
    again = pickle.loads(pickle.dumps(tensor))
    assert (again.device, again.tolist()) == (GPU, [1.0, 2.0])


def test_a_pickled_module():
    again = pickle.loads(pickle.dumps(nn.Linear(2, 2).cuda()))
    assert places(list(again.parameters())) == {"cuda:0"}


def test_a_pickled_device():
    assert pickle.loads(pickle.dumps(GPU)) == GPU


def test_a_deep_copied_module_is_on_its_own():
    model = nn.Linear(1, 1, bias=False).cuda()
    other = copy.deepcopy(model)
    with torch.no_grad():
        other.weight.fill_(5)
    assert (other.weight.device, other.weight.item()) == (GPU, 5.0)
    assert model.weight.item() != 5.0


def test_a_deep_copied_leaf_has_its_gradient():
    leaf = gpu(2, grad=True)
    leaf.sum().backward()
    other = copy.deepcopy(leaf)
    assert (other.device, other.grad.device, other.grad.tolist()) == (GPU, GPU, [1.0, 1.0])


def test_a_deep_copied_parameter_is_a_parameter():
    other = copy.deepcopy(nn.Parameter(gpu(2)))
    assert (type(other), other.device) == (nn.Parameter, GPU)


def test_what_is_no_leaf_is_not_deep_copied():
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(gpu(2, grad=True) * 2)
