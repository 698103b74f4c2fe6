"""What the classes beside modules and tensors are: optimizers, loaders, autocasts and so on."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Literal, get_args

from devicelint.knowledge import catalogue
from devicelint.knowledge.stubs_index import StubError

ThingKind = Literal[
    "optimizer",
    "scheduler",
    "loader",
    "dataset",
    "sampler",
    "scaler",
    "autocast",
    "generator",
    "grad-mode",
    "distributed",
    "model",
    "transform",
    "distribution",
    "writer",
    "swa-model",
]
"""The kinds that a catalogue of classes may state, spelled there as `GradMode` for "grad-mode"."""


def _spelling(kind: ThingKind) -> str:
    return "".join(part.capitalize() for part in kind.split("-"))


_BY_MARK: Mapping[str, ThingKind] = {_spelling(kind): kind for kind in get_args(ThingKind)}


@functools.cache
def kind_of(qualified_name: str) -> ThingKind | None:
    """What such a name makes when it is called; None: not known."""
    marks = _marks()
    mark = catalogue.lookup(marks, qualified_name)
    if mark is None:
        mark = catalogue.lookup(marks, _re_exported(qualified_name))
    kind = None if mark is None else _BY_MARK.get(mark)
    if kind == "model" and not qualified_name.rpartition(".")[2][:1].islower():
        return None
    return kind


def _re_exported(qualified_name: str) -> str:
    """`torch.optim.SGD` for `torch.optim.sgd.SGD`: where a class is listed."""
    module, _, name = qualified_name.rpartition(".")
    return f"{module.rpartition('.')[0]}.{name}"


@functools.cache
def _marks() -> Mapping[str, str]:
    marks = catalogue.read("kinds")
    for name, mark in marks.items():
        if mark not in _BY_MARK and mark != "Unknown":
            raise StubError(f"kinds.pyi: {name}: unknown mark {mark}")
    return marks
