"""Extensions of torch that a program builds as it runs: CUDA's compiler has to be there."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CUDA_SOURCES
from devicelint.domain.values import NONE, Const, HostValue, Unknown, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.facts.failures import insist
from devicelint.interpreter.python.containers.contents import parts_of

_MODULE = "torch.utils.cpp_extension"


@function(f"{_MODULE}.load")
def load(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What is built from files, which say by their names what they are."""
    sources = arguments.get(1, "sources")
    files = () if sources is None else (sources.value, *parts_of(run, sources.value))
    if any(map(_is_cuda_code, files)) or _is_asked_for(arguments):
        insist(run)
    return Unknown("an extension")


@function(f"{_MODULE}.load_inline")
def load_inline(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What is built from code in strings."""
    sources = arguments.get(2, "cuda_sources")
    if (sources is not None and sources.value != NONE) or _is_asked_for(arguments):
        insist(run)
    return Unknown("an extension")


def _is_cuda_code(value: Value) -> bool:
    """Whether a file is for CUDA's compiler, as far as its name is spelled."""
    match value:
        case Const(str(path)) | HostValue(name=str(path)):
            return path.endswith(CUDA_SOURCES)
        case _:
            return False


def _is_asked_for(arguments: Arguments) -> bool:
    given = arguments.keywords.get("with_cuda")
    return given is not None and given.value == Const(True)
