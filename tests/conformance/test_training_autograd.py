"""Training: gradients are where the tensors are that they belong to."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.conformance.given import CPU, GPU, cpu, each, gpu, places
from tests.conformance.texts import elementwise, refused


def test_a_gradient_is_beside_its_leaf():
    leaf = gpu(3, grad=True)
    (leaf * 2).sum().backward()
    assert (leaf.grad.device, leaf.grad.tolist()) == (GPU, [2.0, 2.0, 2.0])


def test_a_cpu_leaf_has_its_gradient_on_the_cpu():
    leaf = cpu(3, grad=True)
    (leaf.cuda() * 2).sum().backward()
    assert (leaf.grad.device, leaf.grad.tolist()) == (CPU, [2.0, 2.0, 2.0])


def test_a_cuda_leaf_of_a_cpu_loss_has_its_gradient_on_cuda():
    leaf = gpu(3, grad=True)
    (leaf.cpu() * 2).sum().backward()
    assert leaf.grad.device == GPU


def test_a_leaf_of_no_dimension_may_be_on_the_cpu():
    scale = torch.tensor(2.0, requires_grad=True)
    (gpu(3) * scale).sum().backward()
    assert (scale.grad.device, scale.grad.shape) == (CPU, ())


def test_gradients_add_up():
    leaf = gpu(2, grad=True)
    for _ in range(2):
        (leaf * 3).sum().backward()
    assert (leaf.grad.device, leaf.grad.tolist()) == (GPU, [6.0, 6.0])


def test_every_parameter_of_a_model_has_a_gradient_beside_it():
    model = nn.Sequential(nn.Conv1d(1, 2, 2), nn.BatchNorm1d(2), nn.Flatten(), nn.Linear(4, 1))
    model.cuda()(gpu(2, 1, 3)).sum().backward()
    assert places([parameter.grad for parameter in model.parameters()]) == {"cuda:0"}


def test_a_result_that_is_no_leaf_may_retain_its_gradient():
    result = gpu(2, grad=True) * 2
    result.retain_grad()
    result.sum().backward()
    assert result.grad.device == GPU


def test_autograd_grad():
    leaf = gpu(2, grad=True)
    (gradient,) = torch.autograd.grad((leaf**2).sum(), leaf)
    assert gradient.device == GPU
    assert leaf.grad is None


def test_a_second_backward_pass_needs_the_graph():
    leaf = gpu(2, grad=True)
    loss = (leaf**2).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        loss.backward()


def test_a_gradient_of_a_gradient():
    leaf = torch.tensor([2.0], device="cuda", requires_grad=True)
    (first,) = torch.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
    first.sum().backward()
    assert (first.item(), leaf.grad.item()) == (12.0, 12.0)
    assert places([first, leaf.grad]) == {"cuda:0"}


def test_a_gradient_penalty():
    critic = nn.Linear(2, 1).cuda()
    real = gpu(3, 2, grad=True)
    score = critic(real)
    (slope,) = torch.autograd.grad(score, real, torch.ones_like(score), create_graph=True)
    ((slope.norm(2, dim=1) - 1) ** 2).mean().backward()
    assert critic.weight.grad.device == GPU


def test_backward_of_many_values_takes_a_gradient():
    leaf = gpu(2, grad=True)
    (leaf * 1).backward(torch.ones(2, device="cuda"))
    assert leaf.grad.tolist() == [1.0, 1.0]


def test_such_a_gradient_must_be_where_the_values_are():
    leaf = gpu(2, grad=True)
    refused(lambda: (leaf * 1).backward(torch.ones(2)), "expected device cuda:0 but got cpu")


def test_such_a_gradient_of_no_dimension_is_moved():
    leaf = gpu(2, grad=True)
    leaf.sum().backward(torch.tensor(2.0))
    assert leaf.grad.tolist() == [2.0, 2.0]


def test_losses_of_two_devices_have_no_sum():
    refused(lambda: (gpu(1) * 2) + (cpu(1) * 2), elementwise())


def test_a_cpu_number_and_a_cuda_loss_have_a_sum():
    total = torch.tensor(0.0) + (gpu(2, grad=True) * 2).sum()
    total.backward()
    assert total.device == GPU


def test_an_assigned_gradient_must_be_beside_its_tensor():
    leaf = gpu(2, grad=True)

    def assign():
        leaf.grad = cpu(2)

    refused(
        assign,
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type "
        "'cuda'. Please ensure that the gradient and the tensor are on the same device",
    )


def test_a_gradient_may_be_assigned():
    leaf = gpu(2, grad=True)
    leaf.grad = torch.ones(2, device="cuda")
    leaf.grad.add_(1)
    assert (leaf.grad.device, leaf.grad.tolist()) == (GPU, [2.0, 2.0])
    leaf.grad = None
    assert leaf.grad is None


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpointed_block(reentrant):
    block, given = (
        nn.Sequential(nn.Linear(2, 2), nn.Dropout(), nn.Tanh()).cuda(),
        gpu(3, 2, grad=True),
    )
    result = checkpoint(block, given, use_reentrant=reentrant)
    result.sum().backward()
    assert places([result, given.grad, block[0].weight.grad]) == {"cuda:0"}


def test_checkpointed_dropout_is_the_same_again():
    given = torch.ones(100, device="cuda", requires_grad=True)
    result = checkpoint(nn.Dropout(), given, use_reentrant=False)
    result.sum().backward()
    assert given.grad.tolist() == result.tolist()


MODES = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "enable_grad": torch.enable_grad,
}


@each(MODES)
def test_a_mode_of_autograd_changes_no_device(row):
    with row():
        result = nn.Linear(2, 2).cuda()(gpu(1, 2))
        assert (result.device, (result * 2).cpu().device) == (GPU, CPU)


def test_detached_tensors_stay():
    leaf = gpu(2, grad=True)
    assert (leaf * 2).detach().device == GPU
    assert not (leaf * 2).detach().requires_grad


def test_a_cpu_factor_is_refused_on_the_way_back_too():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.detach().cpu())
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            (saved,) = ctx.saved_tensors
            return gradient * saved

    refused(lambda: Scale.apply(gpu(2, grad=True)).sum().backward(), elementwise())


def test_anomaly_detection_changes_nothing():
    leaf = gpu(2, grad=True)
    with torch.autograd.set_detect_anomaly(True):
        leaf.sum().backward()
    assert leaf.grad.device == GPU


def test_numeric_gradients_agree():
    leaf = torch.rand(3, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(torch.tanh, (leaf,))


def test_the_gradient_of_an_indexed_write():
    leaf = gpu(2, grad=True)
    target = torch.zeros(3, device="cuda")
    target[1:] = leaf
    target.sum().backward()
    assert (leaf.grad.device, leaf.grad.tolist()) == (GPU, [1.0, 1.0])


def test_the_gradient_crosses_an_indexed_write():
    leaf = cpu(2, grad=True)
    target = torch.zeros(3, device="cuda")
    target[1:] = leaf
    target.sum().backward()
    assert (leaf.grad.device, leaf.grad.tolist()) == (CPU, [1.0, 1.0])


def test_the_gradient_crosses_copy():
    leaf = cpu(2, grad=True)
    torch.zeros(2, device="cuda").copy_(leaf).sum().backward()
    assert leaf.grad.device == CPU
