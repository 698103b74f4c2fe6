"""What programs do on CUDA that a build for the CPU has nothing for: dtypes, the profiler."""

import sys
import types
import warnings

import pytest
import torch
from torch import nn
from torch.autograd import profiler
from torch.profiler import ProfilerActivity, profile, supported_activities

from runtime_guard import VirtualGpuWarning, virtual_gpu
from runtime_guard.virtual.notices import forget

MIXED = "found at least two devices, cuda:0 and cpu!"


@pytest.fixture(autouse=True)
def gpu():
    forget()
    with virtual_gpu() as one:
        yield one


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_integers_are_counted_as_on_cuda(dtype):
    chosen = torch.tensor([0, 2, 2, 3], dtype=dtype, device="cuda")
    counts = torch.histc(chosen, bins=4, min=0, max=3)
    assert (counts.dtype, str(counts.device), counts.tolist()) == (dtype, "cuda:0", [1, 0, 2, 1])
    assert chosen.histc(2, 0, 3).tolist() == [1, 3]
    with pytest.raises(RuntimeError, match=MIXED):
        counts + torch.ones(4)


def test_integers_of_the_cpu_are_not_counted():
    with pytest.raises(NotImplementedError, match="not implemented for 'Int'"):
        torch.histc(torch.tensor([0, 2], dtype=torch.int32), bins=4)


def image(device, dtype=torch.float16):
    return torch.arange(16.0, device=device).to(dtype).view(1, 1, 1, 4, 4)


def test_halves_are_pooled_on_a_device_and_gradients_are_theirs():
    data = image("cuda").requires_grad_()
    pooled = nn.functional.avg_pool3d(data, (1, 2, 2))
    pooled.sum().backward()
    assert (pooled.dtype, pooled.flatten().tolist()) == (torch.float16, [2.5, 4.5, 10.5, 12.5])
    assert (data.grad.dtype, str(data.grad.device)) == (torch.float16, "cuda:0")
    assert data.grad.unique().tolist() == [0.25]
    with pytest.raises(NotImplementedError, match="not implemented for 'Half'"):
        nn.functional.avg_pool3d(image("cpu"), (1, 2, 2))


def test_losses_of_halves_compare_their_targets():
    scores = torch.tensor([[0.0, 2.0], [1.0, 0.0]], dtype=torch.bfloat16, device="cuda")
    loss = nn.functional.multi_margin_loss(scores, torch.tensor([0, 0], device="cuda"))
    assert (loss.dtype, str(loss.device), loss.item()) == (torch.bfloat16, "cuda:0", 0.75)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        nn.functional.multi_margin_loss(scores, torch.tensor([0, 0]))


def test_profiles_have_what_the_cpu_did(tmp_path, quiet):
    data = torch.ones(2, 2, device="cuda")
    assert ProfilerActivity.CUDA in supported_activities()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        data @ data
    rows = seen.key_averages()
    assert "aten::mm" in [row.key for row in rows]
    assert {row.device_time_total for row in rows} == {0}
    assert "aten::mm" in rows.table(sort_by="cuda_time_total")
    seen.export_chrome_trace(str(tmp_path / "trace.json"))
    assert (tmp_path / "trace.json").stat().st_size


def test_profiles_of_old_time_no_events(quiet, capfd):
    with profiler.profile(use_device="cuda") as seen:
        torch.ones(2, device="cuda") + 1
    assert "aten::add" in [row.key for row in seen.key_averages()]
    assert "Failed to record CUDA event" not in capfd.readouterr().err


def test_a_profile_says_once_that_no_kernel_is_timed():
    with pytest.warns(VirtualGpuWarning, match="kernels of the device are not there to time"):
        profiler.profile(use_device="cuda", use_kineto=True)


def test_no_other_accelerator_is_profiled(gpu):
    own = supported_activities()
    with virtual_gpu(name="mps"):
        assert supported_activities() == own - {ProfilerActivity.CUDA}
    with virtual_gpu(name="xpu"):
        assert ProfilerActivity.XPU in supported_activities()


def test_ranges_around_operators_are_seen_by_nobody():
    with (
        pytest.warns(VirtualGpuWarning, match="no ranges are emitted"),
        profiler.emit_nvtx() as ranges,
    ):
        made = torch.ones(2, device="cuda") + 1
    assert (made.tolist(), ranges.entered) == ([2.0, 2.0], True)
    with pytest.raises(RuntimeError, match="not reentrant"), ranges:
        pass
    with profiler.emit_nvtx(enabled=False) as nothing:
        assert nothing is None


def drawn(model, data):
    """The graph of a model, made as TensorBoard makes it: by tracing, in a module of that name."""
    drawing = types.ModuleType("torch.utils.tensorboard._pytorch_graph")
    vars(drawing)["torch"] = torch
    exec("def graph(model, args): return torch.jit.trace(model, args).graph", vars(drawing))
    return vars(drawing)["graph"](model, data)


def test_a_model_is_drawn_and_run_before(quiet):
    model = nn.Linear(2, 1).to("cuda")
    assert "aten::linear" in str(drawn(model, torch.ones(1, 2, device="cuda")))
    assert str(model.weight.device) == "cuda:0"
    with pytest.raises(RuntimeError, match="got mat1 is on cpu"):
        drawn(model, torch.ones(1, 2))
    assert "torch.utils.tensorboard" not in sys.modules
