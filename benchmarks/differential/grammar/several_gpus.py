"""A second GPU, where there is one: moves between the two, modules in two places, DataParallel."""

from __future__ import annotations

from benchmarks.differential.grammar.classes import CLASS_NAMES
from benchmarks.differential.grammar.placing import created, device_text, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, make, result
from benchmarks.differential.values import BATCH, SECOND, WIDTH, Handle, Module, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)


def _has_second(writer: Writer) -> bool:
    return any(handle.side == SECOND for handle in writer.values(Handle))


@feature("second-tensor", 40, ready=_has_second)
def second_tensor(writer: Writer) -> None:
    """A tensor on the second device, beside another there."""
    one = make(writer, Tensor("", MAIN, side=SECOND), "elsewhere")
    other = expression(writer, MAIN, side=SECOND)
    result(writer, f"{one.text} * {other}", one, grad=True)


@feature("between-devices", 40, ready=_has_second)
def between_devices(writer: Writer) -> None:
    """From one device to the other."""
    there = result(
        writer,
        moved(writer, expression(writer, MAIN), SECOND),
        Tensor("", MAIN, side=SECOND),
        grad=True,
    )
    changed = result(
        writer, f"{there.text} * {expression(writer, MAIN, side=SECOND)}", there, grad=True
    )
    back = moved(writer, changed.text)
    result(writer, f"{back} + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("module-on-second", 30, BODY, ready=_has_second)
def module_on_second(writer: Writer) -> None:
    """A module on the second device, and what it gives brought back."""
    writer.use("import torch.nn as nn")
    name = writer.fresh("expert")
    writer.line(f"{name} = {moved(writer, f'nn.Linear({WIDTH}, {WIDTH})', SECOND, like=False)}")
    writer.keep(Module(name, side=SECOND))
    given = moved(writer, expression(writer, MAIN), SECOND)
    out = result(writer, f"{name}({given})", Tensor("", MAIN, side=SECOND), grad=True)
    back = moved(writer, out.text)
    result(writer, f"{back} * {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("pipeline", 30, BODY, ready=_has_second)
def pipeline(writer: Writer) -> None:
    """A module whose halves lie on two devices."""
    writer.use("import torch.nn as nn")
    name, made = writer.fresh(writer.choose(CLASS_NAMES)), writer.fresh("pipeline")
    with writer.definition():
        writer.lines(
            f"class {name}(nn.Module):",
            "    def __init__(self, first, second):",
            "        super().__init__()",
            "        self.first, self.second = first, second",
            f"        self.front = nn.Linear({WIDTH}, {WIDTH}).to(first)",
            f"        self.back = nn.Linear({WIDTH}, {WIDTH}).to(second)",
            "",
            "    def forward(self, x):",
            "        x = torch.relu(self.front(x.to(self.first)))",
        )
        right = ["x.to(self.second)", "x.to(self.back.weight.device)"]
        writer.line(f"        x = self.back({writer.choose(right) if writer.careful() else 'x'})")
        writer.line(f"        return {'x.to(self.first)' if writer.careful() else 'x'}")
    writer.line(f"{made} = {name}({device_text(writer)}, {device_text(writer, SECOND)})")
    given = expression(writer, MAIN)
    result(writer, f"{made}({given}) + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("guarded-second", 7, BODY)
def guarded_second(writer: Writer) -> None:
    """What is done where there are two GPUs alone."""
    one = make(writer, Tensor("", MAIN), "shared")
    writer.drop(one)
    with writer.block("if torch.cuda.device_count() > 1:"):
        writer.line(f'{one.text} = {one.text}.to("cuda:1")')
        if writer.careful():
            kept = writer.fresh("doubled")
            writer.line(f"{kept} = {one.text} * 2")
            writer.line(f'{one.text} = {kept}.to("cuda:0")')
    writer.keep(one)
    result(writer, f"{one.text} + {expression(writer, MAIN)}", one, grad=True)


@feature("current-device", 4, BODY)
def current_device(writer: Writer) -> None:
    """The current device: set, asked for, or changed for a block."""
    with writer.block("if torch.cuda.device_count() > 1:"):
        name = writer.fresh("there")
        with writer.block("with torch.cuda.device(1):"):
            writer.line(f"{name} = torch.ones({BATCH}, {WIDTH}).cuda()")
        wrong = f"{name} + {created(writer, Tensor('', MAIN))}"
        writer.line(
            f"{name} = {name}.to({device_text(writer)})"
            if writer.careful()
            else f"{name} = {wrong}"
        )
        result(writer, f"{name} + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("data-parallel", 6, BODY)
def data_parallel(writer: Writer) -> None:
    """`DataParallel`, which splits a batch over all GPUs."""
    writer.use("import torch.nn as nn")
    name = writer.fresh("parallel")
    layer = f"nn.Sequential(nn.Linear({WIDTH}, {WIDTH}), nn.ReLU())"
    if writer.likely(50):
        writer.line(f"{name} = {moved(writer, layer, like=False)}")
        guard = "if torch.cuda.device_count() > 1:"
        with writer.block(guard):
            writer.line(f"{name} = nn.DataParallel({name})")
    else:
        writer.line(f"{name} = {moved(writer, f'nn.DataParallel({layer})', like=False)}")
    given = expression(writer, MAIN)
    result(writer, f"{name}({given}) * {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)
