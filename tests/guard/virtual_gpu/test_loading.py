"""Loaders of batches, and pinned memory."""

import pytest
import torch
from torch.nn.utils.rnn import pack_sequence
from torch.utils.data import DataLoader, TensorDataset

from runtime_guard import virtual_gpu

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork")


class OnDevice(torch.utils.data.Dataset):
    """Moves what it gives, which no forked worker can do."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        try:
            return torch.ones(2).cuda()
        except RuntimeError as error:
            return str(error)


@pytest.fixture(autouse=True)
def gpu():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with virtual_gpu() as one:
        yield one
    torch.set_num_threads(threads)


def batches(workers=0, method=None, **options):
    data = TensorDataset(torch.arange(8.0).reshape(4, 2), torch.arange(4))
    context = method if workers else None
    return DataLoader(
        data, batch_size=2, num_workers=workers, multiprocessing_context=context, **options
    )


def test_pinned_memory_is_a_copy_once():
    tensor = torch.ones(2, 3).t()
    assert not tensor.is_pinned()
    pinned = tensor.pin_memory()
    assert pinned.is_pinned()
    assert not tensor.is_pinned()
    assert pinned.pin_memory() is pinned
    assert pinned[0].is_pinned()
    assert pinned.stride() == tensor.stride()
    assert pinned.device == torch.device("cpu")
    assert pinned.untyped_storage().is_pinned()
    assert not pinned.clone().is_pinned()
    assert not pinned.cuda().is_pinned()


def test_only_dense_tensors_of_the_cpu_can_be_pinned():
    with pytest.raises(
        RuntimeError,
        match=r"cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ):
        torch.ones(2, device="cuda").pin_memory()


def test_factories_can_pin():
    assert torch.empty(2, pin_memory=True).is_pinned()
    assert torch.zeros(2, dtype=torch.int64, pin_memory=True).is_pinned()
    assert torch.zeros_like(torch.ones(2), pin_memory=True).is_pinned()
    assert torch.ones(2).new_empty(3, pin_memory=True).is_pinned()
    assert not torch.empty(2, pin_memory=False).is_pinned()
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        torch.empty(2, pin_memory=True, device="cuda")


def test_packed_sequences_are_pinned():
    assert pack_sequence([torch.ones(2), torch.ones(1)]).pin_memory().is_pinned()


def test_a_stream_is_told_of_tensors_of_the_device_alone():
    stream = torch.cuda.Stream()
    assert torch.ones(2, device="cuda").record_stream(stream) is None
    with pytest.raises(NotImplementedError, match=r"aten::record_stream.*'CPU' backend"):
        torch.ones(2).record_stream(stream)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("pin", [True, False])
def test_batches_come_on_the_cpu_pinned_where_asked(workers, pin):
    torch.ones(1, device="cuda")
    seen = [
        (data.device.type, data.is_pinned(), data.sum().item())
        for data, _ in batches(workers, "fork", pin_memory=pin)
    ]
    assert seen == [("cpu", pin, 6.0), ("cpu", pin, 22.0)]


def test_workers_that_persist_serve_epoch_after_epoch():
    loader = batches(1, "fork", pin_memory=True, persistent_workers=True, prefetch_factor=1)
    for _ in range(2):
        moved = [target.to("cuda", non_blocking=True) for _, target in loader]
        assert [str(target.device) for target in moved] == ["cuda:0", "cuda:0"]


def test_workers_that_are_spawned_find_the_machine():
    loader = DataLoader(OnDevice(), num_workers=1, multiprocessing_context="spawn", batch_size=None)
    assert [str(item.device) for item in loader] == ["cuda:0", "cuda:0"]


def test_a_forked_worker_cannot_use_a_device_that_its_parent_used():
    torch.ones(1, device="cuda")
    loader = DataLoader(OnDevice(), num_workers=1, multiprocessing_context="fork", batch_size=None)
    assert [item[:46] for item in loader] == ["Cannot re-initialize CUDA in forked subprocess"] * 2


def test_the_device_to_pin_for_is_heard(recwarn):
    loader = batches(pin_memory=True, pin_memory_device="cuda")
    assert all(data.is_pinned() for data, _ in loader)
