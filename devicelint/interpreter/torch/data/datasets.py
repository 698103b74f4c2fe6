"""Datasets: what indexing one gives, or iterating over it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    Array,
    Batch,
    Class,
    Dataset,
    Function,
    HostValue,
    Instance,
    ListOf,
    Placed,
    Tensor,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD, class_member, fresh
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    elements,
    items,
    library_class,
    methods,
)
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import element_in, element_of
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.torch.transfers import move_deviceless


@library_class("dataset")
def build_dataset(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A dataset of torch or torchvision."""
    last = name.rpartition(".")[2]
    if last == "TensorDataset":
        if arguments.open:
            return Dataset(Unknown("tensors of unknown number"), site)
        given = (*arguments.positional, *arguments.keywords.values())
        return Dataset(Tuple(tuple(_row(one.value) for one in given)), site)
    if last in ("Subset", "ConcatDataset", "ChainDataset"):
        inner = arguments.get(0, "dataset" if last == "Subset" else "datasets")
        held = inner.value if inner is not None else NONE
        whole = held if last == "Subset" else element_of(run, held, site)
        with ahead(run):
            item = item_of_dataset(run, whole, site)
        item = Unknown("a part of a dataset") if item is None else item
        return Dataset(item, site, part_of=whole)
    since = Step(Verb.CREATED, site, CPU)
    numbered = last in _NUMBERED and not ({"target_transform"} & arguments.keywords.keys())
    return Dataset(Batch(CPU, since), site, last in _KEPT_AS_TENSORS, numbered)


_KEPT_AS_TENSORS = frozenset({"MNIST", "FashionMNIST", "KMNIST", "QMNIST", "EMNIST"})
_NUMBERED = _KEPT_AS_TENSORS | {"CIFAR10", "CIFAR100", "ImageFolder", "STL10", "SVHN"}
_WHOLE = frozenset("data targets train_data train_labels test_data test_labels".split())
"""Under which names these give all of their pictures or labels."""


def _row(value: Value) -> Value:
    return replace(value, scalar=None) if isinstance(value, Tensor) else value


def item_of_dataset(run: Run, value: Value, site: cst.CSTNode) -> Value | None:
    """What indexing a dataset gives; None where nothing is known of it."""
    match value:
        case Dataset(part_of=Instance() | Dataset() as whole):
            return item_of_dataset(run, whole, site)
        case Dataset(item):
            return item
        case ListOf():
            return element_in(run, run.state.fields(value.ref))
        case Tensor():
            return _row(value)
        case Array():
            return value
        case Placed(device, since):
            return Batch(device, since, whole=False)
        case Instance():
            return _item_of_instance(run, value, site)
        case _:
            return None


def _item_of_instance(run: Run, value: Instance, site: cst.CSTNode) -> Value | None:
    """What its `__getitem__` gives, or what `__iter__` yields where it has no other."""
    cls = run.state.read(value.ref, CLASS_FIELD)
    if not isinstance(cls, Class):
        return None
    method = class_member(run, cls, "__getitem__")
    if not isinstance(method, Function):
        yields = isinstance(class_member(run, cls, "__iter__"), Function)
        return element_of(run, value, site) if yields else None
    index = Arguments([Argument(method.node, HostValue(least=0))])
    return call_function(run, method, index, None, receiver=value)


@contextmanager
def ahead(run: Run) -> Iterator[None]:
    """Ask what something will give: nothing of it happens yet, not even what fails."""
    before = run.state.failed, run.state.dead, run.state.doubted
    with run.muted():
        yield
    run.state.failed, run.state.dead, run.state.doubted = before


@attributes(Dataset)
def of_dataset(run: Run, value: Dataset, name: str, node: cst.Attribute) -> Value:
    """The tensors that a TensorDataset was made of, or that a dataset of digits keeps."""
    if name in _WHOLE and value.kept:
        return Tensor(CPU, Step(Verb.CONVERTED, node, CPU), False, False)
    if name == "tensors" and isinstance(value.item, Tuple):
        return Tuple(tuple(_whole(item) for item in value.item.items))
    return Unknown(f"a dataset's {name}")


def _whole(item: Value) -> Value:
    return replace(item, scalar=False) if isinstance(item, Tensor) else item


@methods(Dataset)
def method_of_dataset(run: Run, receiver: Dataset, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name in MOVES:
        return move_deviceless(run, receiver, "dataset", name, node, arguments)
    return Unknown(f"a dataset's {name}()")


@elements(Dataset)
def _row_of_dataset(run: Run, value: Dataset, site: Site) -> Value:
    if value.numbered and isinstance(value.item, Batch):
        return Tuple((Tensor(value.item.device, value.item.since), HOST))
    return fresh(run, value.item, site) if isinstance(value.item, TensorDict) else value.item


@items(Dataset)
def _item_of_dataset(run: Run, value: Dataset, node: cst.Subscript) -> Value:
    key_of(run, node)
    return (
        value if isinstance(node.slice[0].slice, cst.Slice) else _row_of_dataset(run, value, node)
    )
