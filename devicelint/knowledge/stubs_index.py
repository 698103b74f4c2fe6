"""Finds one definition in the stub files without parsing the others.

A stub file is scanned once for the names at the start of its lines; what a name states is parsed
when it is first asked for.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from devicelint.knowledge.grammar import GrammarError

FOLDER = Path(__file__).parent / "stubs"

SOURCES: Mapping[str, tuple[str, ...]] = {
    "torch": (
        "creation",
        "elementwise",
        "reductions",
        "shapes",
        "indexing",
        "matrices",
        "runtime",
        "rare",
        "derived/torch",
    ),
    "torch.Tensor": ("tensor", "tensor_rare", "derived/tensor"),
    "torch.nn.functional": ("nn/functional", "nn/functional_losses", "derived/functional"),
    "torch.nn.init": ("nn/init",),
    "torch.nn.utils": ("nn/utils",),
    "torch.nn.utils.rnn": ("nn/rnn_utils",),
    "torch.nn.utils.parametrizations": ("nn/parametrizations",),
    "torch.nn.SyncBatchNorm": ("nn/sync_batch_norm",),
    "torch.nn": ("nn/modules", "nn/losses", "nn/activations"),
    "torch.linalg": ("linalg",),
    "torch.fft": ("fft",),
    "torch.special": ("special",),
    "torch.sparse": ("sparse", "derived/sparse"),
    "torch.masked": ("derived/masked",),
    "torch.ops.aten": ("derived/aten",),
    "torch.nested": ("nested", "derived/nested"),
    "torch.signal.windows": ("derived/windows",),
    "torch.jit": ("jit",),
    "torch.autograd": ("autograd",),
    "torch.utils.data": ("data",),
    "torch.testing": ("testing",),
    "einops": ("libraries/einops",),
    "opt_einsum": ("libraries/opt_einsum",),
    "torchvision.utils": ("libraries/torchvision_utils",),
    "torchvision.ops": ("libraries/torchvision_ops",),
    "torchmetrics.functional": ("libraries/torchmetrics_functional",),
}
"""The stub files that describe each module of torch."""

DERIVED = "derived/"
"""The folder of the generated files; what is written by hand wins over it."""

_TOP = re.compile(r"^(?:def|class) (\w+)|^(\w+) = ", re.MULTILINE)
_MEMBER = re.compile(r"^    (?:def (\w+)|(\w+)(?: = |: ))", re.MULTILINE)


class StubError(Exception):
    """A stub file breaks the grammar; says where."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The text of one definition, and where it stands."""

    file: str
    line: int
    text: str

    def parse(self) -> ast.stmt:
        """The one statement of the definition."""
        try:
            return ast.parse(self.text).body[0]
        except SyntaxError as error:
            raise self.error(error.lineno or 1, error.msg) from error

    def error(self, line: int, message: str) -> StubError:
        """An error at a line of the definition, counted from 1."""
        return StubError(f"{self.file}.pyi:{self.line + line - 1}: {message}")

    def rejected(self, error: GrammarError) -> StubError:
        """The grammar's complaint, with the file that it is about."""
        return self.error(error.line, error.message)


@functools.cache
def index(module: str) -> Mapping[str, Definition]:
    """The definitions of a module by name; nothing for a module that no stub describes."""
    found: dict[str, Definition] = {}
    for file in SOURCES.get(module, ()):
        text = (FOLDER / f"{file}.pyi").read_text(encoding="utf-8")
        members = module == "torch.Tensor"
        for name, definition in _scan(text, file, members):
            if name in found and file.startswith(DERIVED):
                continue
            if name in found:
                raise definition.error(1, f"{name} is already in {found[name].file}.pyi")
            found[name] = definition
    return found


def _scan(text: str, file: str, members: bool) -> Iterator[tuple[str, Definition]]:
    places = list((_MEMBER if members else _TOP).finditer(text))
    ends = [*(place.start() for place in places[1:]), len(text)]
    line, seen = 1, 0
    for place, end in zip(places, ends, strict=False):
        start = place.start()
        line, seen = line + text.count("\n", seen, start), start
        body = text[start:end]
        yield place[1] or place[2], Definition(file, line, _dedent(body) if members else body)


def _dedent(text: str) -> str:
    return text.replace("\n    ", "\n").removeprefix("    ")
