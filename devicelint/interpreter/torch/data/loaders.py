"""DataLoaders: what is made of the samples of a dataset, and when that is run."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import libcst as cst

from devicelint.domain.devices import CPU
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    Batch,
    Const,
    Dataset,
    ImportedName,
    Instance,
    Loader,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import fresh
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    elements,
    enters,
    library_class,
    methods,
)
from devicelint.interpreter.facts.device_settings import asks_for_device
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.facts.failures import fail
from devicelint.interpreter.facts.host_callers import note_workers_calls
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.conditions import truth_of
from devicelint.interpreter.python.containers.contents import loaded_at
from devicelint.interpreter.torch.data.batches import batch_of
from devicelint.interpreter.torch.data.collating import collated
from devicelint.interpreter.torch.data.datasets import ahead, item_of_dataset
from devicelint.interpreter.torch.data.workers import has_workers, note_workers
from devicelint.interpreter.torch.host_reads import note_pins
from devicelint.interpreter.torch.modules.copies import Copier
from devicelint.interpreter.torch.transfers import move_deviceless


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
    dataset, collate = _given(arguments, 0, "dataset"), _given(arguments, 6, "collate_fn")
    for given in (dataset, collate):
        if given is not None:
            note_workers_calls(run, given)
    with ahead(run):
        batch = _batch(run, dataset, collate, site, pins=pins)
    if pins or (has_workers(run, arguments) and not _is_told_of_device(run, dataset)):
        batch = _with_unseen_on_the_cpu(batch, site, pins=pins)
    return Loader(batch, pins, site, dataset, collate)


def _with_unseen_on_the_cpu(batch: Value, site: cst.Call, *, pins: bool) -> Value:
    """What a loader with workers or pinned memory yields, with what nobody sees of it."""
    match batch:
        case Unknown():
            return _from_outside(site, pins=pins)
        case Tuple(items, names):
            parts = (_with_unseen_on_the_cpu(item, site, pins=pins) for item in items)
            return Tuple(tuple(parts), names)
        case _:
            return batch


def _given(arguments: Arguments, position: int, name: str) -> Value | None:
    argument = arguments.get(position, name)
    return None if argument is None or argument.value == NONE else argument.value


def _batch(
    run: Run, dataset: Value | None, collate: Value | None, site: cst.Call, *, pins: bool
) -> Value:
    item = item_of_dataset(run, dataset, site) if dataset is not None else None
    is_unseen = item is None
    if item is None and _is_told_of_device(run, dataset):
        item = Unknown("a dataset that knows of a device may use it")
    if item is None:
        item = _from_outside(site, pins=pins)
    if collate is not None:
        made = collated(run, collate, item, site)
        return batch_of(run, made, site, believed=is_unseen and not pins, as_made=True)
    return item if is_unseen else batch_of(run, item, site)


def _run_code(run: Run, loader: Loader, site: Site) -> None:
    """Walk the program's code that makes a batch, as it runs where the loader is iterated."""
    if run.muted_parts or not isinstance(site, cst.CSTNode):
        return
    item = None if loader.dataset is None else item_of_dataset(run, loader.dataset, site)
    if loader.collate is not None:
        samples = Unknown("samples that nobody sees") if item is None else item
        collated(run, loader.collate, samples, site)


def _is_told_of_device(run: Run, dataset: Value | None) -> bool:
    """Whether what is not seen was made with a device: `Images(folder, device=device)`."""
    made = dataset.symbol.site if isinstance(dataset, Unknown) and dataset.symbol else None
    given = made.args if isinstance(made, cst.Call) else ()
    return any(asks_for_device(run, one.value) for one in given)


_PIN_MEMORY = 7


def _from_outside(site: cst.Call, *, pins: bool) -> Value:
    """A dataset that is not seen: pinning needs its tensors on the CPU, and so do workers."""
    return Batch(CPU, Step(Verb.LOADED, site, CPU, believed=not pins))


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


@attributes(Loader)
def of_loader(run: Run, value: Loader, name: str, node: cst.Attribute) -> Value:
    if name != "dataset":
        return HOST
    return Dataset(value.item, value.site) if value.dataset is None else value.dataset


@elements(Loader)
def _batch_of_loader(run: Run, value: Loader, site: Site) -> Value:
    _run_code(run, value, site)
    if isinstance(value.item, TensorDict):
        return fresh(run, value.item, site)
    if isinstance(value.item, Instance):
        return Copier(run, site, lambda tensor: tensor).copy(value.item)
    return loaded_at(value.item, site, pinned=value.pinned)


@enters(Loader)
def _enter_loader(run: Run, value: Loader, item: cst.WithItem) -> AbstractContextManager[Value]:
    return nullcontext(value)
