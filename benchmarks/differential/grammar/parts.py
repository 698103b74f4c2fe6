"""The parts of a module: what `__init__` makes, and what `forward` does with it."""

from __future__ import annotations

from benchmarks.differential.grammar.classes import (
    attribute,
    building,
    host_tensor,
    in_forward,
    in_init,
    step,
)
from benchmarks.differential.grammar.placing import device_text
from benchmarks.differential.grammar.registry import PART, feature
from benchmarks.differential.values import BATCH, CLASSES, DEVICE, WIDTH, Tensor
from benchmarks.differential.writer import Writer

ACTIVATIONS = ("torch.relu({})", "torch.tanh({})", "{}", "{}.sigmoid()")


def _width(writer: Writer) -> int:
    return building(writer).x.shape[-1]


def _activated(writer: Writer, text: str) -> str:
    return writer.choose(ACTIVATIONS).format(text)


@feature("part-linear", 10, PART)
def linear(writer: Writer) -> None:
    """A layer."""
    width, out = _width(writer), writer.choose([WIDTH, WIDTH, 12])
    name = attribute(writer, writer.choose(["fc", "layer", "proj"]), f"nn.Linear({width}, {out})")
    step(writer, _activated(writer, f"{name}(x)"), out)


@feature("part-sequential", 8, PART)
def sequential(writer: Writer) -> None:
    """Layers in a row."""
    width = _width(writer)
    inner = f"nn.Linear({width}, {WIDTH}), nn.ReLU(), nn.Linear({WIDTH}, {width})"
    name = attribute(writer, "body", f"nn.Sequential({inner})")
    if writer.likely(70):
        step(writer, f"{name}(x)")
    else:
        with in_forward(writer), writer.block(f"for layer in {name}:"):
            writer.line("x = layer(x)")
        step(writer, "x * 1.0")


@feature("part-norm", 6, PART)
def norm(writer: Writer) -> None:
    """A norm: one has buffers."""
    width = _width(writer)
    made = writer.choose([f"nn.LayerNorm({width})", f"nn.BatchNorm1d({width})"])
    step(writer, f"{attribute(writer, 'norm', made)}(x)")


@feature("part-module-list", 9, PART)
def module_list(writer: Writer) -> None:
    """`nn.ModuleList`; a plain list where nobody thought of it."""
    width = _width(writer)
    layers = f"[nn.Linear({width}, {width}) for _ in range(2)]"
    kept = f"nn.ModuleList({layers})" if writer.careful() else layers
    if writer.likely(60):
        name = attribute(writer, "layers", kept)
    else:
        empty = "nn.ModuleList()" if kept != layers else "[]"
        name = attribute(writer, "blocks", empty)
        with in_init(writer), writer.block("for _ in range(2):"):
            writer.line(f"{name}.append(nn.Linear({width}, {width}))")
    with in_forward(writer):
        if writer.likely(70):
            with writer.block(f"for layer in {name}:"):
                writer.line("x = torch.relu(layer(x))")
        else:
            with writer.block(f"for i, layer in enumerate({name}):"):
                writer.line("x = layer(x) if i == 0 else x + layer(x)")
    step(writer, "x / 2")


@feature("part-module-dict", 7, PART)
def module_dict(writer: Writer) -> None:
    """`nn.ModuleDict`, or a plain dictionary."""
    width = _width(writer)
    keys = ("left", "right")
    entries = ", ".join(f'"{key}": nn.Linear({width}, {width})' for key in keys)
    made = f"nn.ModuleDict({{{entries}}})" if writer.careful() else f"{{{entries}}}"
    name = attribute(writer, "branches", made)
    kind = writer.number(0, 2)
    if kind == 0:
        step(writer, f'{name}["left"](x) + {name}["right"](x)')
    elif kind == 1:
        with in_forward(writer), writer.block(f"for key in {name}:"):
            writer.line(f"x = {name}[key](x)")
        step(writer, "torch.relu(x)")
    else:
        step(writer, f"sum(branch(x) for branch in {name}.values())")


@feature("part-parameter", 9, PART)
def parameter(writer: Writer) -> None:
    """A parameter of its own."""
    width = _width(writer)
    made = host_tensor(writer, (width,))
    if writer.likely(75):
        name = attribute(writer, "weight", f"nn.Parameter({made})")
    else:
        plain = writer.fresh("weight")
        with in_init(writer):
            writer.line(f'self.register_parameter("{plain}", nn.Parameter({made}))')
        name = f"self.{plain}"
    building(writer).forward.values.append(Tensor(name, (width,), grad=True))
    step(writer, writer.choose([f"x * {name}", f"x + {name}.unsqueeze(0)", f"{name} - x"]))


@feature("part-parameter-list", 5, PART)
def parameter_list(writer: Writer) -> None:
    """Parameters in a list: one of torch's, or a plain one."""
    width = _width(writer)
    inner = f"[nn.Parameter(torch.ones({width})) for _ in range(2)]"
    made = f"nn.ParameterList({inner})" if writer.careful() else inner
    name = attribute(writer, "scales", made)
    if writer.likely(60):
        with in_forward(writer), writer.block(f"for scale in {name}:"):
            writer.line("x = x * scale")
        step(writer, "x + 0.1")
    else:
        step(writer, f"x * {name}[0] + {name}[1]")


@feature("part-buffer", 9, PART)
def buffer(writer: Writer) -> None:
    """A buffer; what is left a plain attribute stays behind when the module moves."""
    width = _width(writer)
    made = host_tensor(writer, (width,))
    plain = writer.fresh(writer.choose(["mean", "scale", "table"]))
    name = f"self.{plain}"
    with in_init(writer):
        if writer.careful():
            more = writer.choose(["", ", persistent=False"])
            writer.line(f'self.register_buffer("{plain}", {made}{more})')
        else:
            writer.line(f"{name} = {made}")
    building(writer).forward.values.append(Tensor(name, (width,)))
    step(writer, writer.choose([f"x - {name}", f"x * {name}", f"torch.maximum(x, {name})"]))


@feature("part-plain-tensor", 8, PART)
def plain_tensor(writer: Writer) -> None:
    """A tensor that is no buffer, and moved where it is used."""
    width = _width(writer)
    name = attribute(writer, writer.choose(["offset", "shift"]), host_tensor(writer, (width,)))
    if not writer.careful():
        text = name
    elif writer.likely(50):
        text = f"{name}.to(x.device)"
    elif writer.likely(50):
        text = f"{name}.to(x)"
    else:
        step(writer, f"x * {_written_back(writer, name)}")
        return
    step(writer, writer.choose([f"x + {text}", f"torch.add(x, {text})"]))


def _written_back(writer: Writer, name: str) -> str:
    with in_forward(writer):
        writer.line(f"{name} = {name}.type_as(x)")
    return name


@feature("part-created-in-init", 5, PART)
def created_in_init(writer: Writer) -> None:
    """A tensor that `__init__` makes on the device that it knows."""
    width = _width(writer)
    with in_init(writer):
        handles = writer.handles(DEVICE)
    if handles and writer.careful():
        made = f"torch.ones({width}, device={handles[0]})"
    else:
        made = f"torch.ones({width})"
    step(writer, f"x * {attribute(writer, 'mask', made)}")


@feature("part-cached", 6, PART)
def cached(writer: Writer) -> None:
    """A tensor that is made when it is first needed."""
    width = _width(writer)
    begins = writer.choose(["None", "torch.zeros(1)", "torch.empty(0)"])
    name = attribute(writer, "cache", begins)
    with in_forward(writer) as x:
        tests = [f"if {name} is None:", f"if {name} is None or self.training:"]
        if begins != "None":
            tests = [f"if {name}.shape[-1] != {width}:", f"if {name}.numel() != {width}:"]
        test = writer.choose(tests)
        with writer.block(test):
            text = f"torch.ones({width}, device={x.text}.device)"
            plain = f"torch.linspace(0, 1, {width})"
            writer.line(f"{name} = {text if writer.careful() else plain}")
    step(writer, f"x * {name}")


@feature("part-made-in-forward", 9, PART)
def made_in_forward(writer: Writer) -> None:
    """Noise, a mask or a state that `forward` makes."""
    width = _width(writer)
    right = [
        "torch.randn_like(x)",
        "torch.zeros_like(x)",
        f"torch.rand({BATCH}, {width}, device=x.device)",
        f"x.new_zeros({width})",
        f"torch.ones({width}).to(x.device)",
        "torch.randn(x.shape, device=x.device)",
        f"torch.ones({width}).type_as(x)",
    ]
    wrong = [f"torch.randn({BATCH}, {width})", "torch.randn(x.shape)", f"torch.zeros({width})"]
    text = writer.choose(right if writer.careful() else wrong)
    if writer.likely(50):
        with in_forward(writer):
            name = writer.fresh("noise")
            writer.line(f"{name} = {text}")
        text = name
    step(
        writer,
        f"x + 0.1 * {text}"
        if writer.likely(70)
        else f"torch.cat([x, {_full(text, width)}])[:{BATCH}]",
    )


def _full(text: str, width: int) -> str:
    return f"{text}.expand({BATCH}, {width})"


@feature("part-embedding", 7, PART)
def embedding(writer: Writer) -> None:
    """Positions, and their embedding."""
    width = _width(writer)
    name = attribute(writer, "positions", f"nn.Embedding({CLASSES}, {width})")
    if writer.likely(65):
        right = [f"torch.arange({BATCH}, device=x.device)", f"torch.arange({BATCH}).to(x.device)"]
        ids = writer.choose(right) if writer.careful() else f"torch.arange({BATCH})"
    else:
        with in_init(writer):
            plain = writer.fresh("ids")
            if writer.careful():
                writer.line(f'self.register_buffer("{plain}", torch.arange({BATCH}))')
            else:
                writer.line(f"self.{plain} = torch.arange({BATCH})")
        ids = f"self.{plain}"
    step(writer, f"x + {name}({ids})")


@feature("part-index-attribute", 4, PART)
def index_attribute(writer: Writer) -> None:
    """A plain attribute that serves as an index alone, which may lie on the CPU."""
    width = _width(writer)
    name = attribute(writer, "order", f"torch.randperm({width})")
    step(
        writer, f"x[:, {name}]" if writer.likely(80) else f"x.index_select(1, {name}.to(x.device))"
    )


@feature("part-constant", 4, PART)
def constant(writer: Writer) -> None:
    """A tensor without dimensions, on the CPU for ever."""
    name = attribute(
        writer, "temperature", writer.choose(["torch.tensor(2.0)", "torch.tensor(0.5)"])
    )
    step(writer, writer.choose([f"x / {name}", f"x * {name}", f"torch.where(x > 0, x, {name})"]))


@feature("part-device-attribute", 4, PART)
def device_attribute(writer: Writer) -> None:
    """A device that is known by its parameters."""
    anchor = attribute(writer, "anchor", "nn.Parameter(torch.zeros(1))")
    with in_forward(writer):
        name = writer.fresh("where")
        found = [f"{anchor}.device", "next(self.parameters()).device", "x.device"]
        writer.line(f"{name} = {writer.choose(found)}")
    step(writer, f"x + torch.ones({_width(writer)}, device={name})")


@feature("part-chosen-device", 3, PART)
def chosen_device(writer: Writer) -> None:
    """A tensor on the program's device, whatever the module's is."""
    with in_forward(writer):
        device = device_text(writer)
    step(writer, f"x + torch.zeros({_width(writer)}, device={device})")
