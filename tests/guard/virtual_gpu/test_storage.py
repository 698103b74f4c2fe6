"""Storages, files, copies and pickles of what lives on virtual devices."""

import copy
import io
import pickle

import pytest
import torch

from runtime_guard import virtual_gpu


@pytest.fixture(autouse=True)
def two_gpus():
    with virtual_gpu(2) as gpus:
        yield gpus


def saved(value, **options):
    file = io.BytesIO()
    torch.save(value, file, **options)
    file.seek(0)
    return file


def test_a_storage_says_where_it_lives():
    storage = torch.ones(3, device="cuda:1").untyped_storage()
    assert storage.device == torch.device("cuda:1")
    assert storage.is_cuda
    assert storage.get_device() == 1
    assert "device=cuda:1" in repr(storage)
    assert torch.ones(3).untyped_storage().device == torch.device("cpu")


@pytest.mark.parametrize(
    ("move", "device"),
    [
        (lambda storage: storage.cpu(), "cpu"),
        (lambda storage: storage.cuda(), "cuda:0"),
        (lambda storage: storage.cuda(1), "cuda:1"),
        (lambda storage: storage.to(device="cuda:0"), "cuda:0"),
        (lambda storage: storage.to(device="cpu"), "cpu"),
        (lambda storage: storage.clone(), "cuda:1"),
        (copy.deepcopy, "cuda:1"),
    ],
)
def test_a_storage_moves_and_copies(move, device):
    storage = torch.tensor([1, 2], dtype=torch.uint8, device="cuda:1").untyped_storage()
    made = move(storage)
    assert str(made.device) == device
    assert made.tolist() == [1, 2]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_a_typed_storage_knows_the_device_too():
    storage = torch.ones(3, device="cuda:1")._typed_storage()
    assert storage.device == torch.device("cuda:1")
    assert storage.is_cuda


def test_a_storage_is_made_on_a_device():
    assert str(torch.UntypedStorage(4, device="cuda").device) == "cuda:0"
    assert str(torch.UntypedStorage(4, device="meta").device) == "meta"
    assert str(torch.UntypedStorage(4).device) == "cpu"


def test_a_storage_already_there_is_itself():
    storage = torch.ones(3, device="cuda:1").untyped_storage()
    assert storage.to(device="cuda:1") is storage
    assert storage.cuda(1) is storage


def test_what_a_storage_is_resized_to_counts(two_gpus):
    account = two_gpus._machine.accounts[0]
    tensor = torch.empty(100, dtype=torch.uint8, device="cuda")
    before = account.allocated
    tensor.untyped_storage().resize_(0)
    assert account.allocated == before - 100
    assert tensor.device == torch.device("cuda:0")
    tensor.untyped_storage().resize_(300)
    assert account.allocated == before + 200


def test_a_tensor_cannot_view_a_storage_of_another_device():
    storage = torch.ones(3, device="cuda:1").untyped_storage()
    with pytest.raises(
        RuntimeError,
        match=r'Attempted to set the storage of a tensor on device "cpu" to a storage on different '
        r'device "cuda:1"\.  This is no longer allowed; the devices must match\.',
    ):
        torch.empty(0).set_(storage)
    with pytest.raises(
        RuntimeError, match='device "cuda:0" to a storage on different device "cpu"'
    ):
        torch.empty(0, device="cuda").set_(torch.ones(2))
    assert torch.empty(0, device="cuda:1").set_(storage).device == torch.device("cuda:1")
    assert torch.ones(2, device="cuda:1").set_().device == torch.device("cuda:1")


def test_the_file_names_the_device():
    assert b"cuda:1" in saved(torch.ones(2, device="cuda:1")).getvalue()
    assert b"cuda" not in saved(torch.ones(2)).getvalue()


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize(
    ("location", "device"),
    [
        (None, "cuda:1"),
        ("cpu", "cpu"),
        ("cuda", "cuda:0"),
        ("cuda:0", "cuda:0"),
        (torch.device("cuda", 1), "cuda:1"),
        (torch.device("cpu"), "cpu"),
        ({"cuda:1": "cuda:0"}, "cuda:0"),
        ({"cuda:1": "cpu"}, "cpu"),
        ({"cuda:0": "cpu"}, "cuda:1"),
        (lambda storage, location: storage.cuda(0), "cuda:0"),
        (lambda storage, location: storage, "cpu"),
        (lambda storage, location: None, "cuda:1"),
        ("meta", "meta"),
    ],
)
def test_loading_maps_the_location(location, device, zipped):
    file = saved({"w": torch.ones(2, device="cuda:1")}, _use_new_zipfile_serialization=zipped)
    loaded = torch.load(file, map_location=location)["w"]
    assert str(loaded.device) == device
    if device != "meta":
        assert loaded.cpu().tolist() == [1.0, 1.0]


def test_loading_refuses_a_device_that_is_not_there():
    with pytest.raises(
        RuntimeError,
        match=r"Attempting to deserialize object on CUDA device 5 but "
        r"torch.cuda.device_count\(\) is 2",
    ):
        torch.load(saved(torch.ones(2)), map_location="cuda:5")


def test_loading_outside_the_block_is_torchs_own(two_gpus):
    file = saved(torch.ones(2, device="cuda"))
    two_gpus.__exit__(None, None, None)
    try:
        with pytest.raises(RuntimeError, match=r"torch.cuda.is_available\(\) is False"):
            torch.load(file)
        file.seek(0)
        assert str(torch.load(file, map_location="cpu").device) == "cpu"
    finally:
        two_gpus.__enter__()


def test_loading_maps_memory(tmp_path):
    torch.save(torch.arange(3, device="cuda:1"), tmp_path / "t.pt")
    loaded = torch.load(tmp_path / "t.pt", mmap=True)
    assert str(loaded.device) == "cuda:1"
    assert loaded.tolist() == [0, 1, 2]
    assert str(torch.load(tmp_path / "t.pt", mmap=True, map_location="cpu").device) == "cpu"


def test_a_shared_storage_stays_shared():
    whole = torch.arange(4.0, device="cuda")
    loaded = torch.load(saved([whole, whole[1:3]]))
    loaded[0][1] = 9
    assert loaded[1].tolist() == [9.0, 2.0]
    assert str(loaded[1].device) == "cuda:0"


def test_a_checkpoint_comes_back_where_it_was():
    model = torch.nn.Linear(2, 2).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    loaded = torch.load(saved(states))
    assert str(loaded["model"]["weight"].device) == "cuda:0"
    assert str(loaded["optimizer"]["state"][0]["exp_avg"].device) == "cuda:0"
    assert str(loaded["optimizer"]["state"][0]["step"].device) == "cpu"
    on_host = torch.load(saved(states), map_location="cpu")
    model.load_state_dict(on_host["model"])
    optimizer.load_state_dict(on_host["optimizer"])
    assert str(model.weight.device) == "cuda:0"
    assert str(optimizer.state[model.weight]["exp_avg"].device) == "cuda:0"


def test_a_whole_model_is_saved():
    loaded = torch.load(saved(torch.nn.Linear(2, 2).cuda()), weights_only=False)
    assert str(loaded.weight.device) == "cuda:0"
    assert isinstance(loaded.weight, torch.nn.Parameter)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_and_pickles_keep_the_device(duplicate):
    assert str(duplicate(torch.ones(2, device="cuda:1")).device) == "cuda:1"
    model = torch.nn.BatchNorm1d(2).to("cuda:1")
    model.weight.grad = torch.ones(2, device="cuda:1")
    made = duplicate(model)
    assert {str(tensor.device) for tensor in made.state_dict().values()} == {"cuda:1"}
    assert made.weight.data_ptr() != model.weight.data_ptr()
    assert str(made.weight.grad.device if made.weight.grad is not None else "cuda:1") == "cuda:1"


def test_a_copy_of_a_shallow_kind_shares():
    tensor = torch.ones(2, device="cuda:1")
    assert copy.copy(tensor).data_ptr() == tensor.data_ptr()
    assert str(copy.copy(tensor).device) == "cuda:1"


def test_sparse_tensors_are_saved():
    sparse = torch.eye(2, device="cuda:1").to_sparse()
    assert str(torch.load(saved(sparse)).device) == "cuda:1"
    assert str(torch.load(saved(sparse), map_location="cpu").device) == "cpu"
