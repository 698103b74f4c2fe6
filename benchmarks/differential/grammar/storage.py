"""What is saved and loaded: state dictionaries, tensors, whole checkpoints."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.differential.grammar.models import a_model, call_model
from benchmarks.differential.grammar.placing import device_text, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, HOST, WIDTH, Module, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)


def _target(writer: Writer) -> tuple[str, str]:
    """Where something is saved, and the statement that makes it ready to be read."""
    if writer.likely(50):
        return f'"{writer.fresh("checkpoint")}.pt"', ""
    writer.use("import io")
    name = writer.fresh("stream")
    writer.line(f"{name} = io.BytesIO()")
    return name, f"{name}.seek(0)"


def _load(writer: Writer, target: str, more: str = "") -> str:
    """An expression that loads, with and without `map_location`."""
    places = ["", ', map_location="cpu"', f", map_location={device_text(writer)}"]
    places.append(", map_location=lambda storage, location: storage")
    return f"torch.load({target}{writer.choose(places)}{more})"


@feature("state-saved", 10, BODY)
def state_saved(writer: Writer) -> None:
    """A state dictionary, saved and loaded into the same module: it crosses."""
    module = a_model(writer)
    target, ready = _target(writer)
    writer.line(f"torch.save({module.text}.state_dict(), {target})")
    if ready:
        writer.line(ready)
    writer.line(f"{module.text}.load_state_dict({_load(writer, target)})")
    writer.end_graph()
    call_model(writer, module)


@feature("tensor-saved", 9)
def tensor_saved(writer: Writer) -> None:
    """A tensor or a dictionary, saved and loaded: it comes back to where it was."""
    one = pick(writer, MAIN, grad=False)
    target, ready = _target(writer)
    in_dictionary = writer.sometimes(40)
    saved = f'{{"rows": {one.text}}}' if in_dictionary else one.text
    writer.line(f"torch.save({saved}, {target})")
    if ready:
        writer.line(ready)
    name = writer.fresh("loaded")
    kind = writer.number(0, 2)
    places = ["", ', map_location="cpu"', f", map_location={one.text}.device"]
    writer.line(f"{name} = torch.load({target}{places[kind]})")
    read = f'{name}["rows"]' if in_dictionary else name
    if kind == 1 and writer.likely(70):
        read = moved(writer, read, one.side)
    like = (
        replace(one, side=HOST) if kind == 1 and read.startswith(name) and "(" not in read else one
    )
    other = expression(writer, MAIN, side=like.side if writer.careful() else "device")
    result(writer, f"{read} + {other}", like, grad=True)


@feature("checkpoint", 7, BODY)
def checkpoint(writer: Writer) -> None:
    """A dictionary of a module, an optimizer and a number."""
    module = a_model(writer, trained=True)
    optimizer, name = writer.fresh("optimizer"), writer.fresh("state")
    writer.line(f"{optimizer} = torch.optim.Adam({module.text}.parameters())")
    target, ready = _target(writer)
    entries = f'"model": {module.text}.state_dict(), "optimizer": {optimizer}.state_dict()'
    best = expression(writer, (WIDTH,))
    writer.line(f'torch.save({{{entries}, "best": {best}}}, {target})')
    if ready:
        writer.line(ready)
    writer.lines(
        f"{name} = {_load(writer, target)}",
        f'{module.text}.load_state_dict({name}["model"])',
        f'{optimizer}.load_state_dict({name}["optimizer"])',
    )
    writer.end_graph()
    if writer.likely(50):
        read = moved(writer, f'{name}["best"]')
        result(writer, f"{expression(writer, MAIN)} * {read}", Tensor("", MAIN), grad=True)


@feature("whole-module-saved", 4, BODY)
def whole_module_saved(writer: Writer) -> None:
    """A module of torch, saved whole."""
    writer.use("import torch.nn as nn")
    target, ready = _target(writer)
    name = writer.fresh("restored")
    source = writer.fresh("source")
    writer.line(f"{source} = {moved(writer, f'nn.Linear({WIDTH}, {WIDTH})', like=False)}")
    writer.line(f"torch.save({source}, {target})")
    if ready:
        writer.line(ready)
    text = _load(writer, target, ", weights_only=False")
    writer.line(f"{name} = {moved(writer, text, like=False)}")
    call_model(writer, writer.keep(Module(name)))


@feature("state-dictionary", 6, BODY)
def state_dictionary(writer: Writer) -> None:
    """A state dictionary in memory: copied, averaged, changed, loaded into another module."""
    writer.use("import torch.nn as nn")
    module = a_model(writer)
    name = writer.fresh("weights")
    dictionaries = [
        f"{{key: value.clone() for key, value in {module.text}.state_dict().items()}}",
        f"{module.text}.state_dict()",
        f"{{key: value.cpu() for key, value in {module.text}.state_dict().items()}}",
    ]
    chosen = writer.number(0, 2)
    writer.line(f"{name} = {dictionaries[chosen]}")
    if writer.sometimes(40):
        with writer.block(f"for key in {name}:"):
            changes = [
                f"{name}[key] = {name}[key] * 0.5",
                f"{name}[key] = {name}[key] + {module.text}.state_dict()[key]",
            ]
            writer.line(writer.choose(changes))
    writer.line(f"{module.text}.load_state_dict({name})")
    writer.end_graph()
    call_model(writer, module)


@feature("state-into-new", 5, BODY)
def state_into_new(writer: Writer) -> None:
    """A new module that gets the state of another, before or after it is moved."""
    writer.use("import torch.nn as nn")
    one, other = writer.fresh("source"), writer.fresh("clone")
    layer = f"nn.Linear({WIDTH}, {WIDTH})"
    writer.lines(
        f"{one} = {moved(writer, layer, like=False)}",
        f"{other} = {layer}",
        f"{other}.load_state_dict({one}.state_dict())",
    )
    if writer.careful():
        writer.line(f"{other}.to({device_text(writer)})")
    call_model(writer, writer.keep(Module(other)))
