"""Which machines a file is for, by what it says: the words of its code, without its comments."""

from __future__ import annotations

import functools
import re

_SETS_UP = (
    r"init_process_group|backend\s*=\s*.nccl|LOCAL_RANK|load_inline|cpp_extension|triton"
    r"|cupy|pycuda|numba|tensorrt|flash_attn|deepspeed|device_ids"
)
"""What sets up processes or kernels for accelerators."""
_WORKS_ON_ONE = rf"cuda\.(?:set_device|Stream|Event)|{_SETS_UP}"
_ON_PURPOSE = re.compile(
    rf"cuda\.(?:synchronize|memory_|max_memory|empty_cache|get_device)|{_WORKS_ON_ONE}"
)
_WORKS_ON_PURPOSE = re.compile(_WORKS_ON_ONE)
_NEEDS_ONE = re.compile(_SETS_UP)
_ONLY_ON_CUDA = re.compile(
    r"^\s*(?:import|from) "
    r"(?:cugraph|pylibcugraph|cudf|cuml|cupy|pycuda|transformer_engine|msamp)",
    re.MULTILINE,
)
_CPU = r"(?:torch\.device\()?['\"]cpu['\"]"
_PROVIDES_FOR_THE_CPU = re.compile(
    r"(?:cuda|mps|xpu|npu|accelerator)\.is_available\(|current_accelerator\("
    r"|\bno[-_](?:cuda|gpu|accel)|\buse[-_](?:cuda|gpu)\b"
    rf"|\belse:?\s+(?:\w+ = )?{_CPU}|{_CPU}\)?\s+if\b|\bdefault={_CPU}"
    rf"|\bdevice\w*: [\w. |\[\]]+ = {_CPU}|\bdef \w+\([^)]*device\w*\s*=\s*{_CPU}"
    r"|['\"]--?device['\"]"
    r"|add_argument\([^)]*['\"]--?(?:cuda|gpu|cpu|accel\w*)['\"][^)]*(?:store_|bool)"
    r"|\bif (?:not )?(?!\S*\bis_)[\w.]*(?:cuda|gpu)(?:\s*:|\s+else\b)",
    re.IGNORECASE,
)
"""What shows that a program chooses its device, or that somebody may: another one is in order."""
_FOLLOWS_OTHERS = re.compile(r"\.type_as\(|\.new(?:_\w+)?\(|\.device\b|\.is_cuda\b")
"""What goes to wherever another tensor is."""
_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#.*$")


@functools.lru_cache(maxsize=4)
def _code(text: str) -> str:
    return _COMMENT.sub("", text)


@functools.lru_cache(maxsize=4)
def provides_for_the_cpu(text: str) -> bool:
    """Whether a file chooses its device, or lets somebody choose, so that it may be the CPU."""
    return _PROVIDES_FOR_THE_CPU.search(_code(text)) is not None


@functools.lru_cache(maxsize=4)
def follows_others(text: str) -> bool:
    """Whether a file puts some of its tensors wherever others are."""
    return _FOLLOWS_OTHERS.search(_code(text)) is not None


@functools.lru_cache(maxsize=4)
def demands_on_purpose(text: str) -> bool:
    """Whether a file needs a GPU anyway: it sets one up, or talks to CUDA itself."""
    return _ON_PURPOSE.search(text) is not None


@functools.lru_cache(maxsize=4)
def works_on_purpose(text: str) -> bool:
    """Whether it does more with CUDA than to ask for its state, which a condition can guard."""
    return _WORKS_ON_PURPOSE.search(text) is not None


@functools.lru_cache(maxsize=4)
def needs_accelerators(text: str) -> bool:
    """Whether a file does what only accelerators can do, besides asking for their state."""
    return _NEEDS_ONE.search(text) is not None or imports_for_cuda_only(text)


@functools.lru_cache(maxsize=4)
def imports_for_cuda_only(text: str) -> bool:
    """Whether a file needs a library that there is for CUDA alone."""
    return _ONLY_ON_CUDA.search(text) is not None
