"""Classes of tensors that a program or torch makes, on the virtual GPU."""

from __future__ import annotations

from copy import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map

from tests.guard.leaves import CPU, GPU, OTHER, gradient_of

pytestmark = pytest.mark.virtual_gpu(2)

MIXED = "Expected all tensors to be on the same device"


class Noted(Tensor):
    """Notes what is called with it, and makes a tensor of its own beside what it is given."""

    noted: list[str] = []  # noqa: RUF012 - of the class

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.noted.append(getattr(func, "__name__", str(func)))
        made = super().__torch_function__(func, types, args, kwargs or {})
        if func is torch.add:
            return made + torch.ones(made.shape, device=made.device).as_subclass(cls)
        return made


class Named(Tensor):
    """Has an attribute, and overrides nothing."""

    name = "none"


class Boxed:
    """No tensor, but takes part in torch's functions: as xarray or a unit library does."""

    def __init__(self, inner: Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        args = tree_map(lambda one: one.inner if isinstance(one, cls) else one, args)
        return cls(func(*args, **(kwargs or {})))


class Wrapped(Tensor):
    """Holds another tensor, and hands each operator on to it."""

    inner: Tensor

    @staticmethod
    def __new__(cls, inner: Tensor) -> Wrapped:
        made: Wrapped = Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, device=inner.device
        )
        made.inner = inner
        return made

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, Tensor], *_: Any) -> Wrapped:
        return Wrapped(inner["inner"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        plain = [tree_map(cls._inner_of, each) for each in (args, kwargs or {})]
        made = tree_map(cls._of, func(*plain[0], **plain[1]))
        return return_and_correct_aliasing(func, args, kwargs or {}, made)

    @classmethod
    def _inner_of(cls, value: Any) -> Any:
        return value.inner if isinstance(value, cls) else value

    @classmethod
    def _of(cls, value: Any) -> Any:
        return cls(value) if isinstance(value, Tensor) else value


def on_gpu(kind: Any) -> Any:
    """One of its kind on the device."""
    plain = torch.ones(2, device=GPU)
    return kind(plain) if kind is Wrapped else plain.as_subclass(kind)


@pytest.mark.parametrize("kind", [Noted, Named, Wrapped])
def test_an_instance_lies_where_its_data_does(kind):
    instance = on_gpu(kind)
    assert instance.device == GPU
    assert instance.is_cuda
    made = instance * 2
    assert (type(made), made.device) == (kind, GPU)
    assert (made + torch.ones(2, device=GPU)).device == GPU


@pytest.mark.parametrize("kind", [Noted, Named, Wrapped])
def test_an_instance_mixes_with_nothing_elsewhere(kind):
    with pytest.raises(RuntimeError, match=MIXED):
        on_gpu(kind) * torch.ones(2)
    with pytest.raises(RuntimeError, match=MIXED):
        torch.ones(2, device=OTHER) * on_gpu(kind)
    assert (on_gpu(kind) * torch.tensor(2.0)).device == GPU


@pytest.mark.parametrize("kind", [Noted, Named])
def test_an_instance_moves_and_keeps_its_class(kind):
    instance = on_gpu(kind)
    for made, device in [
        (instance.cpu(), CPU),
        (instance.to(OTHER), OTHER),
        (instance.to("cpu").cuda(1), OTHER),
        (torch.zeros_like(instance), GPU),
        (instance.new_zeros(2), GPU),
        (instance.detach(), GPU),
        (instance.clone(), GPU),
        (copy(instance), GPU),
    ]:
        assert (type(made), made.device) == (kind, device)
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        instance.numpy()


def test_an_override_is_called_for_what_it_overrides_alone():
    Noted.noted.clear()
    instance = torch.ones(2, device=GPU).as_subclass(Noted)
    Noted.noted.clear()
    assert torch.mul(instance, 2).device == GPU
    assert Noted.noted == ["mul", "__get__"]


def test_an_override_makes_tensors_beside_what_it_is_given():
    instance = torch.ones(2, device=OTHER).as_subclass(Noted)
    made = torch.add(instance, instance)
    assert (made.device, made.tolist()) == (OTHER, [3.0, 3.0])


def test_what_is_no_tensor_but_overrides():
    boxed = torch.add(Boxed(torch.ones(2, device=GPU)), 1)
    assert isinstance(boxed, Boxed)
    assert boxed.inner.device == GPU
    with pytest.raises(RuntimeError, match=MIXED):
        torch.add(boxed, torch.ones(2))


@pytest.mark.parametrize("kind", [Noted, Named])
def test_a_parameter_of_a_class_trains(kind):
    weight = nn.Parameter(torch.ones(2).as_subclass(kind).cuda())
    assert weight.device == GPU
    optimizer = torch.optim.SGD([weight], lr=0.5)
    (weight * torch.ones(2, device=GPU)).sum().backward()
    assert gradient_of(weight).device == GPU
    optimizer.step()
    assert weight.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("kind", [Noted, Named, Wrapped])
def test_gradients_flow_through_an_instance(kind):
    weight = torch.ones(2, device=GPU, requires_grad=True)
    (weight.as_subclass(kind) if kind is not Wrapped else weight).mul(3).sum().backward()
    assert gradient_of(weight).device == GPU


def test_modules_move_what_wraps():
    model = nn.Linear(2, 2)
    model.weight = nn.Parameter(Wrapped(torch.ones(2, 2)))
    assert model.weight.device == CPU
    model.bias.data = model.bias.data.cuda()
    assert model.bias.device == GPU


# Tensors within tensors.


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")
def test_nested_tensors_lie_where_their_parts_do(layout):
    parts = [torch.ones(2, 3, device=GPU), torch.ones(4, 3, device=GPU)]
    nested = torch.nested.nested_tensor(parts, layout=layout, device=GPU)
    assert nested.device == GPU
    assert (nested * 2).device == GPU
    assert [each.device for each in nested.unbind()] == [GPU, GPU]
    assert nn.Linear(3, 2, device=GPU)(nested).device == GPU
    assert nested.cpu().device == CPU
    assert torch.nested.to_padded_tensor(nested, 0.0).device == GPU


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype stage")
def test_nested_tensors_lie_with_what_they_are_made_of():
    parts = [torch.ones(2, 3, device=OTHER), torch.ones(4, 3, device=OTHER)]
    assert torch.nested.nested_tensor(parts).device == OTHER
    assert torch.nested.as_nested_tensor(parts).device == OTHER
    assert torch.nested.as_nested_tensor(parts, device=GPU).device == GPU
    assert torch.nested.as_nested_tensor(parts, layout=torch.jagged).device == OTHER
    assert torch.nested.nested_tensor([[1.0], [2.0, 3.0]], device=GPU).device == GPU
    assert torch.nested.nested_tensor([[1.0], [2.0, 3.0]]).device == CPU


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors is in prototype stage")
def test_masked_tensors_lie_where_their_data_does():
    masked = torch.masked.masked_tensor(
        torch.ones(3, device=GPU), torch.tensor([True, False, True], device=GPU)
    )
    assert masked.device == GPU
    assert (masked + masked).device == GPU
    assert masked.sum().get_data().device == GPU


def test_views_of_numbers_keep_the_device():
    numbers = torch.ones(2, device=GPU, dtype=torch.complex64)
    for made in (numbers.real, numbers.imag, torch.view_as_real(numbers), numbers.conj()):
        assert made.device == GPU
