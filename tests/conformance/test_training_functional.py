"""Training: torch.func and calls with parameters given."""

import pytest
import torch
from torch import func, nn

from tests.conformance.given import GPU, each, gpu, places

# torch compiles some derivatives when forward ones are first asked for, and warns of itself.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning")


def square(t):
    return (t**2).sum()


slope = func.grad(square)


TRANSFORMS = {
    "grad": slope,
    "grad of grad": func.grad(lambda t: slope(t).sum()),
    "grad_and_value": func.grad_and_value(square),
    "vmap": func.vmap(torch.sin),
    "vmap over two": lambda t: func.vmap(torch.dot)(t, t),
    "vmap over one of two": lambda t: func.vmap(torch.mul, in_dims=(0, None))(t, t[0]),
    "vmap of grad": func.vmap(slope),
    "jvp": lambda t: func.jvp(torch.sin, (t,), (t,)),
    "vjp": lambda t: func.vjp(torch.sin, t)[1](t),
    "jacrev": func.jacrev(torch.sin),
    "jacfwd": func.jacfwd(torch.sin),
    "hessian": func.hessian(square),
    "autograd.functional.jacobian": lambda t: torch.autograd.functional.jacobian(torch.sin, t),
    "functional_call": (
        lambda t: func.functional_call(nn.Linear(2, 1), {"weight": t[:1], "bias": t[0, :1]}, t)
    ),
}


@each(TRANSFORMS)
def test_it_answers_on_cuda(row):
    assert places(row(gpu(2, 2))) == {"cuda:0"}


def test_a_tensor_inside_a_transform_says_that_it_is_on_cuda():
    seen = []

    def look(t):
        seen.append((t.device, t.is_cuda))
        return t.sum()

    func.vmap(look)(gpu(2, 2))
    func.grad(look)(gpu(2))
    assert seen == [(GPU, True)] * 2


def test_a_constant_made_inside_is_where_it_says():
    def shifted(t):
        return t + torch.ones(2, device=t.device)

    assert func.vmap(shifted)(gpu(3, 2)).device == GPU


def test_gradients_of_each_sample():
    model = nn.Linear(2, 1).cuda()
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(parameters, sample):
        return func.functional_call(model, parameters, sample[None]).sum()

    gradients = func.vmap(func.grad(loss), in_dims=(None, 0))(parameters, gpu(3, 2))
    assert gradients["weight"].shape == (3, 1, 2)
    assert places(gradients) == {"cuda:0"}


def test_an_ensemble():
    models = [nn.Linear(2, 1).cuda() for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    assert places([parameters, buffers]) == {"cuda:0"}


def test_forward_derivatives():
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(gpu(2), torch.ones(2, device="cuda"))
        primal, tangent = torch.autograd.forward_ad.unpack_dual(dual * 3)
    assert places([primal, tangent]) == {"cuda:0"}
    assert tangent.tolist() == [3.0, 3.0]
