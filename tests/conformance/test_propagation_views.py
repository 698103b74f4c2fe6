"""Propagation: views, storages, aliases."""

import copy

import torch
from torch import nn

from tests.conformance.given import CPU, GPU, cpu, each, gpu, places
from tests.conformance.texts import refused

VIEWS = {
    "an element": lambda t: t[0, 0],
    "a row": lambda t: t[1],
    "a slice": lambda t: t[:, 1:],
    "T": lambda t: t.T,
    "mT": lambda t: t.mT,
    "view": lambda t: t.view(6),
    "view as bytes": lambda t: t.view(torch.uint8),
    "narrow": lambda t: t.narrow(0, 0, 1),
    "select": lambda t: t.select(0, 1),
    "diagonal": lambda t: t.diagonal(),
    "expand": lambda t: t[:, :1].expand(2, 5),
    "detach": lambda t: t.detach(),
    "data": lambda t: t.data,
    "the real part": lambda t: torch.complex(t, t).real,
    "unflatten": lambda t: t.unflatten(1, (3, 1)),
    "alias": lambda t: t.view_as(t),
}


@each(VIEWS)
def test_a_view_is_where_its_base_is(row):
    assert row(gpu(2, 3)).device == GPU


def test_a_view_shares_memory():
    base = torch.zeros(2, 2, device="cuda")
    base[0].add_(1)
    base.T[1] = 5
    assert base.tolist() == [[1.0, 5.0], [0.0, 5.0]]
    assert base[0].data_ptr() == base.data_ptr()


def test_a_view_of_a_copy_does_not():
    base = torch.zeros(2, device="cuda")
    base.cpu()[0] = 1
    base.clone()[1] = 1
    assert base.tolist() == [0.0, 0.0]


def test_a_view_outlives_its_base():
    view = gpu(4, 4)[1]
    assert view.device == GPU
    assert (view + view).device == GPU


def test_a_copy_of_a_view_takes_its_own_memory():
    row = gpu(4, 4)[1]
    assert row.clone().untyped_storage().nbytes() == 16
    assert row.untyped_storage().nbytes() == 64


def test_data_may_be_replaced_by_a_tensor_elsewhere():
    parameter = nn.Parameter(cpu(2))
    parameter.data = gpu(2)
    assert parameter.device == GPU
    parameter.data = cpu(2)
    assert parameter.device == CPU


def test_set_takes_the_storage_of_another():
    target = torch.empty(0, device="cuda")
    source = torch.tensor([1.0, 2.0], device="cuda")
    target.set_(source)
    assert (target.device, target.tolist()) == (GPU, [1.0, 2.0])


def test_a_storage_moves():
    storage = cpu(2).untyped_storage()
    assert storage.cuda().device == GPU
    assert storage.cuda().cpu().device == CPU
    assert storage.device == CPU


def test_swapped_references_keep_their_devices():
    one, other = gpu(1), cpu(1)
    one, other = other, one
    assert (one.device, other.device) == (CPU, GPU)


def test_containers_hold_tensors_of_both():
    batch = {"x": gpu(2), "lengths": cpu(2), "more": [gpu(1), (cpu(1),)]}
    assert places(batch) == {"cuda:0", "cpu"}
    assert places({key: value for key, value in batch.items() if key == "x"}) == {"cuda:0"}


def test_a_deep_copy_keeps_shared_memory_shared():
    base = torch.zeros(2, device="cuda")
    one, other = copy.deepcopy([base, base[0]])
    one[0] = 7
    assert (other.item(), other.device) == (7.0, GPU)
    assert base.tolist() == [0.0, 0.0]


def test_a_shallow_copy_stays():
    assert copy.copy(gpu(2)).device == GPU


def test_in_place_changes_stay():
    tensor = gpu(2)
    tensor *= 2
    tensor[0] = 0
    tensor.unsqueeze_(0).t_()
    assert tensor.device == GPU


def test_a_subclass_moves():
    class Marked(torch.Tensor):
        pass

    moved = cpu(2).as_subclass(Marked).cuda()
    assert type(moved) is Marked
    assert places([moved, moved.exp()]) == {"cuda:0"}


def test_pinned_memory_is_the_cpus():
    pinned = cpu(2).pin_memory()
    assert (pinned.device, pinned.is_pinned()) == (CPU, True)
    assert pinned.cuda(non_blocking=True).device == GPU
    assert torch.empty(2, pin_memory=True).is_pinned()


def test_what_was_not_pinned_is_not():
    assert not cpu(2).is_pinned()


def test_cuda_memory_is_not_pinned():
    refused(
        lambda: gpu(2).pin_memory(),
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    )


def test_shared_memory_of_cuda_is_left_as_it_is():
    tensor = gpu(2)
    assert tensor.share_memory_() is tensor
    assert tensor.is_shared()
