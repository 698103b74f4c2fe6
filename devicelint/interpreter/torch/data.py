"""Datasets and DataLoaders: what a batch is made of, and where."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, DeviceOf
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    Array,
    Batch,
    Class,
    Const,
    Dataset,
    DictOf,
    Function,
    HostValue,
    ImportedName,
    Instance,
    ListOf,
    Loader,
    Placed,
    Stream,
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
    enters,
    items,
    library_class,
    methods,
)
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.failures import fail
from devicelint.interpreter.facts.host_callers import note_workers_calls
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.conditions import truth_of
from devicelint.interpreter.python.containers.contents import element_in, element_of, loaded_at
from devicelint.interpreter.python.containers.fields import ELEMENT
from devicelint.interpreter.python.containers.subscripts import key_of
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.torch.collating import collated
from devicelint.interpreter.torch.data_workers import note_workers
from devicelint.interpreter.torch.host_reads import note_pins
from devicelint.interpreter.torch.modules.copies import Copier
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
        part = held if last == "Subset" else element_of(run, held, site)
        item = item_of_dataset(run, part, site)
        return Dataset(item if item is not None else Unknown("a part of a dataset"), site)
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
            return _item_of_instance(run, value)
        case _:
            return None


def _item_of_instance(run: Run, value: Instance) -> Value | None:
    cls = run.state.read(value.ref, CLASS_FIELD)
    method = class_member(run, cls, "__getitem__") if isinstance(cls, Class) else None
    if not isinstance(method, Function):
        return None
    assert isinstance(method.node, cst.FunctionDef)
    index = Arguments([Argument(method.node, HostValue(least=0))])
    with run.muted():
        return call_function(run, method, index, None, receiver=value)


@library_class("loader")
def make_loader(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A loader, of which workers and pinned memory are checked as well."""
    note_workers(run, arguments, site)
    size = arguments.get(1, "batch_size")
    if size is not None and size.value == Const(0) and not run.expects("ValueError"):
        fail(run)
    return note_pins(run, build_loader(run, arguments, site), arguments, site)


def build_loader(run: Run, arguments: Arguments, site: cst.Call) -> Value:
    """A DataLoader yields CPU tensors, unless its dataset or collate function moves them."""
    pinned = arguments.get(_PIN_MEMORY, "pin_memory")
    pins = pinned is not None and truth_of(run, pinned.value) is True
    dataset = arguments.get(0, "dataset")
    item = item_of_dataset(run, dataset.value, site) if dataset is not None else None
    collate = arguments.get(6, "collate_fn")
    for given in (dataset, collate):
        if given is not None:
            note_workers_calls(run, given.value)
    is_unseen = item is None
    if item is None and dataset is not None and _is_told_of_device(run, dataset.value):
        item = Unknown("a dataset that knows of a device may use it")
    if item is None:
        item = _from_outside(site, pins=pins)
    if collate is not None and collate.value != NONE:
        made = collated(run, collate.value, item, site)
        own = is_unseen and not pins
        return Loader(_batch(run, made, site, believed=own, as_made=True), pins, site)
    return Loader(item if is_unseen else _batch(run, item, site), pins, site)


def _is_told_of_device(run: Run, dataset: Value) -> bool:
    """Whether what is not seen was made with a device: `Images(folder, device=device)`."""
    made = dataset.symbol.site if isinstance(dataset, Unknown) and dataset.symbol else None
    given = made.args if isinstance(made, cst.Call) else ()
    return any(asks_for_device(run, one.value) for one in given)


_PIN_MEMORY = 7


def _from_outside(site: cst.Call, *, pins: bool) -> Value:
    """A dataset that is not seen: pinning needs its tensors on the CPU, and so do workers."""
    return Batch(CPU, Step(Verb.LOADED, site, CPU, believed=not pins))


def _batch(
    run: Run, item: Value, site: cst.Call, *, believed: bool = False, as_made: bool = False
) -> Value:
    """What the default collate function makes of items; what another one made is a batch as it is.

    Numbers become tensors by the default alone.
    """
    since = Step(Verb.LOADED, site, CPU, believed=believed)

    def batch_of(one: Value) -> Value:
        return _batch(run, one, site, believed=believed, as_made=as_made)

    match item:
        case Tensor(device=DeviceOf(is_unseen=True)):
            return Unknown("what the dataset yields comes of code that is not seen")
        case Tensor():
            return Tensor(item.device, replace(since, device=item.device), False, item.grad)
        case Batch():
            return replace(item, since=replace(since, device=item.device))
        case HostValue() | Array() | Const():
            return item if as_made else _batch_of_host(item, since)
        case Instance() if as_made:
            return item
        case ListOf() if not as_made:
            element = element_in(run, run.state.fields(item.ref))
            return Stream(batch_of(element), filled=True)
        case Tuple(items):
            return Tuple(tuple(map(batch_of, items)))
        case DictOf() | ListOf():
            made = replace(item, ref=run.allocate(site, f"batch of {item.ref}"))
            for field, value in tuple(run.state.fields(item.ref).items()):
                is_note = field.startswith("@") and field != ELEMENT
                run.state.write(
                    made.ref, field, value if is_note else _part(batch_of(value), field)
                )
            return made
        case Stream(element):
            return Stream(batch_of(element), filled=True)
        case _:
            return Unknown("what the dataset yields is not known")


def _batch_of_host(item: Value, since: Step) -> Value:
    """Numbers become a tensor, and texts a list of texts."""
    match item:
        case Array() | Const(bool() | int() | float()) | HostValue(least=int()):
            return Tensor(CPU, since, False, False)
        case _:
            return Batch(CPU, since, whole=False)


def _part(value: Value, name: str) -> Value:
    """What a batch holds under a name."""
    if isinstance(value, (Tensor, Batch)):
        return replace(value, since=replace(value.since, part=name))
    return value


@methods(Loader)
def method_of_loader(run: Run, receiver: Loader, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name in MOVES:
        return move_deviceless(run, receiver, "DataLoader", name, node, arguments)
    if name in ("next", "__next__"):
        # An iterator over it had `next` before torch 1.13.
        assert isinstance(node.func, cst.Attribute)
        over = Arguments([Argument(node.func.value, receiver)])
        return run.call(ImportedName("builtins.next"), over, node)
    return Unknown(f"DataLoader.{name}()")


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


@attributes(Loader)
def of_loader(run: Run, value: Loader, name: str, node: cst.Attribute) -> Value:
    return Dataset(value.item, value.site) if name == "dataset" else HOST


@elements(Loader)
def _batch_of_loader(run: Run, value: Loader, site: Site) -> Value:
    if isinstance(value.item, TensorDict):
        return fresh(run, value.item, site)
    if isinstance(value.item, Instance):
        return Copier(run, site, lambda tensor: tensor).copy(value.item)
    return loaded_at(value.item, site, pinned=value.pinned)


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


@enters(Loader)
def _enter_loader(run: Run, value: Loader, item: cst.WithItem) -> AbstractContextManager[Value]:
    return nullcontext(value)
