"""Input and output: NumPy, and what else reads memory."""

import numpy as np
import pytest
import torch
from torch.utils import dlpack

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids, places
from tests.conformance.texts import NUMPY, refused

# NumPy takes the "copy" of torch's error for the name of an argument.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

READ = {
    "numpy()": lambda t: t.numpy(),
    "numpy of a row": lambda t: t[0].numpy(),
    "np.array": np.array,
    "np.asarray": np.asarray,
    "np.asarray of another dtype": lambda t: np.asarray(t, dtype=np.float64),
    "__array__": lambda t: t.__array__(),
    "np.mean": lambda t: np.mean(np.asarray(t)),
    "np.stack of a list": lambda t: np.stack([t, t]),
    "np.concatenate": lambda t: np.concatenate([t, t]),
    "numpy after detach": lambda t: t.detach().numpy(),
}


@each(READ)
def test_cuda_memory_is_not_numpys(row):
    refused(lambda: row(gpu(2, 2)), NUMPY, TypeError)


def test_whole_numbers_are_refused_as_well():
    refused(lambda: ids(1, 2).numpy(), NUMPY, TypeError)


def test_numpy_may_be_forced():
    values = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    assert values.numpy(force=True).tolist() == [1.0, 2.0]


def test_what_needs_a_gradient_is_refused_for_that_first():
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        cpu(2, grad=True).numpy()


def test_the_usual_way_to_an_array():
    values = torch.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    assert (values * 2).detach().cpu().numpy().tolist() == [2.0, 4.0]


def test_an_array_comes_to_the_cpu_and_shares_memory():
    array = np.zeros(2)
    tensor = torch.from_numpy(array)
    tensor[0] = 1
    assert (tensor.device, array.tolist()) == (CPU, [1.0, 0.0])


def test_an_array_that_was_moved_does_not():
    array = np.zeros(2)
    torch.from_numpy(array).cuda()[0] = 1
    assert array.tolist() == [0.0, 0.0]


def test_as_tensor_copies_an_array_to_cuda():
    array = np.zeros(2)
    tensor = torch.as_tensor(array, device="cuda")
    tensor += 1
    assert (tensor.device, tensor.dtype, array.tolist()) == (GPU, torch.float64, [0.0, 0.0])


def test_an_array_is_an_index():
    assert gpu(3)[np.array([0, 2])].device == GPU


def test_an_array_plus_a_cpu_tensor():
    assert places(torch.ones(2) + torch.from_numpy(np.ones(2))) == {"cpu"}


def test_a_number_of_numpy_joins_cuda():
    assert (gpu(2) * np.float32(2)).device == GPU
    assert (gpu(2) + np.int64(1)).device == GPU


def test_a_number_on_cuda_becomes_an_array_only_by_the_cpu():
    refused(lambda: np.array(torch.tensor(1.0, device="cuda")), NUMPY, TypeError)
    assert np.array(torch.tensor(1.0, device="cuda").item()) == 1.0


def test_a_list_of_numbers_on_cuda_is_read_one_by_one():
    losses = [torch.tensor(1.0, device="cuda"), torch.tensor(3.0, device="cuda")]
    assert sum(losses).item() == 4.0
    assert np.mean([loss.item() for loss in losses]) == 2.0


def test_dlpack_names_the_device():
    kind, index = gpu(2).__dlpack_device__()
    assert (int(kind), index) == (2, 0)


def test_dlpack_keeps_the_device():
    assert dlpack.from_dlpack(gpu(2)).device == GPU


def test_the_interface_for_cuda_arrays_is_cudas_alone():
    assert gpu(2).__cuda_array_interface__["shape"] == (2,)
    refused(
        lambda: cpu(2).__cuda_array_interface__,
        "Can't get __cuda_array_interface__ on non-CUDA tensor type: torch.FloatTensor",
        AttributeError,
    )


@each({"apply_": lambda t: t.apply_(abs), "map_": lambda t: t.map_(t, max)})
def test_what_calls_python_for_each_element_is_for_the_cpu(row):
    with pytest.raises(TypeError, match="only implemented on CPU tensors"):
        row(gpu(2))
