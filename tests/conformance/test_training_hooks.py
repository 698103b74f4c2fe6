"""Training: hooks and functions of one's own."""

import torch
from torch import nn

from tests.conformance.given import CPU, GPU, cpu, gpu, places
from tests.conformance.texts import elementwise, refused


class Double(torch.autograd.Function):
    seen: tuple[torch.device, ...] = ()

    @staticmethod
    def forward(ctx, x, other):
        ctx.save_for_backward(x, other)
        ctx.kept = x.device
        return x * other

    @staticmethod
    def backward(ctx, gradient):
        x, other = ctx.saved_tensors
        Double.seen = (x.device, other.device, gradient.device, ctx.kept)
        return gradient * other, gradient * x


def test_saved_tensors_and_gradients_of_a_function_are_on_cuda():
    one, other = gpu(2, grad=True), gpu(2, grad=True)
    Double.apply(one, other).sum().backward()
    assert set(Double.seen) == {GPU}
    assert places([one.grad, other.grad]) == {"cuda:0"}


def test_a_function_on_the_cpu_is_left_there():
    one = cpu(2, grad=True)
    Double.apply(one, cpu(2)).sum().backward()
    assert set(Double.seen) == {CPU}


def test_a_function_may_cross():
    class Over(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.cuda()

        @staticmethod
        def backward(ctx, gradient):
            return gradient.cpu()

    leaf = cpu(2, grad=True)
    result = Over.apply(leaf)
    result.sum().backward()
    assert (result.device, leaf.grad.device) == (GPU, CPU)


def test_a_function_that_returns_its_gradient_elsewhere_is_refused():
    class Astray(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient.cpu()

    refused(
        lambda: Astray.apply(gpu(2, grad=True)).sum().backward(),
        "Function AstrayBackward returned an invalid gradient at index 0 - "
        "expected device cuda:0 but got cpu",
    )


def test_a_function_makes_new_tensors_where_it_says():
    class Ones(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.ones(2, device=x.device) + x

        @staticmethod
        def backward(ctx, gradient):
            return torch.ones(2, device=gradient.device)

    leaf = gpu(2, grad=True)
    Ones.apply(leaf).sum().backward()
    assert leaf.grad.device == GPU


def test_a_function_that_mixes_is_refused():
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x + torch.ones(2)

    refused(lambda: Mixed.apply(gpu(2)), elementwise())


def test_a_tensors_hook_sees_its_gradient_on_cuda():
    seen = []
    leaf = gpu(2, grad=True)
    leaf.register_hook(lambda gradient: seen.append(gradient.device))
    leaf.sum().backward()
    assert seen == [GPU]


def test_a_tensors_hook_may_change_it():
    leaf = gpu(2, grad=True)
    leaf.register_hook(lambda gradient: gradient * 2)
    leaf.sum().backward()
    assert (leaf.grad.device, leaf.grad.tolist()) == (GPU, [2.0, 2.0])


def test_a_tensors_hook_may_not_mix():
    leaf = gpu(2, grad=True)
    leaf.register_hook(lambda gradient: gradient * torch.ones(2))
    refused(lambda: leaf.sum().backward(), elementwise())


def test_a_copy_made_in_a_hook_is_where_it_was_moved_to():
    seen = []
    leaf = gpu(2, grad=True)

    def look(gradient):
        seen.extend([gradient.cpu().device, gradient.cpu().cuda().device, torch.ones(1).device])

    leaf.register_hook(look)
    leaf.sum().backward()
    assert seen == [CPU, GPU, CPU]


def test_a_tensors_hook_may_not_move_it():
    leaf = gpu(2, grad=True)
    leaf.register_hook(lambda gradient: gradient.cpu())
    refused(lambda: leaf.sum().backward(), "has changed the type of value")


def test_a_hook_after_accumulation_sees_the_leaf():
    seen = []
    leaf = gpu(2, grad=True)
    leaf.register_post_accumulate_grad_hook(lambda t: seen.append((t.device, t.grad.device)))
    leaf.sum().backward()
    assert seen == [(GPU, GPU)]


def test_a_modules_forward_hooks_see_cuda():
    seen = []
    layer = nn.Linear(2, 1).cuda()
    layer.register_forward_pre_hook(lambda module, args: seen.append(args[0].device))
    layer.register_forward_hook(lambda module, args, result: seen.append(result.device))
    layer(gpu(1, 2))
    assert seen == [GPU, GPU]


def test_a_forward_hook_may_move_the_input():
    layer = nn.Linear(2, 1).cuda()
    layer.register_forward_pre_hook(lambda module, args: (args[0].cuda(),))
    assert layer(cpu(1, 2)).device == GPU


def test_a_modules_backward_hook_sees_gradients_on_cuda():
    seen = []
    layer = nn.Linear(2, 1).cuda()
    layer.register_full_backward_hook(
        lambda module, inward, outward: seen.append(places([inward, outward]))
    )
    layer(gpu(1, 2, grad=True)).sum().backward()
    assert seen == [{"cuda:0"}]


def test_saved_tensors_may_be_packed():
    packed = []

    def pack(tensor):
        packed.append(tensor.device)
        return tensor.cpu()

    leaf = gpu(2, grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor.cuda()):
        loss = (leaf**2).sum()
    loss.backward()
    assert set(packed) == {GPU}
    assert leaf.grad.device == GPU


def test_saved_tensors_may_wait_on_the_cpu():
    leaf = gpu(2, grad=True)
    with torch.autograd.graph.save_on_cpu():
        loss = (leaf.exp() * leaf).sum()
    loss.backward()
    assert leaf.grad.device == GPU


def test_a_hook_on_the_optimizer_sees_parameters_on_cuda():
    seen = []
    layer = nn.Linear(1, 1).cuda()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    optimizer.register_step_post_hook(
        lambda optimizer, args, kwargs: seen.append(places(optimizer.param_groups))
    )
    layer(gpu(1, 1)).sum().backward()
    optimizer.step()
    assert seen == [{"cuda:0"}]
