"""Modules in the main flow: made, moved, called, changed from outside, copied."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.differential.grammar.classes import write_class
from benchmarks.differential.grammar.placing import (
    created,
    device_text,
    move_statement,
    moved,
)
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, DEVICE, HOST, WIDTH, Module, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)
MODELS = ("model", "net", "network", "encoder")


def a_model(writer: Writer, *, trained: bool = False) -> Module:
    """A module in sight that takes what is usual, or a new one."""
    able = [
        module
        for module in writer.values(Module)
        if module.width_in == WIDTH and module.width_out == WIDTH and module.side == DEVICE
        if not trained or module.parts
    ]
    if able and writer.likely(90):
        return writer.choose(able[:3])
    return plain_model(writer)


def placed_model(writer: Writer, name: str, made: str, module: Module) -> Module:
    """Write how a module is made, and moved by a coin."""
    kind = writer.number(0, 2)
    if kind == 0:
        writer.line(f"{name} = {moved(writer, made, module.side, like=False)}")
    else:
        writer.line(f"{name} = {made}")
        move_statement(writer, name, module.side, module=True)
    return writer.keep(replace(module, text=name))


@feature("module-class", 80, BODY)
def module_class(writer: Writer) -> None:
    """A class of modules, and one of them."""
    own = write_class(writer, writer.number(1, 4))
    name = writer.fresh(writer.choose(MODELS))
    made = f"{own.name}({', '.join(own.given)})"
    spec = Module("", parts=(own.head,), any_batch=False)
    module = placed_model(writer, name, made, spec)
    if writer.likely(50):
        call_model(writer, module)


@feature("module-sequential", 8, BODY)
def module_sequential(writer: Writer) -> None:
    """`nn.Sequential`, without a class."""
    plain_model(writer)


def plain_model(writer: Writer) -> Module:
    """A module of torch's own."""
    writer.use("import torch.nn as nn")
    name = writer.fresh(writer.choose(MODELS))
    parts: tuple[tuple[str, int, int], ...] = ()
    if writer.likely(60):
        inner = f"nn.Linear({WIDTH}, {WIDTH}), nn.ReLU(), nn.Linear({WIDTH}, {WIDTH})"
        made, parts = f"nn.Sequential({inner})", (("0", WIDTH, WIDTH), ("2", WIDTH, WIDTH))
    else:
        made = f"nn.Linear({WIDTH}, {WIDTH})"
    return placed_model(writer, name, made, Module("", parts=parts))


def call_model(writer: Writer, module: Module, given: str | None = None) -> Tensor:
    """Write a call of a module."""
    given = given or expression(writer, MAIN, side=module.side)
    like = Tensor("", MAIN, side=module.side)
    return result(writer, f"{module.text}({given})", like, grad=True)


@feature("module-call", 12, BODY)
def module_call(writer: Writer) -> None:
    """A module, called with a batch; one without a graph, by times."""
    module = a_model(writer)
    if writer.sometimes(30):
        with writer.block("with torch.no_grad():"):
            call_model(writer, module)
    else:
        call_model(writer, module)


def _has_parts(writer: Writer) -> bool:
    return any(module.parts for module in writer.values(Module))


def _part(writer: Writer) -> tuple[Module, str, int, int]:
    able = [module for module in writer.values(Module) if module.parts]
    module = writer.choose(able)
    name, width_in, width_out = writer.choose(module.parts)
    place = f"{module.text}[{name}]" if name.isdigit() else f"{module.text}.{name}"
    return module, place, width_in, width_out


@feature("part-replaced", 30, BODY, ready=_has_parts)
def part_replaced(writer: Writer) -> None:
    """A part that is replaced from outside, after the module was moved."""
    writer.use("import torch.nn as nn")
    module, place, width_in, width_out = _part(writer)
    made = f"nn.Linear({width_in}, {width_out})"
    kind = writer.number(0, 2)
    if kind < 2:
        writer.line(f"{place} = {moved(writer, made, module.side, like=False)}")
    else:
        layer = writer.fresh("layer")
        writer.line(f"{layer} = {made}")
        writer.line(f"{place} = {layer}")
        move_statement(writer, module.text, module.side, module=True)
    call_model(writer, module)


@feature("part-changed-before-move", 5, BODY)
def part_changed_before_move(writer: Writer) -> None:
    """A part that is replaced before the module is moved."""
    writer.use("import torch.nn as nn")
    name = writer.fresh("backbone")
    writer.line(f"{name} = nn.Sequential(nn.Linear({WIDTH}, {WIDTH}), nn.ReLU())")
    layer = writer.choose([f"nn.Linear({WIDTH}, {WIDTH})", f"nn.LayerNorm({WIDTH})"])
    changes = [
        f"{name}[1] = {layer}",
        f'{name}.add_module("extra", {layer})',
        f"{name}.append({layer})",
    ]
    writer.line(writer.choose(changes))
    move_statement(writer, name, module=True)
    call_model(writer, writer.keep(Module(name)))


@feature("parameter-replaced", 20, BODY, ready=_has_parts)
def parameter_replaced(writer: Writer) -> None:
    """A weight that is given anew: by `.data`, `copy_`, or a new parameter."""
    writer.use("import torch.nn as nn")
    module, place, width_in, width_out = _part(writer)
    shape = (width_out, width_in)
    value = created(writer, Tensor("", shape, side=module.side))
    writes = [
        f"{place}.weight.data = {value}",
        f"{place}.weight = nn.Parameter({value})",
        f"{place}.weight.data.copy_({value})",
        f"{place}.weight.data *= 0.5",
        f"nn.init.zeros_({place}.bias)",
        f"{place}.bias.data.fill_(0.1)",
    ]
    writer.line(writer.choose(writes))
    call_model(writer, module)
    writer.end_graph()


@feature("attribute-from-outside", 15, BODY, ready=_has_parts)
def attribute_from_outside(writer: Writer) -> None:
    """A buffer or attribute that is put on from outside."""
    module, _, _, _ = _part(writer)
    name = writer.fresh("prior")
    value = created(writer, Tensor("", (WIDTH,), side=module.side))
    if writer.likely(50):
        writer.line(f"{module.text}.{name} = {value}")
    else:
        writer.line(f'{module.text}.register_buffer("{name}", {value})')
    result(
        writer,
        f"{expression(writer, MAIN, side=module.side)} * {module.text}.{name}",
        Tensor("", MAIN, side=module.side),
        grad=True,
    )


def _with_hook(writer: Writer, module: Module, register: str, *definition: str) -> None:
    """Write a hook, and a call of the module meanwhile."""
    name, handle = writer.fresh(writer.choose(["hook", "note"])), writer.fresh("handle")
    with writer.definition():
        writer.lines(*(text.replace("HOOK", name) for text in definition))
    writer.line(f"{handle} = {module.text}.{register}({name})")
    call_model(writer, module)
    writer.line(f"{handle}.remove()")


@feature("forward-hook", 4, BODY)
def forward_hook(writer: Writer) -> None:
    """A hook that changes what a module gives."""
    text = "torch.ones_like(output)" if writer.careful() else f"torch.ones({WIDTH})"
    body = f"    return output * {text}"
    module = a_model(writer)
    _with_hook(writer, module, "register_forward_hook", "def HOOK(module, args, output):", body)


@feature("forward-pre-hook", 4, BODY)
def forward_pre_hook(writer: Writer) -> None:
    """A hook that changes what a module is given."""
    right = [f"args[0].new_ones({WIDTH})", f"torch.ones({WIDTH}).to(args[0].device)"]
    text = writer.choose(right) if writer.careful() else f"torch.ones({WIDTH})"
    body = f"    return (args[0] + {text},)"
    module = a_model(writer)
    _with_hook(writer, module, "register_forward_pre_hook", "def HOOK(module, args):", body)


@feature("recording-hook", 4, BODY)
def recording_hook(writer: Writer) -> None:
    """A hook that notes what a module gives."""
    module, recorded = a_model(writer), writer.fresh("recorded")
    side = writer.choose([HOST, module.side])
    more = ".cpu()" if side == HOST and writer.careful() else ""
    body = f"    {recorded}.append(output.detach(){more})"
    definition = (f"{recorded} = []", "", "", "def HOOK(module, args, output):", body)
    _with_hook(writer, module, "register_forward_hook", *definition)
    text = f"{recorded}[-1] + {expression(writer, MAIN, side=side)}"
    result(writer, text, Tensor("", MAIN, side=side), grad=True)


@feature("deep-copy", 6, BODY)
def deep_copy(writer: Writer) -> None:
    """A copy of a module, and an average of two."""
    writer.use("import copy")
    module = a_model(writer)
    name = writer.fresh(writer.choose(["ema", "target_net", "teacher"]))
    copied = writer.keep(replace(module, text=name))
    writer.line(f"{name} = copy.deepcopy({module.text})")
    if not writer.careful():
        writer.line(f"{name} = {name}.cpu()")
    with writer.block("with torch.no_grad():"):
        pairs = f"zip({name}.parameters(), {module.text}.parameters())"
        with writer.block(f"for slow, fast in {pairs}:"):
            writer.line("slow.mul_(0.9).add_(fast, alpha=0.1)")
    writer.end_graph()
    if writer.likely(60):
        call_model(writer, copied)


@feature("copied-tensor", 3)
def copied_tensor(writer: Writer) -> None:
    """A deep copy or clone of a tensor, and its original."""
    one = pick(writer, MAIN, grad=False)
    writer.use("import copy")
    name = writer.fresh("backup")
    calls = [f"copy.deepcopy({one.text})", f"{one.text}.clone()", f"{one.text}.detach().cpu()"]
    writer.line(f"{name} = {writer.choose(calls)}")
    result(writer, f"{one.text} - {moved(writer, name, one.side)}", one)


@feature("parameters-counted", 3, BODY)
def parameters_counted(writer: Writer) -> None:
    """A norm over all parameters, or their places."""
    module = a_model(writer)
    name = writer.fresh("penalty")
    calls = [
        f"sum(p.pow(2).sum() for p in {module.text}.parameters())",
        f"torch.stack([p.detach().norm() for p in {module.text}.parameters()]).norm()",
    ]
    writer.line(f"{name} = {writer.choose(calls)}")
    scale = created(writer, Tensor("", ()))
    writer.line(f"{name} = {name} + {scale}")


@feature("module-on-host", 3, BODY)
def module_on_host(writer: Writer) -> None:
    """A module that is moved to the CPU to be evaluated, and back."""
    module = a_model(writer)
    writer.line(f"{module.text}.eval().cpu()")
    call_model(writer, replace(module, side=HOST))
    if writer.careful():
        writer.line(f"{module.text}.to({device_text(writer)})")
    writer.line(f"{module.text}.train()")
    writer.end_graph()
