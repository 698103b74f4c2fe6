"""Python that torch calls for each operator: of classes, modes, kernels and branches."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._python_dispatch import TorchDispatchMode

from runtime_guard import virtual_gpu
from tests.guard.leaves import CPU, GPU, OTHER

pytestmark = [
    pytest.mark.virtual_gpu(2),
    pytest.mark.filterwarnings("ignore:Sparse invariant checks"),
    pytest.mark.filterwarnings("ignore:torch.sparse.SparseTensor"),
    pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile"),
]

MIXED = "Expected all tensors to be on the same device"


class Quantized(Tensor):
    """Keeps integers and a scale, as the weights of torchao do."""

    q: Tensor
    scale: Tensor

    @staticmethod
    def __new__(cls, q, scale):
        return Tensor._make_wrapper_subclass(cls, q.shape, dtype=scale.dtype, device=q.device)

    def __init__(self, q, scale):
        self.q, self.scale = q, scale

    def __tensor_flatten__(self):
        return ["q", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, *_):
        return cls(inner["q"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        aten = torch.ops.aten
        if func in {aten.detach.default, aten.clone.default}:
            return cls(func(args[0].q), func(args[0].scale))
        if func is aten._to_copy.default:
            device = (kwargs or {})["device"]
            return cls(args[0].q.to(device), args[0].scale.to(device))
        if func is aten.t.default:
            return cls(args[0].q.t(), args[0].scale)
        plain = [one.q.to(one.scale.dtype) * one.scale if type(one) is cls else one for one in args]
        return func(*plain)


def quantized_layer():
    layer = nn.Linear(3, 3)
    weight = Quantized((layer.weight.detach() * 9).to(torch.int8), torch.tensor([0.1]))
    layer.weight = nn.Parameter(weight, requires_grad=False)
    return layer


def test_a_wrapper_moves_as_its_class_says():
    layer = quantized_layer().cuda()
    weight = layer.weight
    assert [one.device for one in (weight, weight.q, weight.scale)] == [GPU, GPU, GPU]
    assert layer(torch.ones(2, 3, device=GPU)).device == GPU
    weight = layer.cpu().weight
    assert [one.device for one in (weight, weight.q, weight.scale)] == [CPU, CPU, CPU]
    assert layer(torch.ones(2, 3)).device == CPU


def test_what_a_wrapper_holds_mixes_with_nothing_elsewhere():
    layer = quantized_layer().to(OTHER)
    with pytest.raises(RuntimeError, match=MIXED):
        layer(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match=MIXED):
        layer(torch.ones(2, 3, device=GPU))


def test_a_class_that_forgets_a_part_is_found():
    class Forgetful(Quantized):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if func is torch.ops.aten._to_copy.default:
                return cls(args[0].q.to(kwargs["device"]), args[0].scale)
            return super().__torch_dispatch__(func, types, args, kwargs)

    moved = Forgetful(torch.ones(3, 3, dtype=torch.int8), torch.tensor([0.1])).cuda()
    assert [moved.q.device, moved.scale.device] == [GPU, CPU]
    with pytest.raises(RuntimeError, match=MIXED):
        torch.mm(torch.ones(2, 3, device=GPU), moved)


def test_all_that_a_wrapper_of_two_holds_is_moved():
    two = TwoTensor(torch.ones(3), torch.ones(3))
    moved = two.to(OTHER)
    assert [one.device for one in (moved, moved.a, moved.b)] == [OTHER, OTHER, OTHER]
    doubled = moved + moved
    assert [one.device for one in (doubled, doubled.a, doubled.b)] == [OTHER, OTHER, OTHER]
    with pytest.raises(RuntimeError, match=MIXED):
        moved + two


class Adding(TorchDispatchMode):
    """Adds a tensor of its own to what is multiplied."""

    def __init__(self, device):
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.mul.Tensor:
            return made + torch.ones(2, device=self.device)
        return made


def test_a_mode_is_seen_inside():
    given = torch.ones(2, device=GPU)
    with Adding(GPU):
        assert (given * given).tolist() == [2.0, 2.0]
    with Adding(CPU), pytest.raises(RuntimeError, match=MIXED):
        given * given
    with Adding(CPU):
        assert (torch.ones(2) * 2).device == CPU


def test_a_kernel_in_python_is_seen_inside():
    @torch.library.custom_op("virtual_gpu_tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, forgets: bool) -> torch.Tensor:
        return x * torch.ones(3, device="cpu" if forgets else x.device)

    assert scaled(torch.ones(3, device=GPU), False).device == GPU
    assert scaled(torch.ones(3), False).device == CPU
    with pytest.raises(RuntimeError, match=MIXED):
        scaled(torch.ones(3, device=GPU), True)


def test_what_a_kernel_in_python_brings_to_the_host_stays_there():
    @torch.library.custom_op("virtual_gpu_tests::on_host", mutates_args=())
    def on_host(x: torch.Tensor) -> torch.Tensor:
        return x.cpu() * 2

    assert on_host(torch.ones(3, device=GPU)).device == CPU


MIXES = {
    "linear": lambda: nn.Linear(3, 3).cuda()(torch.ones(2, 3)),
    "matmul": lambda: torch.ones(3, 3, device=GPU) @ torch.ones(3, 3),
    "conv2d": lambda: nn.Conv2d(1, 1, 2).cuda()(torch.ones(1, 1, 4, 4)),
    "cross_entropy": lambda: nn.functional.cross_entropy(
        torch.ones(3, 3, device=GPU), torch.zeros(3, dtype=torch.long)
    ),
    "mse_loss": lambda: nn.functional.mse_loss(torch.ones(3, device=GPU), torch.ones(3)),
    "addition": lambda: torch.ones(3, device=GPU) + torch.ones(3),
    "layer_norm": lambda: nn.LayerNorm(3).cuda()(torch.ones(2, 3)),
    "embedding": lambda: nn.Embedding(3, 3).cuda()(torch.tensor([1])),
}


@pytest.mark.parametrize("mix", MIXES.values(), ids=MIXES)
def test_devices_mix_no_more_in_inference_mode(mix):
    with torch.inference_mode(), pytest.raises(RuntimeError, match=MIXED):
        mix()


def test_branches_read_what_is_around_them():
    weight = torch.ones(3, device=GPU, requires_grad=True)
    x = torch.ones(3, device=GPU)
    torch.cond(x.sum() > 0, lambda x: x * weight, lambda x: x + weight, (x,)).sum().backward()
    assert weight.grad is not None
    assert weight.grad.device == GPU
    beside = torch.ones(3)
    with pytest.raises(RuntimeError, match=MIXED):
        torch.cond(x.sum() > 0, lambda x: x * beside, lambda x: x + beside, (x,))


def test_loops_read_what_is_around_them():
    from torch._higher_order_ops.map import map as mapped
    from torch._higher_order_ops.scan import scan

    weight = torch.ones(3, device=GPU, requires_grad=True)
    rows = torch.ones(4, 3, device=GPU)

    def step(carry, row):
        following = carry * weight + row
        return following, following.clone()

    carry, out = scan(step, torch.zeros(3, device=GPU), rows)
    assert (carry.device, out.device) == (GPU, GPU)
    out.sum().backward()
    assert mapped(lambda row: row * weight, rows).device == GPU
    assert weight.grad is not None


def test_flexible_attention_has_gradients():
    from torch.nn.attention.flex_attention import flex_attention

    query = torch.randn(1, 1, 16, 8, device=GPU, requires_grad=True)
    flex_attention(query, query, query).sum().backward()
    assert query.grad is not None
    assert query.grad.device == GPU


class Renewed(Tensor):
    """Says what is made anew in its place."""

    def new_empty(self, *args, **kwargs):
        return Tensor.new_empty(self, *args, **kwargs).as_subclass(Renewed)


@pytest.mark.parametrize("device", [CPU, GPU])
def test_a_class_that_says_what_is_new_is_copied(device):
    made = copy.deepcopy(torch.ones(3, device=device).as_subclass(Renewed))
    assert (type(made), made.device) == (Renewed, device)


def test_the_stack_of_modes_is_a_programs_own():
    assert torch._C._len_torch_function_stack() == 0
    with torch.device("cpu"):
        assert torch._C._len_torch_function_stack() == 1


def test_parts_of_a_sparse_tensor_stay_where_they_are():
    values = torch.ones(2)
    made = torch.sparse_coo_tensor(torch.tensor([[0, 1]]), values, (2,), device=GPU)
    assert (made.device, values.device) == (GPU, CPU)


def test_sparse_types_of_old_make_sparse_tensors():
    indices, values = torch.tensor([[0, 1]], device=GPU), torch.ones(2, device=GPU)
    made = torch.cuda.sparse.FloatTensor(indices, values, torch.Size([2]))
    assert (made.device, made.is_sparse, made.to_dense().tolist()) == (GPU, True, [1.0, 1.0])
    assert isinstance(made, torch.cuda.sparse.FloatTensor)


def test_an_operator_that_was_made_before_the_block_is_seen_inside_and_given_back():
    operator = torch.library.custom_op("virtual_gpu_tests::early", _early, mutates_args=())
    kernels = dict(operator._backend_fns)
    with virtual_gpu(2):
        with pytest.raises(RuntimeError, match=MIXED):
            operator(torch.ones(3, device=GPU))
        assert operator(torch.ones(3)).device == CPU
    assert operator._backend_fns == kernels


def _early(x: torch.Tensor) -> torch.Tensor:
    return x * torch.ones(3)
