"""Which machines a file is for: the packages that it imports, and what of torch it uses.

None of this finds a mistake: it says how sure a fix may be, and what adoption leaves alone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from devicelint.interpreter.facts.mentions import Mentions, mentions_in, path_of

_FOR_KERNELS = (
    *("triton", "cupy", "pycuda", "numba.cuda", "tensorrt", "flash_attn", "deepspeed"),
    "torch.utils.cpp_extension",
)
"""Packages with which a file sets up kernels or processes for accelerators."""
_FOR_PROCESSES = frozenset({"init_process_group", "load_inline", "LOCAL_RANK"})
"""Functions of torch, and what its launcher sets, of programs with a process for each device."""
_WORKS = ("set_device", "Stream", "Event")
_ASKS = ("synchronize", "memory_", "max_memory", "empty_cache", "get_device")
"""What `torch.cuda` is asked for that needs a GPU, by how the names begin."""
_ONLY_ON_CUDA = (
    *("cugraph", "pylibcugraph", "cudf", "cuml", "cupy", "pycuda"),
    *("transformer_engine", "msamp"),
)
_ONLY_ON = {
    "hpu": ("habana_frameworks", "vllm_hpu_extension", "optimum.habana"),
    "mlu": ("torch_mlu",),
    "musa": ("torch_musa",),
    "npu": ("torch_npu",),
}
"""What can be imported on one kind of accelerator alone, which it brings to torch."""


@functools.lru_cache(maxsize=4)
def follows_others(tree: cst.Module) -> bool:
    """Whether a file puts some of its tensors wherever others are."""
    mentions = mentions_in(tree)
    if any(name in ("type_as", "new") or name.startswith("new_") for name in mentions.methods):
        return True
    return any({"device", "is_cuda"} & held for held in mentions.members.values())


def demands_on_purpose(tree: cst.Module) -> bool:
    """Whether a file needs a GPU anyway: it sets one up, or talks to CUDA itself."""
    mentions = mentions_in(tree)
    return _asks_cuda_for(mentions, _ASKS) or works_on_purpose(tree)


def works_on_purpose(tree: cst.Module) -> bool:
    """Whether it does more with CUDA than to ask for its state, which a condition can guard."""
    mentions = mentions_in(tree)
    return _asks_cuda_for(mentions, _WORKS) or _sets_up(mentions)


def imports_for_cuda_only(tree: cst.Module) -> bool:
    """Whether a file needs a library that there is for CUDA alone."""
    return any(_is_within(one, _ONLY_ON_CUDA) for one in mentions_in(tree).imports)


@functools.lru_cache(maxsize=16)
def imports_for(tree: cst.Module, kind: str) -> bool:
    """Whether a file needs a library that there is for this kind of accelerator alone."""
    if kind == "cuda":
        return imports_for_cuda_only(tree)
    return any(_is_within(name, _ONLY_ON.get(kind, ())) for name in _needed(tree))


def _needed(tree: cst.Module) -> Iterator[str]:
    """What the statements of a file import in any case."""
    for line in tree.body:
        for one in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match one:
                case cst.Import(names=names):
                    yield from (each.evaluated_name for each in names)
                case cst.ImportFrom(module=cst.BaseExpression() as module, relative=()):
                    yield path_of(module)
                case _:
                    pass


def _asks_cuda_for(mentions: Mentions, beginnings: tuple[str, ...]) -> bool:
    return any(one.startswith(beginnings) for one in mentions.members.get("cuda", ()))


def _sets_up(mentions: Mentions) -> bool:
    if any(_is_within(one, _FOR_KERNELS) for one in mentions.imports):
        return True
    if "device_ids" in mentions.keywords or "nccl" in mentions.keywords.get("backend", ()):
        return True
    return not _FOR_PROCESSES.isdisjoint(mentions.names | mentions.strings)


def _is_within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in packages)
