"""Which words mean a device, an accelerator, or a use of one: of identifiers, options, strings.

A word is a part of an identifier, between underscores, digits and changes of case: `useCuda`,
`n_gpu` and `--no-cuda` have a word for an accelerator, `input` and `dumps` have none.
"""

from __future__ import annotations

import functools
import re

import libcst as cst

from devicelint.domain.devices import DEVICE_TYPES
from devicelint.interpreter.facts.name_uses import last_name

MOVES = frozenset({"to", "cuda", "cpu", "xpu", "to_empty"})
"""The methods that bring something to a device."""
USUAL_NAMES = ("device", "dev", "DEVICE", "torch_device")
"""What scripts call the device that they chose, the usual name before others."""

_WORD = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+|[A-Z]")
_STEMS = ("cuda", "gpu", "accel", "nvidia", "rocm")
"""What means an accelerator wherever a word has it: `usecuda`, `ngpus`, `accelerator`."""
_ACCELERATORS = frozenset({"xpu", "mps", "npu", "tpu", "hpu"})
_HOLDERS = frozenset({"dev", "rank"})
_SWITCHES = frozenset({"no", "disable", "use"})
_OPTIONS = frozenset({"device", "cuda", "gpu", "accel"})
_OF_OPTIONS = frozenset({"id", "ids"})


@functools.lru_cache(maxsize=10_000)
def words_of(text: str) -> tuple[str, ...]:
    """The words of one identifier, or of several, in lower case."""
    return tuple(word.lower() for word in _WORD.findall(text))


def means_accelerator(text: str) -> bool:
    """Whether a word means an accelerator: `use_cuda`, `ngpus`, `mps`."""
    return any(_is_accelerator(word) for word in words_of(text))


def means_device(text: str) -> bool:
    """Whether a word means a device, and not the CPU alone: `device_ids`, `use_cuda`."""
    return any(_is_accelerator(word) or "device" in word for word in words_of(text))


def names_device_type(text: str) -> bool:
    """Whether strings name devices, as far as anybody would write them: "cuda:0", "gpu"."""
    return means_device(text) or not DEVICE_TYPES.isdisjoint(words_of(text))


def holds_device(path: str) -> bool:
    """Whether a name is one for a device, or for the number of one: `self.dev`, `local_rank`."""
    name = path.rpartition(".")[2]
    return means_device(name) or not _HOLDERS.isdisjoint(words_of(name))


def takes_device(function: str) -> bool:
    """Whether a function is given a device, by its own name: `to`, `cuda`, `set_device`."""
    return function in MOVES or any("device" in word for word in words_of(function))


def is_device_option(option: str) -> bool:
    """Whether an option of a command line chooses the device: `no_cuda`, `gpus`, `device_ids`."""
    words = [word.removesuffix("s") for word in words_of(option) if word not in _SWITCHES]
    return bool(words) and words[0] in _OPTIONS and _OF_OPTIONS.issuperset(words[1:])


def is_cpu(node: cst.BaseExpression) -> bool:
    """`"cpu"`, or `torch.device("cpu")`."""
    match node:
        case cst.SimpleString():
            return bool(node.raw_value == "cpu")
        case cst.Call(func=func, args=[cst.Arg(value=cst.SimpleString() as given)]):
            return last_name(func) == "device" and is_cpu(given)
        case _:
            return False


def _is_accelerator(word: str) -> bool:
    return word in _ACCELERATORS or any(stem in word for stem in _STEMS)
