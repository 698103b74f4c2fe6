"""Libraries that place what they are given: accelerate, Fabric, ignite, trainers."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import CPU, Device, Opaque, Unsure, agreement
from devicelint.domain.events import Clash, MisplacedInput, Operand
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import (
    NONE,
    Batch,
    Const,
    DeviceHandle,
    LibraryObject,
    Module,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import module_device
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import library_call, library_class
from devicelint.interpreter.python.conditions import truth_of
from devicelint.interpreter.python.containers.contents import element_of
from devicelint.interpreter.torch.data.loaders import build_loader
from devicelint.interpreter.torch.devices.arguments import demand, device_named
from devicelint.interpreter.torch.devices.choosers import LibraryChoices
from devicelint.interpreter.torch.devices.handed import note_handed
from devicelint.interpreter.torch.modules.registration import move_module
from devicelint.interpreter.torch.operations.excuses import DIFFERENT
from devicelint.interpreter.torch.placing import place
from devicelint.knowledge import listed_as


def _all_placed(run: Run, arguments: Arguments, device: Device, site: cst.Call) -> Value:
    step = Step(Verb.PLACED, site, device)
    placed = tuple(place(run, one.value, step, site) for one in arguments.positional)
    if arguments.open or not placed:
        return Unknown("what is prepared is not known")
    return placed[0] if len(placed) == 1 else Tuple(placed)


@library_class("placer")
def build_placer(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`Accelerator()`: it chooses a device, the CPU where the arguments say so."""
    listed = listed_as(name)
    device: Device = Opaque(f"{listed.rpartition('.')[2].lower()}.device")
    given = arguments.keywords
    on_cpu = "cpu" in given and truth_of(run, given["cpu"].value) is True
    if on_cpu or ("accelerator" in given and given["accelerator"].value == Const("cpu")):
        device = CPU
    else:
        run.notes(LibraryChoices).origins.add(str(device))
    return LibraryObject(listed, device, held=(_LEFT,) if "device_placement" in given else ())


_WITHOUT_PLACING = ("device_placement", "move_to_device")
_LEFT = Const("left in place, perhaps")
"""What an Accelerator holds whose arguments say whether to place things."""


@library_call("Placed")
def placed(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`accelerator.prepare(model, loader)`: each is brought to the device, in its own way."""
    if not isinstance(receiver, LibraryObject) or receiver.device is None:
        return Unknown("placed by something unknown")
    device = receiver.device
    if receiver.held or any(name in arguments.keywords for name in _WITHOUT_PLACING):
        device = Unsure("it may be told to leave things where they are")
    return _all_placed(run, arguments, device, site)


@library_call("Managed", "Dispatched")
def managed(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A trainer moves the model that it is given, and may bring it back."""
    note_handed(run, arguments)
    nowhere = Unsure("a trainer moves it")
    for argument in arguments:
        move_module(run, argument.value, nowhere, Step(Verb.PLACED, site, nowhere))
    return Unknown("the result of a trainer")


@library_call("Net")
def net(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A net of skorch moves the instance of a module that it is given, once it is fitted."""
    managed(run, receiver, arguments, site)
    return LibraryObject("skorch.NeuralNet", held=tuple(one.value for one in arguments))


@library_call("Settings")
def settings(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`TrainingArguments(use_cpu=True)` keeps the Trainer on the CPU."""
    keeps = [one.value for n, one in arguments.keywords.items() if n in ("use_cpu", "no_cuda")]
    if arguments.open or any(value != Const(False) for value in keeps):
        return LibraryObject(
            "transformers.TrainingArguments", Unsure("the settings may say the CPU")
        )
    return LibraryObject("transformers.TrainingArguments", Opaque("training_args.device"))


@library_call("Trainer")
def trainer(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`Trainer(model, args)` moves the model when it is made."""
    given = arguments.get(1, "args")
    device: Device = Unsure("the settings are not known")
    if (
        given is not None
        and isinstance(given.value, LibraryObject)
        and given.value.device is not None
    ):
        device = given.value.device
    model = arguments.get(0, "model")
    if model is not None:
        move_module(run, model.value, device, Step(Verb.PLACED, site, device))
    return LibraryObject("transformers.Trainer")


@library_call("Pipeline")
def pipeline(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """A pipeline chooses a device, and brings its model and each input there."""
    managed(run, receiver, arguments, site)
    return LibraryObject("transformers.pipeline")


_OWN = Opaque("idist.device()")


@library_call("OwnDevice")
def own_device(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    return DeviceHandle(_OWN, site)


@library_call("AutoModel")
def auto_model(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`idist.auto_model(model)` moves the model in place, and may wrap it."""
    return _all_placed(run, Arguments(arguments.positional[:1]), _OWN, site)


@library_call("AutoLoader")
def auto_loader(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`idist.auto_dataloader(dataset)` pins what it yields, and moves nothing."""
    return build_loader(run, arguments, site)


@library_call("MovedTo", "BatchMovedTo")
def moved_to(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`convert_tensor(batch, device=device)`: a copy of all its tensors, if a device is given."""
    if not arguments.positional or arguments.open:
        return Unknown("moved to somewhere")
    device = given_device(run, arguments, 1, site)
    value = arguments.positional[0].value
    return value if device is None else place(run, value, Step(Verb.PLACED, site, device), site)


def given_device(run: Run, arguments: Arguments, position: int, site: cst.Call) -> Device | None:
    given = arguments.get(position, "device")
    if given is None or given.value == NONE:
        return None
    device = device_named(run, given)
    return None if device is None else demand(run, given, device, site, "device=")


@library_call("SupervisedTrainer")
def supervised_trainer(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """It brings each batch to its device, and expects the model there."""
    device = given_device(run, arguments, 3, site)
    return _supervised(run, arguments, device, arguments.get(3, "device"), site)


@library_call("SupervisedEvaluator")
def supervised_evaluator(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    device = given_device(run, arguments, 2, site)
    return _supervised(run, arguments, device, arguments.get(2, "device"), site)


def _supervised(
    run: Run, arguments: Arguments, device: Device | None, given: Argument | None, site: cst.Call
) -> Value:
    model = arguments.get(0, "model")
    if model is None or any(name in arguments.keywords for name in ("prepare_batch", "model_fn")):
        return LibraryObject("ignite.engine.Engine")
    if given is not None and device is not None:
        _expect_there(run, model, Operand(given.site, Batch(device, _to(site, device)), device))
        return LibraryObject("ignite.engine.Engine")
    return LibraryObject("ignite.engine.Supervised_", held=(model.value,))


@library_call("RunUnmoved")
def run_unmoved(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`trainer.run(loader)` without a device: the model is given what the loader yields."""
    data = arguments.get(0, "data")
    if data is not None and isinstance(receiver, LibraryObject) and not arguments.open:
        batch = element_of(run, data.value, data.site)
        first = batch.items[0] if isinstance(batch, Tuple) and batch.items else batch
        if isinstance(first, (Tensor, Batch)):
            run.call(receiver.held[0], Arguments([Argument(data.site, first)]), site)
    return Unknown("the state of an engine")


def _to(site: cst.Call, device: Device) -> Step:
    return Step(Verb.PLACED, site, device)


def _expect_there(run: Run, model: Argument, batch: Operand) -> None:
    """A model that was never moved meets batches that are."""
    if not isinstance(model.value, Module):
        return
    where = module_device(run, model.value)
    verdict = agreement(where.device, batch.device)
    if where.since.verb is not Verb.BUILT or verdict not in DIFFERENT:
        return
    own = Operand(model.site, model.value, where.device, where.since)
    batch = replace(batch, since=Step(Verb.PLACED, batch.site, batch.device))
    clash = Clash(batch, own, verdict, batch.site, run.frame)
    assert isinstance(model.site, cst.CSTNode)
    run.announce(MisplacedInput(batch.site, run.code_of(model.site), clash))
    move_module(run, model.value, batch.device, where.since)


@library_call("RunOver")
def run_over(run: Run, receiver: Value, arguments: Arguments, site: cst.Call) -> Value:
    """`Engine(step).run(loader)` calls `step(engine, batch)`."""
    data = arguments.get(0, "data")
    held = receiver.held if isinstance(receiver, LibraryObject) else ()
    if data is not None and held:
        batch = Argument(data.site, element_of(run, data.value, data.site))
        run.call(held[0], Arguments([Argument(site, receiver), batch]), site)
    return Unknown("the state of an engine")
