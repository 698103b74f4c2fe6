"""Objects of libraries beside torch: models, metrics, tokenizers, and bundles of tensors."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devicelint.domain.devices import CPU, Device, Unsure
from devicelint.domain.events import Transfer
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    DeviceHandle,
    DictOf,
    FileSource,
    HostValue,
    ImportedName,
    LibraryObject,
    ListOf,
    Module,
    Placed,
    Stream,
    Tensor,
    TensorDict,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import fresh, module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import (
    attributes,
    calls,
    library_call,
    library_class,
    methods,
)
from devicelint.interpreter.facts.device_words import MOVES
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.python.containers.fields import name_of_field
from devicelint.interpreter.torch.bundles import (
    any_held,
    held_by,
    make_bundle,
    move_bundle,
    place_of,
)
from devicelint.interpreter.torch.devices.arguments import demand, device_named
from devicelint.interpreter.torch.devices.handed import note_handed
from devicelint.interpreter.torch.devices.written_out import note_model
from devicelint.interpreter.torch.marked_calls import marked_method
from devicelint.interpreter.torch.modules.opaque import call_opaque_module
from devicelint.interpreter.torch.modules.registration import built
from devicelint.interpreter.torch.transfers import target_of
from devicelint.knowledge import kind_of, member_mark


@library_class("model", "metric", "transformation")
def build_model(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A module of a library: on the CPU, unless a device is given."""
    device: Device = run.default_device
    given = arguments.keywords.get("device")
    if given is not None and given.value != NONE:
        device = device_named(run, given) or Unsure("the device is not known")
        device = demand(run, given, device, site, "device=")
        note_model(run, site)
    return built(run, site, name, device)


@library_class("tool", "transform")
def build_tool(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    note_handed(run, arguments)
    return LibraryObject(name, held=tuple(argument.value for argument in arguments))


@library_class("bundle")
def build_bundle(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`Data(x=x, y=y)`, `BatchEncoding({"x": x})`: it holds what it is given, wherever that is."""
    place = Placed(Unsure("what it was made from"), Step(Verb.CREATED, site, CPU))
    made = make_bundle(run, name, place, site)
    for field, argument in arguments.keywords.items():
        run.state.write(made.ref, field, argument.value)
    for given in arguments.positional[:1]:
        for field, value in _named(run, given.value):
            run.state.write(made.ref, field, value)
    return made


def _named(run: Run, value: Value) -> Iterator[tuple[str, Value]]:
    """What a dict holds under names."""
    if isinstance(value, DictOf):
        for field, held in run.state.fields(value.ref).items():
            if (name := name_of_field(field)) is not None:
                yield name, held


@methods(TensorDict)
def method_of_bundle(run: Run, receiver: TensorDict, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    if name in MOVES:
        return _move_bundle(run, receiver, name, arguments, node)
    if name in ("items", "values"):
        held = any_held(run, receiver)
        return Stream(held if name == "values" else Tuple((HOST, held)))
    if name in ("clone", "copy", "contiguous", "coalesce"):
        return fresh(run, receiver, node)
    mark = member_mark(receiver.name, name)
    if name == "keys" or mark == "Hosted":
        return HOST
    if mark == "Beside":
        return fresh(run, receiver, node)
    if mark == "Held":
        return held_by(run, receiver, name, node)
    return Unknown(f"{receiver.name}.{name}()")


def _move_bundle(
    run: Run, bundle: TensorDict, method: str, arguments: Arguments, node: cst.Call
) -> Value:
    """In place, with the object itself as the result; a graph of DGL is copied instead."""
    target, _ = target_of(run, method, arguments, node)
    assert isinstance(node.func, cst.Attribute)
    origin = place_of(run, bundle).device
    copied = member_mark(bundle.name, "to") == "Copied"
    moved = fresh(run, bundle, node) if copied else bundle
    if target is not None:
        names_fields = not copied and len(arguments.positional) > 1
        reached = Unsure("some of its fields are moved") if names_fields else target
        move_bundle(run, moved, reached, Step(Verb.MOVED, node, reached))
    run.announce_transfer(Transfer(node, node.func.value, bundle, method, target, moved, origin))
    return moved


@methods(LibraryObject)
def method_of_tool(run: Run, receiver: LibraryObject, name: str, node: cst.Call) -> Value:
    arguments = arguments_of(run, node)
    answer = marked_method(receiver.name, name)
    if answer is None:
        return Unknown(f"{receiver.name}.{name}()")
    return answer(run, receiver, arguments, node)


@calls(LibraryObject)
def call_tool(run: Run, callee: LibraryObject, arguments: Arguments, site: cst.Call) -> Value:
    answer = marked_method(callee.name, "__call__")
    if answer is None:
        return Unknown(f"calling {callee.name}")
    return answer(run, callee, arguments, site)


@library_call("Same")
def same(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """What is given; several things as a tuple."""
    given = tuple(argument.value for argument in arguments.positional)
    if not given or arguments.open:
        return Unknown("nothing, or anything")
    return given[0] if len(given) == 1 else Tuple(given)


@library_call("Gathered", "Beside")
def gathered(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """Another tensor, or another graph, where the first argument is; of a tuple, each of them."""
    value = arguments.positional[0].value if arguments.positional else NONE
    return _beside(run, value, site)


def _beside(run: Run, value: Value, site: cst.Call) -> Value:
    if isinstance(value, TensorDict):
        return fresh(run, value, site)
    if isinstance(value, Tuple):
        return Tuple(tuple(_beside(run, one, site) for one in value.items))
    if isinstance(value, Tensor):
        return Tensor(value.device, value.since, None, False)
    return Unknown("gathered from something unknown")


@library_call("Hosted")
def hosted(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return HOST


@library_call("Nothing")
def nothing(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return NONE


@library_call("Image")
def image(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A tensor made from a file or from an array: on the CPU."""
    return Tensor(CPU, Step(Verb.CONVERTED, site, CPU), False, False)


@library_call("Audio")
def audio(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return Tuple((image(run, receiver, arguments, site), HOST))


@library_call("Composed")
def composed(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`Compose([…, ToTensor(), …])(image)`: the rest leaves the tensor where it was made."""
    steps = receiver.held[0] if isinstance(receiver, LibraryObject) and receiver.held else NONE
    elements = known_elements(run, steps) if isinstance(steps, (ListOf, Tuple)) else None
    if not elements or not all(isinstance(one, LibraryObject) for one in elements):
        return Unknown("the result of unknown transforms")
    makers = [one for one in elements if isinstance(one, LibraryObject) and _makes_image(one)]
    return image(run, receiver, arguments, site) if makers else Unknown("a transformed image")


def _makes_image(tool: LibraryObject) -> bool:
    return member_mark(tool.name, "__call__") == "Image"


@library_call("Itself")
def itself(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A new object of the class."""
    if not isinstance(receiver, ImportedName):
        return Unknown("made by an object")
    made = build_model if kind_of(receiver.name) == "model" else build_tool
    return made(run, receiver.name, arguments, site)


@library_call("Generated")
def generated(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`model.generate(ids)`: the ids should be where the model is, and so are the new ones."""
    if not isinstance(receiver, Module):
        return Unknown("generated by something unknown")
    call_opaque_module(run, receiver, arguments, site)
    if "return_dict_in_generate" in arguments.keywords or (arguments.open and not arguments.spread):
        return Unknown("tokens or an object that holds them")
    place = module_device(run, receiver)
    return Tensor(place.device, place.since, False, False)


@library_call("Checked")
def checked(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`metric.update(preds, target)`: its states are added to where they are."""
    if isinstance(receiver, Module):
        call_opaque_module(run, receiver, arguments, site)
    return NONE


@library_call("Computed")
def computed(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`metric.compute()`: a tensor where the states are."""
    if not isinstance(receiver, Module):
        return Unknown("computed by something unknown")
    place = module_device(run, receiver)
    return Tensor(place.device, place.since, None, False)


@library_call("Output")
def output(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """What `model.forward_features(x)` gives, as `model(x)` would."""
    if not isinstance(receiver, Module):
        return Unknown("given by something unknown")
    return call_opaque_module(run, receiver, arguments, site)


@attributes(LibraryObject)
def of_tool(run: Run, value: LibraryObject, name: str, node: cst.Attribute) -> Value:
    if value.device is not None and member_mark(value.name, name) == "Device":
        return DeviceHandle(value.device, node)
    if member_mark(value.name, name) == "OwnFile":
        return HostValue(FileSource.RUN)
    return Unknown(f"{value.name}.{name} is not known")
