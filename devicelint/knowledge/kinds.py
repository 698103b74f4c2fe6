"""What the classes beside modules and tensors are: optimizers, loaders, autocasts and so on.

`kinds.pyi` lists those of torch, and a file below `frameworks` those of each other library.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from devicelint.knowledge import catalogue
from devicelint.knowledge.stubs_index import FOLDER, StubError

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
    "module",
    "model",
    "metric",
    "transformation",
    "transform",
    "distribution",
    "writer",
    "swa-model",
    "tool",
    "placer",
    "bundle",
]
"""The kinds that a catalogue of classes may state, spelled there as `GradMode` for "grad-mode"."""

MODULE_KINDS = frozenset({"module", "model", "metric", "transformation"})
"""The kinds of classes that derive from `nn.Module`."""

_SAME_ROOT = {"pytorch_lightning": "lightning.pytorch", "lightning_fabric": "lightning.fabric"}
"""Packages that only give another one's classes a second address."""
_WILD = "any"


def _spelling(kind: ThingKind) -> str:
    return "".join(part.capitalize() for part in kind.split("-"))


_BY_MARK: Mapping[str, ThingKind] = {_spelling(kind): kind for kind in get_args(ThingKind)}


@functools.cache
def kind_of(qualified_name: str) -> ThingKind | None:
    """What such a name makes when it is called; None: not known."""
    return _BY_MARK.get(mark_of(qualified_name) or "")


@functools.cache
def mark_of(qualified_name: str) -> str | None:
    """What a catalogue says of a name, or of the one that it is listed as."""
    found = _own_mark(qualified_name)
    return mark_of(found) if found is not None and "." in found else found


@functools.cache
def listed_as(qualified_name: str) -> str:
    """The class under which the methods of such a class are listed."""
    found = _own_mark(qualified_name)
    if found is not None and "." in found:
        return listed_as(found)
    return next((n for n in _addresses(qualified_name) if n in _marks(n)), qualified_name)


@functools.cache
def member_mark(qualified_name: str, member: str) -> str | None:
    """What a catalogue says of a method or an attribute of the objects of a class."""
    listed = listed_as(qualified_name)
    marks = _marks(listed)
    return marks.get(f"{listed}.{member}", marks.get(f"{listed}.{catalogue.DEFAULT}"))


def _own_mark(qualified_name: str) -> str | None:
    root, _, rest = qualified_name.partition(".")
    name = f"{_SAME_ROOT[root]}.{rest}" if root in _SAME_ROOT else qualified_name
    marks = _marks(name)
    for address in _addresses(name):
        if address in marks:
            return marks[address]
    return _by_pattern(name) or _by_default(name)


def _addresses(qualified_name: str) -> Iterator[str]:
    """`torch.optim.SGD` for `torch.optim.sgd.SGD`: the places where a class may be listed."""
    yield qualified_name
    module, _, name = qualified_name.rpartition(".")
    while "." in module and (name[:1].isupper() or module.count(".") > 1):
        module = module.rpartition(".")[0]
        yield f"{module}.{name}"
        if qualified_name.startswith("torch."):
            return


def _by_pattern(qualified_name: str) -> str | None:
    module, _, name = qualified_name.rpartition(".")
    while module:
        for pattern, mark in _patterns(module):
            if pattern.fullmatch(name):
                return mark
        module = module.rpartition(".")[0]
    return None


def _by_default(qualified_name: str) -> str | None:
    """What the nearest module says of all that it does not list: of no class's members."""
    module = qualified_name.rpartition(".")[0]
    while module:
        found = _marks(module).get(f"{module}.{catalogue.DEFAULT}")
        outer, _, name = module.rpartition(".")
        if found is not None or name[:1].isupper():
            return found
        module = outer
    return None


@functools.cache
def _patterns(module: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The names of a module with `any` at one end or both, in the order of the file."""
    found = []
    for address, mark in _marks(module).items():
        owner, _, name = address.rpartition(".")
        parts = name.split("_")
        if owner == module and _WILD in parts:
            text = "_".join(".*" if part == _WILD else re.escape(part) for part in parts)
            found.append((re.compile(text.replace(".*_", ".*").replace("_.*", ".*")), mark))
    return tuple(found)


def _marks(qualified_name: str) -> Mapping[str, str]:
    return _marks_of(qualified_name.partition(".")[0])


@functools.cache
def _marks_of(root: str) -> Mapping[str, str]:
    if root == "torch":
        marks = catalogue.read("kinds")
        for name, mark in marks.items():
            if mark not in _BY_MARK and mark != "Unknown":
                raise StubError(f"kinds.pyi: {name}: unknown mark {mark}")
        return marks
    file = _frameworks().get(root)
    return {} if file is None else catalogue.read(file)


@functools.cache
def _frameworks() -> Mapping[str, str]:
    """The file of each library below `frameworks`."""
    found = (FOLDER / "frameworks").rglob("*.pyi")
    return {path.stem: path.relative_to(FOLDER).with_suffix("").as_posix() for path in found}
