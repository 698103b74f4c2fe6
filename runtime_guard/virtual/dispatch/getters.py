"""What a tensor says of itself: its device, its type, and what is asked of host memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import CPU
from runtime_guard.virtual.devices.marks import claimed, device_of, mark_of, place
from runtime_guard.virtual.dispatch.calls import HANDLERS, handles
from runtime_guard.virtual.dispatch.overriding import in_backward

ATTRIBUTES = """
    _backward_hooks _base _cdata _grad_fn _post_accumulate_grad_hooks _version dtype grad_dtype
    grad_fn is_leaf is_maia is_meta is_mkldnn is_mtia is_nested is_quantized is_sparse is_sparse_csr
    is_vulkan is_xla is_ipu itemsize layout name names nbytes ndim output_nr requires_grad
    retains_grad shape volatile _python_dispatch _has_symbolic_sizes_strides
""".split()
"""Attributes that say nothing of devices."""

METHODS = """
    dim size stride numel nelement ndimension element_size is_contiguous is_floating_point
    is_complex is_signed is_inference is_conj is_neg storage_offset untyped_storage data_ptr item
    tolist __len__ __bool__ __float__ __int__ __index__ __complex__ __hash__ requires_grad_
    has_names dense_dim sparse_dim _nnz _is_view _is_zerotensor is_same_size
""".split()
"""Methods that answer with numbers."""

FUNCTIONS = "numel is_floating_point is_complex is_signed is_nonzero is_tensor is_same_size".split()
"""Functions of `torch` that do."""

SWITCHES = (
    torch._C._set_grad_enabled,
    torch.ops.profiler._record_function_enter_new,
    torch.ops.profiler._record_function_exit,
    torch.ops.profiler._record_function_exit._RecordFunction,
)
"""What is given no tensor, but called in every step of an optimizer."""


def transparent(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what mixes nothing, and makes nothing that would need a mark."""
    return func(*args, **kwargs)


HANDLERS.update(
    {getattr(Tensor, name).__get__: transparent for name in ATTRIBUTES if hasattr(Tensor, name)}
)
HANDLERS.update({getattr(Tensor, name): transparent for name in METHODS if hasattr(Tensor, name)})
HANDLERS.update({getattr(torch, name): transparent for name in FUNCTIONS})
HANDLERS.update(dict.fromkeys(SWITCHES, transparent))
HANDLERS.update(
    {getattr(Tensor, name).__set__: transparent for name in ("requires_grad", "_backward_hooks")}
)


def seen_device(tensor: Tensor) -> torch.device:
    """The device that a script reads.

    Inside a backward pass what bears no mark is taken to lie where the pass began.
    """
    device = mark_of(tensor)
    if device is None and torch._C._current_graph_task_id() != -1:
        device = claimed(tensor) or in_backward()
    return device or tensor.device


@handles(Tensor.device.__get__)
def _device(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device:
    return seen_device(args[0])


def _is_of(name: str) -> Any:
    def answer(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return bool(seen_device(args[0]).type == name)

    return answer


for _name in ("cpu", "cuda", "mps", "xpu"):
    HANDLERS[getattr(Tensor, f"is_{_name}").__get__] = _is_of(_name)


@handles(Tensor.get_device, torch.get_device)
def _get_device(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    device = seen_device(args[0] if args else kwargs["input"])
    return -1 if device == CPU else device.index or 0


@handles(Tensor.numpy)
def _numpy(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, *rest = args
    device = mark_of(tensor)
    if device is None:
        return func(*args, **kwargs)
    if kwargs.get("force", rest[0] if rest else False):
        return tensor.detach().clone().resolve_conj().resolve_neg().numpy()
    raise TypeError(
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
        "to host memory first."
    )


@handles(Tensor.apply_, Tensor.map_)
def _one_by_one(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if mark_of(args[0]) is not None:
        raise TypeError(f"{func.__name__} is only implemented on CPU tensors")
    return func(*args, **kwargs)


@handles(Tensor.grad.__get__)
def _grad(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
    grad: Tensor | None = func(*args, **kwargs)
    device = None if grad is None else mark_of(args[0])
    if grad is not None and device is not None:
        place(grad, device)
    return grad


@handles(Tensor.grad.__set__)
def _set_grad(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    tensor, grad = args
    if isinstance(grad, Tensor) and not (in_backward() and mark_of(grad) is None):
        own, given = device_of(tensor), device_of(grad)
        if own.type != given.type:
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{given.type}' to a tensor with "
                f"device type '{own.type}'. Please ensure that the gradient and the tensor are on "
                "the same device"
            )
        if own != given:
            raise RuntimeError(
                f"attempting to assign a gradient located on device with index '{given.index}' to "
                f"a tensor located on device with index '{own.index}'. Please ensure that the "
                "gradient and the tensor are on the same device"
            )
    func(*args, **kwargs)


def type_name(tensor: Tensor) -> str:
    """What `tensor.type()` says: `torch.cuda.FloatTensor`."""
    own: str = tensor.type()
    device = mark_of(tensor)
    if device is None:
        return own
    return own.replace("torch.", f"torch.{device.type}.", 1)
