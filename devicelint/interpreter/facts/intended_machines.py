"""Which machines a file is for, by what its code names and how it chooses its devices."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import libcst as cst

from devicelint.interpreter.engine.nodes import descendants
from devicelint.interpreter.facts.device_words import is_cpu, is_device_option
from devicelint.interpreter.facts.mentions import Mentions, mentions_in, path_of

_SETS_UP = (
    *("init_process_group", "LOCAL_RANK", "load_inline", "cpp_extension", "triton", "cupy"),
    *("pycuda", "numba", "tensorrt", "flash_attn", "deepspeed", "device_ids"),
)
"""What sets up processes or kernels for accelerators."""
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
_ASKED = ("cuda", "mps", "xpu", "npu", "accelerator")
_CHOOSES = ("no_cuda", "no_gpu", "no_accel")
_USES = frozenset({"use_cuda", "use_gpu"})


@functools.lru_cache(maxsize=4)
def provides_for_the_cpu(tree: cst.Module) -> bool:
    """Whether a file chooses its device, or lets somebody choose, so that it may be the CPU."""
    mentions = mentions_in(tree)
    if "current_accelerator" in mentions.names or any(map(_chooses, mentions.words)):
        return True
    if any("is_available" in mentions.members.get(one, ()) for one in _ASKED):
        return True
    return any(map(_leaves_a_choice, descendants(tree)))


def _chooses(word: str) -> bool:
    """`--device`, `--no-cuda`, `use_gpu`."""
    plain = word.lstrip("-").replace("-", "_").lower()
    return plain.startswith(_CHOOSES) or plain in _USES or word in ("--device", "-device")


def _leaves_a_choice(node: cst.CSTNode) -> bool:
    """Whether the CPU is what is taken else, or by default, or a setting decides."""
    match node:
        case cst.IfExp():
            return is_cpu(node.orelse) or is_cpu(node.body) or _asks_setting(node.test)
        case cst.If():
            return _asks_setting(node.test) or _is_cpu_else(node.orelse)
        case cst.Arg(keyword=cst.Name("default"), value=given):
            return is_cpu(given)
        case cst.Param(name=cst.Name(name), default=cst.BaseExpression() as given):
            return "device" in name.lower() and is_cpu(given)
        case cst.AnnAssign(target=cst.Name(name), value=cst.BaseExpression() as given):
            return name.lower().startswith("device") and is_cpu(given)
        case cst.Call(func=cst.Attribute(attr=cst.Name("add_argument"))):
            return _is_switch(node)
        case _:
            return False


def _asks_setting(test: cst.BaseExpression) -> bool:
    """`if args.cuda`, `if not use_gpu`; not `if x.is_cuda`."""
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test = test.expression
    words = path_of(test).lower().split(".")
    return words[-1].endswith(("cuda", "gpu")) and not any(one.startswith("is_") for one in words)


def _is_cpu_else(otherwise: cst.If | cst.Else | None) -> bool:
    """`else: device = "cpu"`."""
    match otherwise:
        case cst.Else(body=cst.BaseSuite(body=[first, *_])):
            written = first.body[0] if isinstance(first, cst.SimpleStatementLine) else first
            return isinstance(written, cst.Assign) and is_cpu(written.value)
        case _:
            return False


def _is_switch(call: cst.Call) -> bool:
    """`add_argument("--cuda", action="store_true")`."""
    strings = [one.value for one in call.args if isinstance(one.value, cst.SimpleString)]
    options = [one.raw_value for one in strings]
    names = [one.lstrip("-") for one in options if one.startswith("-")]
    is_choice = any(is_device_option(one) or one.startswith(("accel", "cpu")) for one in names)
    is_bool = any(path_of(one.value) == "bool" for one in call.args)
    return is_choice and (is_bool or any(one.startswith("store_") for one in options))


@functools.lru_cache(maxsize=4)
def follows_others(tree: cst.Module) -> bool:
    """Whether a file puts some of its tensors wherever others are."""
    mentions = mentions_in(tree)
    if any(name in ("type_as", "new") or name.startswith("new_") for name in mentions.methods):
        return True
    return any({"device", "is_cuda"} & held for held in mentions.members.values())


@functools.lru_cache(maxsize=4)
def demands_on_purpose(tree: cst.Module) -> bool:
    """Whether a file needs a GPU anyway: it sets one up, or talks to CUDA itself."""
    mentions = mentions_in(tree)
    return _asks_cuda_for(mentions, _ASKS) or works_on_purpose(tree)


@functools.lru_cache(maxsize=4)
def works_on_purpose(tree: cst.Module) -> bool:
    """Whether it does more with CUDA than to ask for its state, which a condition can guard."""
    mentions = mentions_in(tree)
    return _asks_cuda_for(mentions, _WORKS) or _sets_up(mentions)


@functools.lru_cache(maxsize=4)
def needs_accelerators(tree: cst.Module) -> bool:
    """Whether a file does what only accelerators can do, besides asking for their state."""
    return _sets_up(mentions_in(tree)) or imports_for_cuda_only(tree)


def imports_for_cuda_only(tree: cst.Module) -> bool:
    """Whether a file needs a library that there is for CUDA alone."""
    return any(one.startswith(_ONLY_ON_CUDA) for one in mentions_in(tree).imports)


@functools.lru_cache(maxsize=16)
def imports_for(tree: cst.Module, kind: str) -> bool:
    """Whether a file needs a library that there is for this kind of accelerator alone."""
    if kind == "cuda":
        return imports_for_cuda_only(tree)
    return any(name.startswith(_ONLY_ON.get(kind, ())) for name in _needed(tree))


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
    is_nccl = any(one.startswith("nccl") for one in mentions.keywords.get("backend", ()))
    return is_nccl or any(stem in word for word in mentions.words for stem in _SETS_UP)
