"""The parts of a module that are more than a layer: methods, properties, bases, hooks, cells."""

from __future__ import annotations

from benchmarks.differential.grammar.classes import (
    attribute,
    building,
    in_forward,
    in_init,
    method,
    step,
    write_class,
)
from benchmarks.differential.grammar.placing import created
from benchmarks.differential.grammar.registry import PART, feature, fill
from benchmarks.differential.grammar.tensors import expression
from benchmarks.differential.values import BATCH, WIDTH, Tensor
from benchmarks.differential.writer import Writer


def _width(writer: Writer) -> int:
    return building(writer).x.shape[-1]


def _is_wide(writer: Writer) -> bool:
    return _width(writer) == WIDTH


def _may_nest(writer: Writer) -> bool:
    return building(writer).level == 0 and not writer.full and _is_wide(writer)


@feature("part-operations", 10, PART, ready=_is_wide)
def operations(writer: Writer) -> None:
    """Whatever may stand in a function."""
    with in_forward(writer):
        fill(writer, 2)
        text = expression(writer, (BATCH, WIDTH))
    step(writer, f"x + {text}")


@feature("part-property", 6, PART)
def property_(writer: Writer) -> None:
    """A property: a device, or a tensor."""
    name = writer.fresh(writer.choose(["device_now", "bias_row"]))
    width = _width(writer)
    if name.startswith("device"):
        with method(writer, "@property"):
            writer.line(f"def {name}(self):")
            writer.line("    return next(self.parameters()).device")
        step(writer, f"x + torch.ones({width}, device=self.{name})")
        return
    weight = attribute(writer, "weight", f"nn.Parameter(torch.ones({width}))")
    with method(writer, "@property"):
        writer.line(f"def {name}(self):")
        right = [f"torch.zeros({width}, device={weight}.device)", f"torch.zeros_like({weight})"]
        text = writer.choose(right) if writer.careful() else f"torch.zeros({width})"
        writer.line(f"    return {writer.choose([text, f'{weight} * 2'])}")
    step(writer, f"x - self.{name}")


@feature("part-static-method", 5, PART)
def static_method(writer: Writer) -> None:
    """A static method, with a default."""
    name = writer.fresh("shifted")
    with method(writer, "@staticmethod") as frame:
        writer.line(f"def {name}(values, amount=None):")
        frame.indent += 1
        made = "torch.ones({0}, device=values.device)" if writer.careful() else "torch.ones({0})"
        with writer.block("if amount is None:"):
            writer.line(f"amount = {made.format(_width(writer))}")
        writer.line("return values + amount")
    step(writer, f"self.{name}(x)" if writer.likely(60) else f"{building(writer).name}.{name}(x)")


@feature("part-method", 8, PART, ready=_is_wide)
def method_of_its_own(writer: Writer) -> None:
    """A method that `forward` calls."""
    name = writer.fresh(writer.choose(["encode", "mix", "attend"]))
    layer = attribute(writer, "inner", f"nn.Linear({WIDTH}, {WIDTH})")
    with method(writer) as frame:
        writer.line(f"def {name}(self, values):")
        frame.indent += 1
        given = writer.keep(Tensor("values", (BATCH, WIDTH), grad=True))
        fill(writer, 2)
        other = expression(writer, given.shape)
        writer.line(f"return {layer}(values) * {other}")
    step(writer, f"self.{name}(x)")


@feature("part-hook", 4, PART)
def hook(writer: Writer) -> None:
    """A hook that `__init__` registers, and which changes what the part gives."""
    width = _width(writer)
    layer = attribute(writer, "hooked", f"nn.Linear({width}, {width})")
    name = writer.fresh("scale_output")
    with method(writer):
        writer.line(f"def {name}(self, module, args, output):")
        right = ["torch.ones_like(output)", f"output.new_ones({width})"]
        text = writer.choose(right) if writer.careful() else f"torch.ones({width})"
        writer.line(f"    return output * {text}")
    with in_init(writer):
        writer.line(f"{layer}.register_forward_hook(self.{name})")
    step(writer, f"{layer}(x)")


@feature("part-added-by-name", 5, PART)
def added_by_name(writer: Writer) -> None:
    """`add_module` and `setattr`, and `getattr` in `forward`."""
    width = _width(writer)
    stem = writer.fresh("unit")
    writes = [
        f'self.add_module(f"{stem}_{{i}}", nn.Linear({width}, {width}))',
        f'setattr(self, f"{stem}_{{i}}", nn.Linear({width}, {width}))',
        f'self.register_buffer(f"{stem}_{{i}}", torch.ones({width}))',
        f'setattr(self, f"{stem}_{{i}}", torch.ones({width}))',
    ]
    kind = writer.number(0, 2) if writer.careful() else 3
    with in_init(writer), writer.block("for i in range(2):"):
        writer.line(writes[kind])
    with in_forward(writer), writer.block("for i in range(2):"):
        part = f'getattr(self, f"{stem}_{{i}}")'
        writer.line(f"x = {part}(x)" if kind < 2 else f"x = x * {part}")
    step(writer, "x + 0.5")


@feature("part-own-module", 7, PART, ready=_may_nest)
def own_module(writer: Writer) -> None:
    """A module of another class of the program."""
    with in_init(writer):
        inner = write_class(writer, writer.number(0, 1), level=1)
    made = f"{inner.name}({', '.join(['device'] if inner.given else [])})"
    with in_init(writer):
        if inner.given and "device" not in building(writer).arguments:
            made = f"{inner.name}({inner.given[0]})"
    step(writer, f"{attribute(writer, 'inner', made)}(x)")


def _has_no_base(writer: Writer) -> bool:
    return _may_nest(writer) and building(writer).base == "nn.Module"


@feature("part-inherited", 7, PART, ready=_has_no_base)
def inherited(writer: Writer) -> None:
    """A base class, whose `forward` is called by `super()`."""
    with in_init(writer):
        base = write_class(writer, writer.number(0, 2), level=1)
    if base.given:
        step(writer, f"{attribute(writer, 'inner', f'{base.name}({base.given[0]})')}(x)")
        return
    building(writer).base = base.name
    step(writer, writer.choose(["super().forward(x)", f"{base.name}.forward(self, x)"]))


@feature("part-recurrent", 6, PART, ready=_is_wide)
def recurrent(writer: Writer) -> None:
    """A recurrent layer or cell, and the state that it begins with."""
    kind = writer.choose(["GRU", "LSTM", "GRUCell"])
    if kind == "GRUCell":
        name = attribute(writer, "cell", f"nn.GRUCell({WIDTH}, {WIDTH})")
        with in_forward(writer):
            state = created(writer, Tensor("", (BATCH, WIDTH)))
        step(writer, f"{name}(x, {state})")
        return
    name = attribute(writer, "rnn", f"nn.{kind}({WIDTH}, {WIDTH}, batch_first=True)")
    with in_forward(writer):
        state = created(writer, Tensor("", (1, BATCH, WIDTH)))
        if kind == "LSTM":
            state = f"({state}, {created(writer, Tensor('', (1, BATCH, WIDTH)))})"
        given = f", {state}" if writer.likely(70) else ""
        out = writer.fresh("output")
        writer.line(f"{out}, _ = {name}(x.unsqueeze(1){given})")
    step(writer, f"{out}[:, -1]")


@feature("part-attention", 5, PART, ready=_is_wide)
def attention(writer: Writer) -> None:
    """Attention, and its mask."""
    name = attribute(writer, "attention", f"nn.MultiheadAttention({WIDTH}, 2, batch_first=True)")
    with in_forward(writer):
        mask = created(writer, Tensor("", (1, 1), "float"))
        out = writer.fresh("attended")
        more = f", attn_mask={mask}" if writer.likely(60) else ""
        writer.line("seq = x.unsqueeze(1)")
        writer.line(f"{out}, _ = {name}(seq, seq, seq{more})")
    step(writer, f"x + {out}.squeeze(1)")


@feature("part-convolution", 5, PART)
def convolution(writer: Writer) -> None:
    """A convolution, or its function with a kernel of its own."""
    if writer.likely(60):
        name = attribute(writer, "conv", "nn.Conv1d(1, 1, 3, padding=1)")
        step(writer, f"{name}(x.unsqueeze(1)).squeeze(1)")
        return
    writer.use("import torch.nn.functional as F")
    with in_init(writer):
        plain = writer.fresh("kernel")
        if writer.careful():
            writer.line(f'self.register_buffer("{plain}", torch.ones(1, 1, 3) / 3)')
        else:
            writer.line(f"self.{plain} = torch.ones(1, 1, 3) / 3")
    step(writer, f"F.conv1d(x.unsqueeze(1), self.{plain}, padding=1).squeeze(1)")


@feature("part-to-override", 3, PART)
def to_override(writer: Writer) -> None:
    """A plain attribute that the module's own `to` moves as well."""
    if any("def to(" in line for body in building(writer).methods for line, _ in body):
        step(writer, "x * 0.9")
        return
    name = attribute(writer, "grid", f"torch.ones({_width(writer)})")
    with method(writer):
        writer.line("def to(self, *args, **kwargs):")
        if writer.likely(60):
            writer.line("    moved = super().to(*args, **kwargs)")
            if writer.careful():
                writer.line(
                    f"    moved.grid = {name}.to(*args, **kwargs)".replace(
                        "moved.grid", name.replace("self", "moved")
                    )
                )
            writer.line("    return moved")
        else:
            writer.line(f"    {name} = {name}.to(*args, **kwargs)")
            writer.line("    return super().to(*args, **kwargs)")
    step(writer, f"x * {name}")


@feature("part-apply-override", 2, PART)
def apply_override(writer: Writer) -> None:
    """A plain attribute that `_apply` moves, as every move calls it."""
    if any("def _apply(" in line for body in building(writer).methods for line, _ in body):
        step(writer, "x * 1.1")
        return
    name = attribute(writer, "lattice", f"torch.ones({_width(writer)})")
    with method(writer):
        writer.lines(
            "def _apply(self, fn, *args, **kwargs):",
            "    super()._apply(fn, *args, **kwargs)",
            f"    {name} = fn({name})",
            "    return self",
        )
    step(writer, f"x * {name}")


@feature("part-mode", 4, PART)
def mode(writer: Writer) -> None:
    """What `forward` does in training alone."""
    with in_forward(writer), writer.block("if self.training:"):
        right = ["torch.randn_like(x)", "torch.randn(x.size(0), 1, device=x.device)"]
        text = writer.choose(right) if writer.careful() else "torch.randn(x.size(0), 1)"
        writer.line(f"x = x + {text}")
    step(writer, "x * 1.0")


@feature("part-weight-reached", 4, PART, ready=_is_wide)
def weight_reached(writer: Writer) -> None:
    """The weight of a layer, used by hand."""
    writer.use("import torch.nn.functional as F")
    name = attribute(writer, "tied", f"nn.Linear({WIDTH}, {WIDTH})")
    calls = [
        f"F.linear(x, {name}.weight)",
        f"x @ {name}.weight.t() + {name}.bias",
        f"x * {name}.bias.detach()",
    ]
    step(writer, writer.choose(calls))
