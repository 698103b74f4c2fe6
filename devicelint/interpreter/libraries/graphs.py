"""Graphs of PyG and DGL: what they are made from, the datasets that hold them, their loaders."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import CPU, Device, Unsure
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    Batch,
    Const,
    Dataset,
    ImportedName,
    LibraryObject,
    ListOf,
    Loader,
    Placed,
    Tensor,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import fresh
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import library_call
from devicelint.interpreter.libraries.placement import given_device
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.torch.bundles import make_bundle, place_of
from devicelint.interpreter.torch.data.datasets import ahead, item_of_dataset

_GRAPH, _DATA = "dgl.DGLGraph", "torch_geometric.data.Data"


@library_call("GraphLoader")
def graph_loader(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """PyG's loaders yield graphs where those of the dataset are: on the CPU, mostly."""
    given = arguments.positional[0] if arguments.positional else None
    value = Unknown("no dataset") if given is None else given.value
    with ahead(run):
        item = value if isinstance(value, TensorDict) else item_of_dataset(run, value, site)
    if isinstance(item, TensorDict) and "transform" not in arguments.keywords:
        return Loader(fresh(run, item, site), False, site)
    return Loader(Unknown("graphs that may be moved"), False, site)


@library_call("BlockLoader")
def block_loader(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """DGL's loader samples to the device that it is given, else to that of its graph."""
    device = given_device(run, arguments, 99, site)
    if device is None or arguments.open:
        return Loader(Unknown("samples of a graph"), False, site)
    return Loader(Batch(device, Step(Verb.PLACED, site, device)), False, site)


@library_call("GraphDataset")
def graph_dataset(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A dataset holds graphs on the CPU, unless a transform of it moves them."""
    transforms = [one.value for name, one in arguments.keywords.items() if "transform" in name]
    if arguments.open or not all(
        isinstance(one, LibraryObject) or one == NONE for one in transforms
    ):
        return Dataset(Unknown("graphs that may be moved"), site)
    is_dgl = isinstance(receiver, ImportedName) and receiver.name.startswith("dgl.")
    place = Placed(CPU, Step(Verb.CONVERTED, site, CPU))
    return Dataset(make_bundle(run, _GRAPH if is_dgl else _DATA, place, site), site)


@library_call("Graph")
def graph(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A graph of DGL is on the device that is given, else where the tensors are that it has."""
    stated = given_device(run, arguments, 99, site)
    given = arguments.get(0, "data")
    device = stated or (Unsure("made from nothing") if given is None else _home_of(given.value))
    return _graph_on(run, device, site)


@library_call("HostGraph")
def host_graph(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`dgl.from_networkx(graph)`: on the CPU, unless another device is given."""
    given = arguments.keywords.get("device")
    if arguments.open or (given is not None and given_device(run, arguments, 99, site) is None):
        return _graph_on(run, Unsure("it may be told a device"), site)
    return _graph_on(run, given_device(run, arguments, 99, site) or CPU, site)


@library_call("GraphOf")
def graph_of(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`dgl.batch(graphs)`: a graph where those are."""
    given = arguments.get(0, "graphs")
    held = known_elements(run, given.value) if given is not None else None
    graphs = [one for one in held or () if isinstance(one, TensorDict)]
    devices = {place_of(run, one).device for one in graphs}
    if len(devices) == 1 and len(graphs) == len(held or ()):
        return fresh(run, graphs[0], site)
    return _graph_on(run, Unsure("made from unknown graphs"), site)


def _graph_on(run: Run, device: Device, site: cst.Call) -> TensorDict:
    step = Step(Verb.CONVERTED, site, device)
    return make_bundle(run, _GRAPH, Placed(device, step), site)


def _home_of(data: Value) -> Device:
    """Where `(sources, destinations)` lie: lists of numbers become tensors on the CPU."""
    parts = data.items if isinstance(data, Tuple) else (data,)
    for part in parts:
        if isinstance(part, Tensor):
            return part.device
    if all(isinstance(part, (ListOf, Const, type(HOST))) for part in parts):
        return CPU
    return Unsure("made from something unknown")
