"""A test double: `meta` played as an accelerator, under CUDA's rule of which devices may mix.

    with MetaGpu():
        train("meta")

Mixing it with the CPU raises what CUDA raises; what CUDA allows passes, and where CUDA would hand
data to the host, zeros come back, or what was brought there and is brought back as it was. There
is no data: losses are zero, and nothing is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

META = torch.device("meta")
CPU = torch.device("cpu")

SAME = "Expected all tensors to be on the same device, but "
# Operations whose kernels take no tensor of another device, not even a 0-dim one: the kernel, and
# its arguments in the order in which CUDA looks at them, each with its place in the operation.
EXACT: dict[str, tuple[str, dict[str, int]]] = {
    "linear": ("addmm", {"self": 2, "mat1": 0, "mat2": 1}),
    "mm": ("mm", {"self": 0, "mat2": 1}),
    "matmul": ("mm", {"self": 0, "mat2": 1}),
    "bmm": ("bmm", {"self": 0, "mat2": 1}),
    "embedding": ("_index_select", {"self": 0, "index": 1}),
    "index_select": ("_index_select", {"self": 0, "index": 2}),
    "gather": ("gather", {"self": 0, "index": 2}),
    "cross_entropy_loss": ("nll_loss_forward", {"self": 0, "target": 1, "weight": 2}),
    "nll_loss_nd": ("nll_loss_forward", {"self": 0, "target": 1, "weight": 2}),
    "binary_cross_entropy": ("_binary_cross_entropy", {"self": 0, "target": 1, "weight": 2}),
    "layer_norm": ("_native_layer_norm", {"input": 0, "weight": 2, "bias": 3}),
}
CONVOLUTIONS = {"conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d"}
RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
WITHOUT_ZERO_DIM = CONVOLUTIONS | RECURRENT | EXACT.keys() | {"cat", "stack"}
FROM_ANYWHERE = {
    "__set__",
    "_has_compatible_shallow_copy_type",
    "_pack_padded_sequence",
    "_pad_packed_sequence",
    "expand_as",
    "view_as",
}
READS = {"item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__format__"}


class _Across(torch.autograd.Function):
    """A copy to the other device; in `backward`, its gradient's way back."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, device: torch.device) -> Tensor:
        ctx.source = tensor.device
        return torch.zeros(tensor.shape, dtype=tensor.dtype, device=device)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return torch.zeros(grads[0].shape, dtype=grads[0].dtype, device=ctx.source), None


def across(tensor: Tensor, device: torch.device) -> Tensor:
    """The tensor on that device: itself where it is there."""
    if tensor.device == device:
        return tensor
    known = getattr(tensor, "on_host", None)
    if known is not None and known.shape == tensor.shape:
        return known.to(tensor.dtype, copy=True)
    moved: Any = _Across.apply(tensor, device)
    if device == META:
        moved.on_host = tensor.detach().clone()
    return moved


def tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)


def replaced(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The value, every tensor in it changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)([replaced(item, change) for item in value])
    return value


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the operation does on CUDA."""
    name = func.__name__
    match args:
        case (Tensor() as subject, *rest) if name in READS:
            return func(across(subject.detach(), CPU), *rest)
        case (Tensor() as subject, *rest) if name in ("to", "cpu", "type_as"):
            return moved(func, subject, *rest, **kwargs)
        case (Tensor() as subject,) if name == "__array__":
            return subject.numpy()
        case (Tensor() as subject, source, *rest) if name == "copy_":
            return func(subject, across(source, subject.device), *rest)
        case (Tensor() as subject, index, *value) if name in ("__getitem__", "__setitem__"):
            return func(subject, *indices(subject, index, *value))
    if name in FROM_ANYWHERE or not mixed(name, args, kwargs):
        return func(*args, **kwargs)
    if strangers(name, args, kwargs):
        raise RuntimeError(refusal(name, args))
    args = replaced(args, lambda tensor: tensor if tensor.dim() else across(tensor, META))
    return func(*args, **kwargs)


def mixed(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    packed = name in RECURRENT and isinstance(args[3], (list, tuple))
    given = (args[0], *args[2:]) if packed else args  # The second are the sizes, on the CPU.
    return len({tensor.device for tensor in tensors((*given, *kwargs.values()))}) > 1


def strangers(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether there is more on the CPU than 0-dim tensors which the kernel takes as numbers."""
    in_place = (name.endswith("_") and not name.endswith("__")) or name.startswith("__i")
    if name in WITHOUT_ZERO_DIM or (in_place and args[0].device == CPU):
        return True
    return any(t.device == CPU and t.dim() for t in tensors((*args, *kwargs.values())))


def moved(func: Any, subject: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    if func.__name__ == "cpu":
        return across(subject, CPU)
    if args and isinstance(args[0], Tensor):
        device, dtype = args[0].device, args[0].dtype
    elif func.__name__ == "to":
        device, dtype, *_ = torch._C._nn._parse_to(*args, **kwargs)
    else:
        return func(subject, *args, **kwargs)
    if device is None or device == subject.device:
        return func(subject, *args, **kwargs)
    return across(subject, device).to(dtype or subject.dtype)


def indices(subject: Tensor, index: Any, *value: Any) -> tuple[Any, ...]:
    """What may index the tensor and be put there, as `meta` takes it."""
    chosen = [t for t in tensors(index) if t.dim() or t.dtype == torch.bool]
    if subject.device == CPU and any(t.device != CPU for t in chosen):
        where = "either on cpu or on the same device as the indexed tensor (cpu)"
        raise RuntimeError(f"indices should be {where}")
    put = value[0] if value else None
    if chosen and isinstance(put, Tensor) and put.device != subject.device and put.dim():
        found = f"got values is on {put.device}, different from other tensors on {subject.device}"
        kernel = "(when checking argument in method wrapper_CUDA___index_put_impl_)"
        raise RuntimeError(f"{SAME}{found} {kernel}")
    # Without data no mask can be counted: it chooses all.
    index = replaced(
        index, lambda t: torch.ones_like(t, device=CPU) if t.dtype == torch.bool else across(t, CPU)
    )
    return (index, *(replaced(item, lambda t: across(t, subject.device)) for item in value))


def refusal(name: str, args: tuple[Any, ...]) -> str:
    """CUDA's text for an operation whose arguments lie on both devices."""
    first = next(tensors(args)).device
    there = META if first == CPU else CPU
    if name in CONVOLUTIONS and first == CPU:
        kinds = "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor)"
        dense = "or input should be a MKLDNN tensor and weight is a dense tensor"
        return f"{kinds} should be the same {dense}"
    if name in CONVOLUTIONS:
        kinds = "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor)"
        return f"{kinds} should be the same"
    if name in RECURRENT:
        weights = [item for item in args[1:] if isinstance(item, list)]
        other = "parameter" if any(t.device != first for t in tensors(weights)) else "hidden"
        where = f"found input tensor at {first} and {other} tensor at {there}"
        return f"Input and {other} tensors are not at the same device, {where}"
    if name in ("masked_fill", "masked_fill_"):
        where = f"but got mask on {there} and self on {first}"
        return f"expected self and mask to be on the same device, {where}"
    return exact_refusal(name, args) or f"{SAME}found at least two devices, {META} and {CPU}!"


def exact_refusal(name: str, args: tuple[Any, ...]) -> str:
    kernel, places = EXACT.get(name, ("", {}))
    taken = {key: args[place] for key, place in places.items() if place < len(args)}
    lying = [(key, value.device) for key, value in taken.items() if isinstance(value, Tensor)]
    for argument, device in lying:
        if device != lying[0][1]:
            where = f"got {argument} is on {device}, different from other tensors on {lying[0][1]}"
            return f"{SAME}{where} (when checking argument in method wrapper_CUDA_{kernel})"
    return ""


class MetaGpu(TorchFunctionMode):
    """The rule, in effect inside the block."""

    def __enter__(self) -> MetaGpu:
        self._patches = ExitStack()
        # Otherwise a function of torch.nn.functional is one call, and what it calls is not seen.
        for module in (functional, torch.functional):
            for name in [name for name in vars(module) if name.startswith("has_torch_function")]:
                self._patches.enter_context(patch.object(module, name, lambda *_: False))
        # Otherwise `Module.to` makes new parameters, and an optimizer made before keeps the old.
        swapping = torch.__future__.get_swap_module_params_on_conversion()
        torch.__future__.set_swap_module_params_on_conversion(True)
        self._patches.callback(torch.__future__.set_swap_module_params_on_conversion, swapping)
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._patches.close()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        return run(func, args, kwargs or {})


def _as_native(function: Any) -> None:
    """Let its frames count as torch's: they stand for kernels, of which no traceback knows."""
    inside = str(Path(torch.__file__).parent / "_C" / "kernels.py")
    function.__code__ = function.__code__.replace(co_filename=inside)


for _function in (run, moved, indices, MetaGpu.__torch_function__):
    _as_native(_function)
