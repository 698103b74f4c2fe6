"""Training: autocast and gradient scaling."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from tests.conformance.given import CPU, GPU, cpu, each, gpu, ids, places
from tests.conformance.texts import refused

LOWER = {
    "mm": lambda t: torch.mm(t, t),
    "@": lambda t: t @ t,
    "bmm": lambda t: torch.bmm(t[None], t[None]),
    "addmm": lambda t: torch.addmm(t, t, t),
    "linear": lambda t: functional.linear(t, t),
    "Linear": lambda t: nn.Linear(3, 2).cuda()(t),
    "conv1d": lambda t: functional.conv1d(t[None], t[None]),
    "Conv2d": lambda t: nn.Conv2d(1, 2, 2).cuda()(t[None, None]),
    "einsum": lambda t: torch.einsum("ij,jk->ik", t, t),
}


@each(LOWER)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_computes_in_fewer_bits(row, dtype):
    with torch.autocast("cuda", dtype=dtype):
        result = row(gpu(3, 3))
    assert (result.dtype, result.device) == (dtype, GPU)


SINGLE = {
    "softmax": lambda t: t.softmax(-1),
    "log_softmax": lambda t: functional.log_softmax(t, -1),
    "layer_norm": lambda t: functional.layer_norm(t, (3,)),
    "mse_loss": lambda t: functional.mse_loss(t, t),
    "cross_entropy": lambda t: functional.cross_entropy(t, ids(0, 1, 2)),
    "exp": torch.exp,
    "log": torch.log,
    "sum": torch.sum,
    "pow": lambda t: t**2,
    "cumsum": lambda t: t.cumsum(0),
}


@each(SINGLE)
def test_autocast_computes_in_single_precision(row):
    with torch.autocast("cuda"):
        result = row(gpu(3, 3).half())
    assert result.dtype is torch.float32


KEPT = {
    "+": lambda t: t + t,
    "relu": torch.relu,
    "max": torch.max,
    "cat": lambda t: torch.cat([t, t]),
}


@each(KEPT)
def test_autocast_leaves_the_dtype(row):
    with torch.autocast("cuda"):
        assert row(gpu(3, 3).half()).dtype is torch.float16
        assert row(gpu(3, 3)).dtype is torch.float32


def test_autocast_is_half_precision_where_nothing_is_said():
    assert torch.get_autocast_dtype("cuda") is torch.float16


def test_autocast_tells_of_itself():
    assert not torch.is_autocast_enabled("cuda")
    with torch.autocast("cuda"):
        assert torch.is_autocast_enabled("cuda")
        with torch.autocast("cuda", enabled=False):
            assert not torch.is_autocast_enabled("cuda")
            assert (gpu(2, 2) @ gpu(2, 2)).dtype is torch.float32
    assert not torch.is_autocast_enabled("cuda")


def test_autocast_for_cuda_leaves_the_cpu_alone():
    with torch.autocast("cuda"):
        assert (cpu(2, 2) @ cpu(2, 2)).dtype is torch.float32


def test_autocast_for_the_cpu_leaves_cuda_alone():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (gpu(2, 2) @ gpu(2, 2)).dtype is torch.float32


def test_autocast_takes_the_type_of_a_device():
    with torch.autocast(device_type=gpu(1).device.type, dtype=torch.bfloat16):
        assert (gpu(2, 2) @ gpu(2, 2)).dtype is torch.bfloat16


def test_autocast_decorates():
    @torch.autocast("cuda")
    def product(t):
        return t @ t

    assert product(gpu(2, 2)).dtype is torch.float16


def test_autocast_refuses_a_binary_cross_entropy_of_probabilities():
    with torch.autocast("cuda"):
        refused(
            lambda: functional.binary_cross_entropy(gpu(2) / 2, gpu(2) / 2),
            "binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast",
        )


def test_autocast_keeps_gradients_single():
    layer = nn.Linear(3, 2).cuda()
    with torch.autocast("cuda"):
        loss = layer(gpu(1, 3)).float().sum()
    loss.backward()
    assert (layer.weight.grad.dtype, layer.weight.grad.device) == (torch.float32, GPU)


def test_autocast_does_not_join_devices():
    with torch.autocast("cuda"):
        refused(lambda: nn.Linear(3, 2).cuda()(cpu(1, 3)), "same device")


@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp.*:FutureWarning")
def test_the_old_names_still_work():
    scaler = torch.cuda.amp.GradScaler()
    with torch.cuda.amp.autocast():
        assert (gpu(2, 2) @ gpu(2, 2)).dtype is torch.float16
    assert scaler.is_enabled()


def test_a_scaler_multiplies_the_loss():
    scaler = torch.amp.GradScaler("cuda")
    scaled = scaler.scale(torch.tensor(2.0, device="cuda"))
    assert (scaled.device, scaled.item(), scaler.get_scale()) == (GPU, 131072.0, 65536.0)


def step(scaler, gradient):
    """One step from 1 with a rate of 1 and the given gradient."""
    parameter = nn.Parameter(torch.ones(1, device="cuda"))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scaler.scale((parameter * gradient).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return parameter


def test_a_scaler_steps_with_the_gradient_unscaled():
    scaler = torch.amp.GradScaler("cuda")
    parameter = step(scaler, 0.25)
    assert (parameter.item(), parameter.grad.item()) == (0.75, 0.25)
    assert parameter.device == GPU
    assert scaler.get_scale() == 65536.0


def test_a_scaler_skips_a_step_that_is_infinite_and_halves_the_scale():
    scaler = torch.amp.GradScaler("cuda")
    parameter = step(scaler, float("inf"))
    assert (parameter.item(), scaler.get_scale()) == (1.0, 32768.0)


def test_a_scaler_that_is_off_changes_nothing():
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    assert scaler.scale(torch.tensor(2.0, device="cuda")).item() == 2.0


def test_a_scaler_is_saved_and_loaded():
    scaler = torch.amp.GradScaler("cuda")
    step(scaler, float("inf"))
    fresh = torch.amp.GradScaler("cuda")
    fresh.load_state_dict(scaler.state_dict())
    assert fresh.get_scale() == 32768.0


def test_a_whole_step_in_mixed_precision():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    optimizer, scaler = torch.optim.AdamW(model.parameters()), torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        answer = model(gpu(4, 3))
        loss = functional.cross_entropy(answer, ids(0, 1, 0, 1))
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert (answer.dtype, loss.dtype) == (torch.float16, torch.float32)
    assert places(list(model.parameters())) == {"cuda:0"}


def test_a_model_in_half_precision():
    model = nn.Linear(3, 2).cuda().half()
    assert model(gpu(1, 3).half()).dtype is torch.float16
    refused(lambda: model(gpu(1, 3)), "must have the same dtype")


def test_a_halved_tensor_keeps_its_side():
    assert (gpu(2).half().device, cpu(2).half().device) == (GPU, CPU)
