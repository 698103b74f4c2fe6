"""The tensor types of old: `torch.cuda.FloatTensor` and its like make tensors of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import torch
from torch import Tensor

from runtime_guard.virtual.devices.machine import is_active, machine
from runtime_guard.virtual.devices.marks import device_of, place
from runtime_guard.virtual.devices.names import resolved
from runtime_guard.virtual.dispatch.factories import construct

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime_guard.virtual.patching import Patches

DTYPES: Final = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
}
"""By the first word of the type's name."""

SPARSE: Final = {
    word: getattr(torch.sparse, f"{word}Tensor")
    for word in DTYPES
    if hasattr(torch.sparse, f"{word}Tensor")
}
"""torch's own types of sparse tensors of the CPU."""

ORIGINALS: Final = {word: getattr(torch, f"{word}Tensor") for word in DTYPES}
"""torch's own types of the CPU, which take tensors of virtual devices for theirs."""

NOT_AVAILABLE: Final = "type torch.{0}.{1} not available. Torch not compiled with {2} enabled."


class LegacyType(type):
    """The type of `torch.cuda.FloatTensor`: tensors of its dtype and device are its instances."""

    kind: str
    original: Any
    dtype: torch.dtype
    layout: torch.layout
    is_cuda: bool
    is_sparse = False

    def __new__(cls, kind: str, word: str) -> LegacyType:
        """Make the type of a kind of device, for a word of `DTYPES`."""
        module = "torch" if kind == "cpu" else f"torch.{kind}"
        made = super().__new__(cls, f"{word}Tensor", (), {"__module__": module})
        made.original = ORIGINALS[word]
        made.kind, made.dtype = kind, getattr(torch, DTYPES[word])
        made.is_cuda, made.layout = kind == "cuda", torch.strided
        return made

    def __init__(cls, kind: str, word: str) -> None:
        """Nothing is left to do."""

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, Tensor) or instance.dtype is not cls.dtype:
            return False
        with torch._C.DisableTorchFunction():
            return instance.layout is cls.layout and device_of(instance).type == cls.kind

    def __call__(cls, *args: Any, device: Any = None, **kwargs: Any) -> Tensor:
        """Make a tensor of sizes, or of data."""
        if cls.kind == "cpu":
            with torch._C.DisableTorchFunction():
                given = kwargs if device is None else {**kwargs, "device": device}
                own: Tensor = cls.original(*args, **given)
                return own
        if not is_active() or machine().name != cls.kind:
            said = NOT_AVAILABLE.format(cls.kind, cls.__name__, cls.kind.upper())
            raise TypeError(said)
        with torch._C.DisableTorchFunction():
            where = resolved(cls.kind if device is None else device)
            is_one = args and isinstance(args[0], Tensor) and not cls.is_sparse
            if is_one and device_of(args[0]) == where:
                return args[0].detach()
            made: Tensor = cls.original(*args, **kwargs)
            return place(made.clone() if _is_shared(made, args) else made, where)

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


class SparseLegacyType(LegacyType):
    """The type of `torch.cuda.sparse.FloatTensor`: it makes tensors of indices and values."""

    is_sparse = True

    def __new__(cls, kind: str, word: str) -> SparseLegacyType:
        """Make the type of a kind of device, for a word of `SPARSE`."""
        made: Any = super().__new__(cls, kind, word)
        made.__module__ = f"torch.{kind}.sparse"
        made.original, made.layout = SPARSE[word], torch.sparse_coo
        return cast("SparseLegacyType", made)


def install(patches: Patches) -> None:
    """Let the types be there, and be the default."""
    for word in DTYPES:
        patches.put(torch, f"{word}Tensor", LegacyType("cpu", word))
        patches.put(torch.cuda, f"{word}Tensor", LegacyType("cuda", word))
    for word in SPARSE:
        patches.put(torch.cuda.sparse, f"{word}Tensor", SparseLegacyType("cuda", word))
    original = torch._C._set_default_tensor_type
    patches.put(torch._C, "_set_default_tensor_type", _defaulting(original))
    patches.put(torch, "range", _range(torch.range))


def _is_shared(made: Tensor, args: tuple[Any, ...]) -> bool:
    """Whether what was made is a view of a tensor of the CPU, or of an array of numpy."""
    return bool(args) and (isinstance(args[0], Tensor) or hasattr(args[0], "__array_interface__"))


def _defaulting(original: Callable[[Any], None]) -> Callable[[Any], None]:
    """A default type of a device makes that device the default; one of the CPU ends that."""

    def _set_default_tensor_type(kind: Any) -> None:
        is_ours = isinstance(kind, LegacyType)
        original(kind.original if is_ours else kind)
        torch.set_default_device(kind.kind if is_ours and kind.kind != "cpu" else None)

    return _set_default_tensor_type


def _range(original: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The factory that no mode sees, and that follows no default."""

    def called(*args: Any, device: Any = None, **kwargs: Any) -> Tensor:
        if device is None:
            return original(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return construct(original, args, {**kwargs, "device": device})

    return called
