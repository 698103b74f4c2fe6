"""Random number generators: each draws for the type of device that it was made for."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.data_events import GeneratorElsewhere
from devicelint.domain.devices import CPU, Agreement, Device, Known, Unsure, agreement
from devicelint.domain.events import LoadUse
from devicelint.domain.history import Site, Step, Verb
from devicelint.domain.values import (
    HOST,
    NONE,
    Checkpoint,
    Const,
    DeviceHandle,
    Generator,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import attributes, function, methods
from devicelint.interpreter.python.calls import arguments_of
from devicelint.interpreter.torch.checkpoints.uses import note_use
from devicelint.interpreter.torch.devices.arguments import demand, device_named
from devicelint.interpreter.torch.operations.excuses import DIFFERENT


@methods(Generator)
def method_of_generator(run: Run, receiver: Generator, name: str, node: cst.Call) -> Value:
    """`torch.Generator().manual_seed(0)` is the generator itself."""
    arguments_of(run, node)
    if name in ("manual_seed", "set_state"):
        return receiver
    if name == "get_state":
        return Tensor(CPU, Step(Verb.CREATED, node, CPU), False, False)
    return HOST if name in ("seed", "initial_seed") else Unknown(f"a generator's {name}()")


@attributes(Generator)
def of_generator(run: Run, value: Generator, name: str, node: cst.Attribute) -> Value:
    return DeviceHandle(value.device, node) if name == "device" else HOST


def draw(run: Run, given: Argument | None, made: Value, operation: str, site: cst.Call) -> None:
    """An operation draws the numbers of a tensor, with the generator that it was given."""
    if given is not None and isinstance(given.value, Generator) and isinstance(made, Tensor):
        generator = given.value
        _compare(run, generator, Argument(given.site, made), operation, site)


def _compare(
    run: Run, generator: Generator, drawn: Argument, operation: str, site: cst.Call
) -> None:
    """One device of a type is as good as another: only types are compared."""
    assert isinstance(drawn.value, Tensor)
    wanted = drawn.value.device
    verdict = agreement(generator.device, wanted)
    both = isinstance(generator.device, Known) and isinstance(wanted, Known)
    if verdict not in DIFFERENT or (both and _type_of(generator.device) == _type_of(wanted)):
        return
    since = drawn.value.since
    event = GeneratorElsewhere(site, operation, drawn.site, generator.since, wanted, since, verdict)
    run.announce(event)


def _type_of(device: Device) -> str:
    return device.type if isinstance(device, Known) else ""


_POSITIONS = {
    "DataLoader": 12,
    "RandomSampler": 3,
    "SubsetRandomSampler": 1,
    "WeightedRandomSampler": 3,
    "random_split": 2,
}
"""Where what draws indices is given its generator."""


def draw_indices(run: Run, name: str, arguments: Arguments, site: cst.Call) -> None:
    """Samplers, random_split and a DataLoader draw indices where tensors are created."""
    last = name.rpartition(".")[2]
    if last not in _POSITIONS or arguments.open:
        return
    given = arguments.get(_POSITIONS[last], "generator")
    device, since = _where_drawn(run, last, arguments, site)
    drawn = Tensor(device, since, False, False)
    if given is not None and given.value != NONE:
        draw(run, given, drawn, last, site)
    elif _draws_by_itself(last, arguments) and agreement(CPU, device) is Agreement.DIFFERENT:
        run.announce(GeneratorElsewhere(site, last, site, None, device, None, Agreement.DIFFERENT))


def _where_drawn(run: Run, name: str, arguments: Arguments, site: Site) -> tuple[Device, Step]:
    weights = arguments.get(0, "weights") if name == "WeightedRandomSampler" else None
    if weights is not None and isinstance(weights.value, Tensor):
        return weights.value.device, weights.value.since
    return run.default_device, Step(Verb.CREATED, site, run.default_device)


def _draws_by_itself(name: str, arguments: Arguments) -> bool:
    """Whether torch takes a generator of its own, on the CPU."""
    if name != "DataLoader":
        return name in ("RandomSampler", "random_split")
    shuffle = arguments.get(2, "shuffle")
    return shuffle is not None and shuffle.value == Const(True)


@function("torch.Generator")
def make_generator(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A generator is the CPU's unless a device is given; the default device is nothing to it."""
    given = arguments.get(0, "device")
    device: Device = CPU
    if given is not None and given.value != NONE:
        named = device_named(run, given) or Unsure("the device is not known")
        device = demand(run, given, named, site, "device=")
    run.note_made(site)
    verb = Verb.CREATED if given is None else Verb.CREATED_ON
    return Generator(device, Step(verb, site, device))


@function(
    "torch.set_rng_state",
    "torch.random.set_rng_state",
    "torch.cuda.set_rng_state",
    "torch.cuda.set_rng_state_all",
)
def set_random_state(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The state of a generator has to be on the CPU, whatever else the checkpoint holds."""
    for argument in arguments:
        if isinstance(argument.value, Checkpoint):
            note_use(run, argument.value, LoadUse.RANDOM_STATE)
    return HOST
