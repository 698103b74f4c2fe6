"""Every name of the namespaces is accounted for, and everything is given back after the block."""

import importlib
import subprocess
import sys
import types
import typing
import warnings

import pytest
import torch

from runtime_guard import VirtualGpuWarning, virtual_gpu
from runtime_guard.virtual.namespaces.unmodelled import UNMODELLED

MODELLED = """
    cuda AcceleratorError BFloat16Storage BFloat16Tensor BoolStorage BoolTensor ByteStorage
    ByteTensor CharStorage CharTensor ComplexDoubleStorage ComplexFloatStorage DoubleStorage
    DoubleTensor Event ExternalStream FloatStorage FloatTensor HalfStorage HalfTensor IntStorage
    IntTensor LongStorage LongTensor OutOfMemoryError ShortStorage ShortTensor Stream StreamContext
    amp comm caching_allocator_alloc caching_allocator_delete can_device_access_peer current_device
    current_stream default_generators default_stream device device_count device_memory_used
    device_of empty_cache get_allocator_backend get_arch_list get_device_capability get_device_name
    get_device_properties get_gencode_flags get_per_process_memory_fraction get_rng_state_all
    get_stream_from_external init initial_seed is_available is_bf16_supported
    is_current_stream_capturing is_initialized is_tf32_supported list_gpu_processes manual_seed
    manual_seed_all max_memory_allocated max_memory_cached max_memory_reserved mem_get_info
    memory_cached memory_reserved memory_stats memory_stats_as_nested_dict memory_summary nvtx
    profiler random reset_accumulated_memory_stats reset_max_memory_allocated
    reset_max_memory_cached reset_peak_memory_stats seed seed_all set_device
    set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream stream streams
    get_sync_debug_mode memory set_sync_debug_mode
    accelerator current_accelerator current_device_idx current_device_index current_stream
    device_count device_index empty_cache get_device_capability get_memory_info is_available
    max_memory_allocated max_memory_reserved memory_allocated memory_reserved memory_stats
    reset_accumulated_memory_stats reset_peak_memory_stats set_device_idx set_device_index
    set_stream synchronize memory
    xpu Event Stream StreamContext can_device_access_peer current_device current_stream
    default_generators device device_count device_memory_used device_of empty_cache get_arch_list
    get_device_capability get_device_name get_device_properties get_gencode_flags
    get_per_process_memory_fraction get_rng_state get_rng_state_all get_stream_from_external init
    initial_seed is_available is_bf16_supported is_current_stream_capturing is_initialized
    is_tf32_supported manual_seed manual_seed_all max_memory_allocated max_memory_reserved
    mem_get_info memory_allocated memory_reserved memory_stats memory_stats_as_nested_dict random
    reset_accumulated_memory_stats reset_peak_memory_stats seed seed_all set_device
    set_per_process_memory_fraction set_rng_state set_rng_state_all set_stream stream streams
    memory
    mps Event current_allocated_memory device_count driver_allocated_memory empty_cache event
    get_rng_state is_available manual_seed recommended_max_memory seed
    set_per_process_memory_fraction set_rng_state synchronize
"""
"""By module: what answers as on a machine with a device, but for what a note says."""

HARMLESS = """
    cuda CudaError DEVICE_REQUIREMENT DeferredCudaCallError PYTORCH_RELEASES_CODE_CC
    caching_allocator_disabled caching_allocator_enable check_error cudaStatus current_blas_handle
    current_solver_handle graph_pool_handle graphs green_contexts has_half has_magma
    host_memory_stats host_memory_stats_as_nested_dict ipc_collect
    reset_accumulated_host_memory_stats reset_peak_host_memory_stats sparse synchronize Device
    accelerator empty_host_cache graphs
    xpu graph_pool_handle graphs synchronize
    mps Tensor
"""
"""By module: what does nothing, or is told what nobody can check."""


def by_module(text):
    found: dict[str, set[str]] = {}
    for word in text.split():
        if word in ("cuda", "accelerator", "xpu", "mps"):
            current = found.setdefault(word, set())
        else:
            current.add(word)
    return found


def imported(module, name):
    """Whether a name is there because the module's file imports it from elsewhere."""
    value = getattr(module, name)
    if isinstance(value, types.ModuleType):
        return not value.__name__.startswith(module.__name__)
    home = getattr(value, "__module__", None) or ""
    return not home.startswith("torch") and (callable(value) or hasattr(typing, name))


@pytest.mark.parametrize("name", ["cuda", "accelerator", "xpu", "mps"])
def test_every_public_name_is_accounted_for(name):
    module = importlib.import_module(f"torch.{name}")
    prefix = f"torch.{name}."
    noted = {word.removeprefix(prefix).split(".")[0] for word in UNMODELLED if prefix in word}
    known = by_module(MODELLED)[name] | by_module(HARMLESS)[name] | noted
    public = {word for word in dir(module) if not word.startswith("_")}
    plain = {"Any", "annotations", "TYPE_CHECKING", "NewType", "Optional", "classproperty"}
    unknown = {word for word in public - known - plain if not imported(module, word)}
    assert unknown == set()


def state(holder):
    return {
        name: id(value) for name, value in vars(holder).items() if name != "__warningregistry__"
    }


TOUCHED = """
    torch torch._C torch.cuda torch.cuda.memory torch.cuda.random torch.cuda.graphs
    torch.cuda.streams torch.cuda.nvtx torch.xpu torch.xpu.memory torch.xpu.random torch.xpu.graphs
    torch.mps torch.accelerator torch.random torch.version torch.backends.cuda torch.backends.mps
""".split()

CLASSES = (
    "_CudaStreamBase _CudaEventBase _XpuStreamBase _XpuEventBase _CUDAGraph _XPUGraph _MemPool"
).split()


def test_everything_is_given_back():
    with virtual_gpu():
        pass
    holders = [importlib.import_module(name) for name in TOUCHED]
    holders += [getattr(torch._C, name) for name in CLASSES]
    holders += [torch.amp.autocast_mode.autocast, torch.cuda.graph, torch.backends.cudnn]
    before = [state(holder) for holder in holders]
    with virtual_gpu(2), warnings.catch_warnings():
        warnings.simplefilter("ignore", VirtualGpuWarning)
        torch.cuda.set_device(1)
        with torch.cuda.graph(torch.cuda.CUDAGraph()), torch.autocast("cuda"):
            torch.nn.Linear(2, 2).cuda()(torch.ones(1, 2, device="cuda"))
        torch.cuda.Event().record()
        torch.cuda.manual_seed(3)
        torch.mps.manual_seed(3)
    assert [state(holder) for holder in holders] == before


BEFORE = """
from torch.cuda import Event, Stream, current_device, device_count, is_available, set_device
import torch
from runtime_guard import virtual_gpu

with virtual_gpu(2):
    assert is_available()
    set_device(1)
    assert (current_device(), device_count()) == (1, 2)
    assert Stream().device == torch.device("cuda:1")
    Event().record()
    import torch._dynamo
    weight = torch.ones(2, device="cuda", requires_grad=True)
    weight.sum().backward()
    torch.optim.Adam([weight]).step()
print("done")
"""


def test_names_imported_before_the_block_work_in_it():
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:__main__", "-c", BEFORE],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
