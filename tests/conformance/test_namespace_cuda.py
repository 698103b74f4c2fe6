"""Namespaces: what torch.cuda says of the machine."""

import pytest
import torch
from torch import nn

from tests.conformance.given import GPU, each, gpu
from tests.conformance.texts import refused

ANSWERS = {
    "is_available": lambda: torch.cuda.is_available() is True,
    "device_count": lambda: torch.cuda.device_count() >= 1,
    "current_device": lambda: torch.cuda.current_device() == 0,
    "is_initialized after a tensor": lambda: bool(gpu(1).sum() and torch.cuda.is_initialized()),
    "get_device_name": lambda: isinstance(torch.cuda.get_device_name(), str),
    "get_device_name of a number": (
        lambda: torch.cuda.get_device_name(0) == torch.cuda.get_device_name(GPU)
    ),
    "get_device_name of a name": (
        lambda: torch.cuda.get_device_name("cuda:0") == torch.cuda.get_device_name("cuda")
    ),
    "get_device_capability": lambda: torch.cuda.get_device_capability(0) >= (3, 5),
    "properties and capability": (
        lambda: (
            torch.cuda.get_device_capability()
            == (
                torch.cuda.get_device_properties(0).major,
                torch.cuda.get_device_properties(0).minor,
            )
        )
    ),
    "properties and name": (
        lambda: torch.cuda.get_device_properties("cuda").name == torch.cuda.get_device_name()
    ),
    "properties: memory": lambda: torch.cuda.get_device_properties(GPU).total_memory > 2**20,
    "properties: multi_processor_count": (
        lambda: torch.cuda.get_device_properties(GPU).multi_processor_count > 0
    ),
    "properties: they print": (
        lambda: "CudaDeviceProperties(name=" in repr(torch.cuda.get_device_properties(0))
    ),
    "is_bf16_supported": lambda: isinstance(torch.cuda.is_bf16_supported(), bool),
    "get_arch_list": lambda: isinstance(torch.cuda.get_arch_list(), list),
    "synchronize": lambda: torch.cuda.synchronize() is None,
    "synchronize a device": lambda: torch.cuda.synchronize(GPU) is None,
    "init": lambda: torch.cuda.init() is None,
    "empty_cache": lambda: torch.cuda.empty_cache() is None,
    "ipc_collect": lambda: torch.cuda.ipc_collect() is None,
    "a context of a device": lambda: isinstance(torch.cuda.device(0), torch.cuda.device),
    "the number of the version of CUDA": lambda: isinstance(torch.version.cuda, str),
    "the backend is built": lambda: torch.backends.cuda.is_built() is True,
    "cudnn is there": lambda: torch.backends.cudnn.is_available() is True,
    "cudnn has a version": lambda: torch.backends.cudnn.version() > 0,
    "nccl may be asked for": lambda: isinstance(torch.distributed.is_nccl_available(), bool),
    "get_sync_debug_mode": lambda: torch.cuda.get_sync_debug_mode() == 0,
    "is_current_stream_capturing": lambda: torch.cuda.is_current_stream_capturing() is False,
}


@each(ANSWERS)
def test_it_answers(row):
    assert row()


SWITCHES = {
    "cudnn.benchmark": (torch.backends.cudnn, "benchmark"),
    "cudnn.deterministic": (torch.backends.cudnn, "deterministic"),
    "cudnn.enabled": (torch.backends.cudnn, "enabled"),
    "cuda.matmul.allow_tf32": (torch.backends.cuda.matmul, "allow_tf32"),
}


@each(SWITCHES)
def test_a_switch_is_set_and_read(row, monkeypatch):
    # torch's own test helpers, which other tests import, forbid it to the whole process.
    switches = torch.backends.flags_frozen.__globals__
    monkeypatch.setitem(switches, "__allow_nonbracketed_mutation_flag", True)
    holder, name = row
    before = getattr(holder, name)
    try:
        setattr(holder, name, not before)
        assert getattr(holder, name) is (not before)
    finally:
        setattr(holder, name, before)


@pytest.mark.parametrize("device", [99, "cuda:99"])
def test_the_properties_of_a_missing_device(device):
    refused(
        lambda: torch.cuda.get_device_properties(device),
        "Invalid device id|invalid device ordinal",
        (AssertionError, RuntimeError),
    )


def test_the_name_of_the_cpu_is_not_asked_of_cuda():
    refused(
        lambda: torch.cuda.get_device_name("cpu"),
        "Expected a cuda device, but got: cpu",
        ValueError,
    )


def test_what_is_made_current_must_be_there():
    refused(lambda: torch.cuda.set_device(99), "CUDA error: invalid device ordinal")


def test_deterministic_algorithms_may_be_asked_for():
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert nn.functional.relu(gpu(2)).device == GPU
    finally:
        torch.use_deterministic_algorithms(False)


def test_the_precision_of_products_may_be_set():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    torch.set_float32_matmul_precision(before)
    assert torch.get_float32_matmul_precision() == before


def test_a_kernel_for_attention_may_be_chosen():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.MATH):
        query = gpu(1, 2, 4, 8)
        answer = nn.functional.scaled_dot_product_attention(query, query, query)
    assert answer.device == GPU


NOT_TRACKED = -2
"""What NVTX answers where no profiler counts its ranges."""


def test_ranges_are_marked_where_no_profiler_listens():
    with torch.cuda.nvtx.range("step"):
        assert torch.cuda.nvtx.range_push("inner") == NOT_TRACKED
        assert torch.cuda.nvtx.range_pop() == NOT_TRACKED


def test_other_accelerators_are_not_there():
    assert torch.backends.mps.is_available() is False
    assert torch.xpu.is_available() is False


def test_a_module_of_the_device_is_found_by_its_type():
    assert torch.get_device_module("cuda") is torch.cuda
    assert torch.get_device_module() is torch.cuda


@pytest.mark.filterwarnings("ignore")
def test_the_default_type_of_tensors_may_be_cudas():
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    try:
        assert torch.zeros(1).device == GPU
        assert torch.zeros(1, device="cpu").device.type == "cpu"
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.zeros(1).device.type == "cpu"


@pytest.mark.filterwarnings("ignore:virtual GPU")
def test_a_function_may_be_compiled():
    double = torch.compile(lambda t: t * 2, backend="eager")
    assert double(gpu(2)).device == GPU
