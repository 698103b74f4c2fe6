"""What torch says of how it was built, and of its back ends."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from torch.backends import cuda, cudnn, mps

from runtime_guard.virtual.devices.machine import machine
from runtime_guard.virtual.namespaces.native import constant, speaks, stand_in, stand_in_all

if TYPE_CHECKING:
    from runtime_guard.virtual.patching import Patches

CUDA: Final = "12.6"
"""The version of CUDA for which every supported release of torch has a build."""

COMPANIONS: Final = ("torchvision", "torchaudio", "torchao")
"""Packages with builds for CUDA that compare its version with torch's."""

CUDNN: Final = 91002
"""What such a build gives as cuDNN's version."""

XPU: Final = "20250301"


def install(patches: Patches) -> None:
    """Let torch be built for the machine that is entered."""
    name = machine().name
    patches.put(torch._C, "_has_cuda", name == "cuda")
    patches.put(torch._C, "_has_cudnn", name == "cuda")
    patches.put(torch._C, "_has_magma", name == "cuda")
    patches.put(torch._C, "_has_xpu", name == "xpu")
    patches.put(torch._C, "_has_mps", name == "mps")
    version = cuda_version() if name == "cuda" else None
    patches.put(torch.version, "cuda", version)
    patches.put(torch.version, "xpu", XPU if name == "xpu" else None)
    patches.put(torch.cuda, "has_magma", name == "cuda")
    patches.put(cuda, "is_built", lambda: speaks("cuda"))
    patches.put(cudnn, "is_available", lambda: speaks("cuda"))
    patches.put(cudnn, "version", lambda: CUDNN if speaks("cuda") else None)
    # Its functions find each other in the module, which another object stands for.
    patches.put_item(cudnn.is_acceptable.__globals__, "_init", lambda: speaks("cuda"))
    # The weights of a recurrent layer lie in host memory, where cuDNN cannot put them together.
    patches.put(torch, "_use_cudnn_rnn_flatten_weight", constant(False))
    _install_metal(patches)
    _install_plans(patches)


def cuda_version() -> str:
    """The version of CUDA for which torch is built, or seems to be.

    It is what was asked for, else torch's own, else that of the packages beside it.
    """
    return machine().asked.cuda or torch.version.cuda or of_companions() or CUDA


@cache
def of_companions() -> str | None:
    """The version of CUDA of the first package beside torch that names one: `0.21+cu128`."""
    for package in COMPANIONS:
        found = re.search(r"\+cu(\d+)(\d)\b", _version_of(package))
        if found is not None:
            return f"{found[1]}.{found[2]}"
    return None


def _version_of(package: str) -> str:
    """What an installed package says of its version, which is not imported for it."""
    spec = util.find_spec(package)
    if spec is None or spec.origin is None:
        return ""
    own = Path(spec.origin).with_name("version.py")
    try:
        return own.read_text("utf-8") if own.exists() else metadata.version(package)
    except (OSError, UnicodeDecodeError, metadata.PackageNotFoundError):
        return ""


def _install_metal(patches: Patches) -> None:
    patches.put(mps, "is_built", lambda: speaks("mps"))
    patches.put(mps, "is_available", lambda: speaks("mps"))
    stand_in_all(
        patches,
        mps,
        "mps",
        {
            "is_macos_or_newer": constant(True),
            "is_macos13_or_newer": constant(True),
            "get_name": constant("Virtual GPU"),
            "get_core_count": constant(10),
        },
    )


def _install_plans(patches: Patches) -> None:
    """Let the cache of cuFFT's plans be asked for its size; it holds none."""
    sizes: dict[int, int] = {}
    plans = vars(cuda.cuFFTPlanCache)
    stand_in(patches, plans["size"], "getter", "cuda", constant(0))
    largest = plans["max_size"]
    stand_in(patches, largest, "getter", "cuda", lambda index: sizes.get(index, 4096))
    stand_in(patches, largest, "setter", "cuda", sizes.__setitem__)
    stand_in(patches, torch, "_cufft_clear_plan_cache", "cuda", constant(None))
