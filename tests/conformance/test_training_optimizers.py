"""Training: optimizers, their state, schedulers and clipping."""

import copy

import pytest
import torch
from torch import nn, optim

from tests.conformance.given import CPU, GPU, cpu, each, gpu, places


def stepped(make, steps=2):
    """A model on CUDA after a few steps, and its optimizer."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).cuda()
    optimizer = make(model.parameters())
    inputs, targets = gpu(8, 3), gpu(8, 1)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return model, optimizer


def kept(optimizer):
    """The tensors of its state, but for counts and products of no dimension."""
    return [
        value
        for state in optimizer.state.values()
        for value in state.values()
        if isinstance(value, torch.Tensor) and value.dim()
    ]


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "SGD with weight decay": lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1),
    "SGD, foreach": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "SGD, one by one": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, foreach=False),
    "SGD, fused": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, fused=True),
    "Adam": lambda p: optim.Adam(p, lr=0.1),
    "Adam, foreach": lambda p: optim.Adam(p, foreach=True),
    "Adam, one by one": lambda p: optim.Adam(p, foreach=False),
    "Adam, fused": lambda p: optim.Adam(p, fused=True),
    "Adam, capturable": lambda p: optim.Adam(p, capturable=True),
    "Adam, amsgrad": lambda p: optim.Adam(p, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
    "AdamW, fused": lambda p: optim.AdamW(p, fused=True),
    "AdamW, capturable": lambda p: optim.AdamW(p, capturable=True),
    "NAdam": optim.NAdam,
    "RAdam": optim.RAdam,
    "Adamax": optim.Adamax,
    "Adadelta": optim.Adadelta,
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
    "Rprop": optim.Rprop,
    "ASGD": optim.ASGD,
    "LBFGS": lambda p: optim.LBFGS(p, max_iter=3),
    "Adam, maximising, with a tensor as its rate": (
        lambda p: optim.Adam(p, lr=torch.tensor(0.1), foreach=False, maximize=True)
    ),
}


@each(OPTIMIZERS)
def test_parameters_and_state_stay_on_cuda(row):
    model, optimizer = stepped(row)
    assert places([list(model.parameters()), kept(optimizer)]) == {"cuda:0"}


@each(OPTIMIZERS)
def test_parameters_change(row):
    torch.manual_seed(0)
    before, _ = stepped(row, steps=0)
    torch.manual_seed(0)
    after, _ = stepped(row)
    assert before[0].weight.tolist() != after[0].weight.tolist()


STEPS = {
    "Adam": (optim.Adam, CPU),
    "Adam, capturable": (lambda p: optim.Adam(p, capturable=True), GPU),
    "Adam, fused": (lambda p: optim.Adam(p, fused=True), GPU),
    "AdamW, foreach": (lambda p: optim.AdamW(p, foreach=True), CPU),
}


@each(STEPS)
def test_the_count_of_steps_is_on(row):
    make, where = row
    _, optimizer = stepped(make)
    assert {state["step"].device for state in optimizer.state.values()} == {where}


def test_an_optimizer_made_before_the_move_still_works():
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    model.cuda()
    before = model.weight.tolist()
    model(gpu(1, 2)).sum().backward()
    optimizer.step()
    assert model.weight.tolist() != before


@pytest.mark.parametrize("foreach", [True, False])
def test_state_made_before_the_move_does_not_follow(foreach):
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=foreach)
    model(cpu(1, 2)).sum().backward()
    optimizer.step()
    model.cuda()
    assert places(kept(optimizer)) == {"cpu"}
    with pytest.raises(RuntimeError, match="same device"):
        optimizer.step()


def test_loaded_state_goes_to_the_parameters():
    _, optimizer = stepped(optim.Adam)
    state = copy.deepcopy(optimizer.state_dict())
    for values in state["state"].values():
        values["exp_avg"] = values["exp_avg"].cpu()
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).cuda()
    fresh = optim.Adam(model.parameters())
    fresh.load_state_dict(state)
    assert places(kept(fresh)) == {"cuda:0"}
    assert {values["step"].device for values in fresh.state.values()} == {CPU}


def test_state_loaded_for_a_cpu_model_goes_to_the_cpu():
    _, optimizer = stepped(lambda p: optim.SGD(p, lr=0.1, momentum=0.9))
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    fresh = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    fresh.load_state_dict(optimizer.state_dict())
    assert places(kept(fresh)) == {"cpu"}


def test_adagrad_has_its_state_at_once():
    model = nn.Linear(2, 1).cuda()
    optimizer = optim.Adagrad(model.parameters())
    assert places(kept(optimizer)) == {"cuda:0"}


def test_zero_grad():
    model, optimizer = stepped(lambda p: optim.SGD(p, lr=0.1))
    optimizer.zero_grad(set_to_none=False)
    assert places([p.grad for p in model.parameters()]) == {"cuda:0"}
    assert model[0].weight.grad.abs().sum().item() == 0.0
    optimizer.zero_grad()
    assert model[0].weight.grad is None


def test_parameters_on_both_sides_are_stepped_one_by_one():
    parameters = [nn.Parameter(gpu(2)), nn.Parameter(cpu(2))]
    (parameters[0].sum() + parameters[1].cuda().sum()).backward()
    optim.SGD(parameters, lr=0.1, momentum=0.9).step()
    assert [p.device for p in parameters] == [GPU, CPU]


def test_clipping_by_norm_answers_beside_the_gradients():
    model, _ = stepped(lambda p: optim.SGD(p, lr=0.1))
    total = nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    assert (total.device, total.dim()) == (GPU, 0)
    assert places([p.grad for p in model.parameters()]) == {"cuda:0"}
    norms = torch.stack([p.grad.norm() for p in model.parameters()])
    assert norms.norm().item() == pytest.approx(1e-3, rel=1e-2)


def test_clipping_by_value():
    leaf = gpu(2, grad=True)
    (leaf * 5).sum().backward()
    nn.utils.clip_grad_value_([leaf], 1.0)
    assert (leaf.grad.device, leaf.grad.tolist()) == (GPU, [1.0, 1.0])


def test_the_total_norm_of_no_gradients():
    assert nn.utils.clip_grad_norm_(nn.Linear(1, 1).cuda().parameters(), 1.0).item() == 0.0


SCHEDULERS = {
    "StepLR": lambda o: optim.lr_scheduler.StepLR(o, 1),
    "CosineAnnealingLR": lambda o: optim.lr_scheduler.CosineAnnealingLR(o, 5),
    "OneCycleLR": lambda o: optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=5),
    "LambdaLR": lambda o: optim.lr_scheduler.LambdaLR(o, lambda epoch: 0.5**epoch),
}


@each(SCHEDULERS)
def test_a_scheduler_changes_the_rate(row):
    _, optimizer = stepped(lambda p: optim.SGD(p, lr=0.1, momentum=0.9), steps=1)
    scheduler = row(optimizer)
    before = scheduler.get_last_lr()
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() != before


def test_a_scheduler_of_plateaus_takes_a_cuda_loss():
    _, optimizer = stepped(lambda p: optim.SGD(p, lr=0.1))
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for loss in (1.0, 2.0):
        scheduler.step(torch.tensor(loss, device="cuda"))
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.01)


def test_averaged_weights_are_beside_the_model():
    model, _ = stepped(lambda p: optim.SGD(p, lr=0.1))
    averaged = optim.swa_utils.AveragedModel(model)
    averaged.update_parameters(model)
    assert places(list(averaged.parameters())) == {"cuda:0"}
    assert averaged(gpu(2, 3)).device == GPU


def test_an_average_by_hand():
    average, weight = gpu(2), gpu(2)
    average.mul_(0.9).add_(weight, alpha=0.1)
    average.lerp_(weight, 0.1)
    assert average.device == GPU
