"""What guarding does to the ways of spreading a model over devices and processes: nothing.

One process and the CPU are enough for the shapes that they give to modules; `meta` is the second
device. Beside each thing that must go on working stands the nearest one that must be found.
"""

import copy
import importlib
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from accelerate import cpu_offload, dispatch_model
from accelerate.hooks import (
    AlignDevicesHook,
    add_hook_to_module,
)
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

from runtime_guard import DeviceMismatchError
from tests.guard.protection import Net, both, image

# The function of this name hides the module.
replicate = importlib.import_module("torch.nn.parallel.replicate")


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.strays = False
        self.body = nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, batch):
        if self.strays:
            batch = torch.empty_like(batch, device="meta")
        return self.head(self.body(batch))


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    store = tmp_path_factory.mktemp("store") / "store"
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    distributed.destroy_process_group()


def gradients(model: nn.Module) -> list[torch.Tensor]:
    """What a step of training gives; of a tensor that is spread, the part that is here."""
    model(image()).square().sum().backward()
    found = [parameter.grad for parameter in model.parameters()]
    return [getattr(gradient, "to_local", lambda whole=gradient: whole)() for gradient in found]


def assert_same(given: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    assert len(given) == len(expected) > 0
    for one, other in zip(given, expected, strict=True):
        torch.testing.assert_close(one.flatten(), other.flatten())


# --- DataParallel


def data_parallel(model: nn.Module, devices: list[str], monkeypatch) -> nn.DataParallel:
    """The real one, which only has to be told how to copy to devices that are not there."""

    def copies(tensors, devices, detach=False):
        return [[tensor.detach().to(device) for tensor in tensors] for device in devices]

    monkeypatch.setattr(replicate, "_broadcast_coalesced_reshape", copies)
    monkeypatch.setattr(replicate, "_get_device_index", lambda device, *_: device)
    monkeypatch.setattr(replicate, "_replicatable_module", lambda *_: True)

    def scatter(inputs, kwargs, devices):
        return [tuple(each.to(device) for each in inputs) for device in devices], [kwargs] * 2

    def parallel_apply(replicas, inputs, kwargs):
        with ThreadPoolExecutor() as threads:
            return list(threads.map(lambda replica, args: replica(*args), replicas, inputs))

    wrapped = nn.DataParallel(model)
    wrapped.device_ids, wrapped.output_device = devices, devices[0]
    wrapped.src_device_obj = torch.device(devices[0])
    wrapped.scatter = scatter
    wrapped.replicate = lambda module, devices: replicate.replicate(module, devices, detach=True)
    wrapped.parallel_apply = parallel_apply
    wrapped.gather = lambda outputs, _device: outputs
    return wrapped


@both
def test_data_parallel_moves_the_inputs_itself(protect, monkeypatch):
    model = data_parallel(Net().to("meta"), ["meta"], monkeypatch)
    with protect(model, meta=True):
        assert model(image()).device.type == "meta"
        model.scatter = lambda inputs, kwargs, _devices: ([inputs], [kwargs])
        with pytest.raises(DeviceMismatchError):
            model(image())


@both
@pytest.mark.parametrize("make", [Net, Mlp])
def test_replicas_are_judged_by_the_parameters_that_they_were_given(protect, make, monkeypatch):
    model = data_parallel(make().eval(), ["cpu", "meta"], monkeypatch)
    expected = model.module(image())
    with protect(model, meta=True):
        here, there = model(image())
        assert torch.equal(here, expected)
        assert there.device.type == "meta"
        model.scatter = lambda inputs, kwargs, devices: ([inputs] * 2, [kwargs] * 2)
        with pytest.raises(DeviceMismatchError) as caught:
            model(image())
    mismatch = caught.value.mismatches[0]
    assert mismatch.module.endswith("body.0")
    assert (mismatch.tensor.device, mismatch.expected) == ("cpu", "meta")


# --- DistributedDataParallel and FSDP


@both
def test_distributed_data_parallel_trains_as_without(protect, mesh):
    expected = gradients(model := Net())
    model.zero_grad()
    wrapped = DistributedDataParallel(model)
    with protect(wrapped, meta=True):
        assert_same(gradients(wrapped), expected)
        with pytest.raises(DeviceMismatchError):
            wrapped(image("meta"))


@both
def test_a_model_that_is_guarded_before_it_is_wrapped_trains_as_without(protect, mesh):
    expected = gradients(model := Net())
    model.zero_grad()
    with protect(model, meta=True):
        wrapped = DistributedDataParallel(model)
        assert_same(gradients(wrapped), expected)
        with pytest.raises(DeviceMismatchError):
            wrapped(image("meta"))


def sharded(model: nn.Module, mesh) -> nn.Module:
    for part in (model.body, model.head):
        fully_shard(part, mesh=mesh)
    return fully_shard(model, mesh=mesh)


@both
@pytest.mark.parametrize("order", ["guard first", "guard last"])
def test_fully_shard_trains_as_without(protect, order, mesh):
    bare = Net()
    model = copy.deepcopy(bare)
    expected = gradients(bare)
    if order == "guard last":
        sharded(model, mesh)
    with protect(model, meta=True):
        if order == "guard first":
            sharded(model, mesh)
        assert_same(gradients(model), expected)
        with pytest.raises(DeviceMismatchError):
            model(image("meta"))


@both
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("use_orig_params", [True, False])
def test_fully_sharded_data_parallel_trains_as_without(protect, use_orig_params, mesh):
    bare = Mlp()
    model = copy.deepcopy(bare)
    expected = torch.cat([gradient.flatten() for gradient in gradients(bare)])
    cpu = torch.device("cpu")
    model.head = FullyShardedDataParallel(
        model.head, device_id=cpu, use_orig_params=use_orig_params
    )
    wrapped = FullyShardedDataParallel(model, device_id=cpu, use_orig_params=use_orig_params)
    with protect(wrapped, meta=True):
        given = gradients(wrapped)
        # It moves what it is given, not what is made further inside.
        model.strays = True
        with pytest.raises(DeviceMismatchError) as caught:
            wrapped(image())
    assert caught.value.mismatches[0].module.endswith("body.0")
    assert sum(gradient.numel() for gradient in given) == expected.numel()


@both
def test_tensor_parallel_layers_take_plain_inputs(protect, mesh):
    bare = Mlp()
    model = copy.deepcopy(bare)
    expected = gradients(bare)
    parallelize_module(model, mesh, {"body.0": ColwiseParallel(), "head": RowwiseParallel()})
    with protect(model, meta=True):
        assert_same(gradients(model), expected)
        with pytest.raises(DeviceMismatchError):
            model(image("meta"))


@both
def test_a_distributed_tensor_is_where_its_parts_are(protect, mesh):
    model = nn.Linear(4, 2, bias=False)
    model.weight = nn.Parameter(distribute_tensor(model.weight.detach(), mesh))
    spread = distribute_tensor(image(), mesh)
    with protect(model, meta=True):
        assert model(spread).to_local().shape == (3, 2)
        with pytest.raises(DeviceMismatchError):
            model(image("meta"))


# --- accelerate


@both
@pytest.mark.parametrize("meta", [False, True])
def test_a_model_that_accelerate_offloads_works(protect, meta):
    model = Net().eval()
    expected = model(image())
    cpu_offload(model, execution_device=torch.device("cpu"))
    assert next(model.parameters()).device.type == "meta"
    with protect(model, meta=meta):
        assert torch.equal(model(image()), expected)


@both
def test_a_model_that_accelerate_spreads_works(protect, tmp_path):
    model = Net().eval()
    expected = model(image())
    where = {"body": "cpu", "head": "disk"}
    dispatch_model(model, where, main_device="cpu", offload_dir=tmp_path, force_hooks=True)
    with protect(model, meta=True):
        assert torch.equal(model(image()), expected)


@both
def test_a_hook_of_accelerate_moves_what_would_be_wrong_without_it(protect):
    model = nn.Linear(4, 2).to("meta")
    with protect(model, meta=True), pytest.raises(DeviceMismatchError):
        model(image())
    add_hook_to_module(model, AlignDevicesHook(execution_device="meta"))
    with protect(model, meta=True):
        assert model(image()).device.type == "meta"


# --- model parallel


class Halves(nn.Module):
    """Two parts on two devices, and a root with a tensor on each."""

    def __init__(self, *, moves: bool) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2).to("meta")
        self.before = nn.Parameter(torch.ones(4))
        self.after = nn.Parameter(torch.ones(2, device="meta"))
        self.moves = moves

    def forward(self, batch):
        middle = self.first(batch * self.before)
        if self.moves:
            middle = middle.to(self.after.device)
        return self.second(middle) * self.after


@both
@pytest.mark.filterwarnings("ignore::runtime_guard.PlacementWarning")
def test_the_root_of_a_model_on_several_devices_takes_inputs_on_each(protect):
    model = Halves(moves=True)
    with protect(model, meta=True):
        assert model(image()).device.type == "meta"
    model.moves = False
    with protect(model, meta=True), pytest.raises(DeviceMismatchError) as caught:
        model(image())
    assert caught.value.mismatches[0].module == "second"
