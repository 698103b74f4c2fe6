"""What else is done to modules: frozen, initialised, parametrized, built by a class method."""

from __future__ import annotations

from benchmarks.differential.grammar.classes import CLASS_NAMES
from benchmarks.differential.grammar.models import a_model, call_model, placed_model
from benchmarks.differential.grammar.placing import created, device_text, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, WIDTH, Module, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)


@feature("class-method", 8, BODY)
def class_method(writer: Writer) -> None:
    """A module that a class method builds."""
    writer.use("import torch.nn as nn")
    name, made = writer.fresh(writer.choose(CLASS_NAMES)), writer.fresh("built")
    moves = writer.sometimes(40)
    with writer.definition():
        writer.lines(
            f"class {name}(nn.Module):",
            "    def __init__(self, width):",
            "        super().__init__()",
            "        self.inner = nn.Linear(width, width)",
        )
        kept = "self.register_buffer('scale', torch.ones(width))"
        writer.lines(
            f"        {kept if writer.careful() else 'self.scale = torch.ones(width)'}",
            "",
            "    @classmethod",
            f"    def build(cls, width{', device' if moves else ''}):",
            f"        return cls(width){'.to(device)' if moves else ''}",
            "",
            "    def forward(self, x):",
            "        return self.inner(x) * self.scale",
        )
    if moves:
        writer.line(f"{made} = {name}.build({WIDTH}, {device_text(writer)})")
        module = writer.keep(Module(made))
    else:
        module = placed_model(writer, made, f"{name}.build({WIDTH})", Module(""))
    call_model(writer, module)


@feature("modules-in-container", 8, BODY)
def modules_in_container(writer: Writer) -> None:
    """A list or dictionary of modules that belongs to nobody, moved one by one."""
    writer.use("import torch.nn as nn")
    name = writer.fresh("models")
    layer = f"nn.Linear({WIDTH}, {WIDTH})"
    each = moved(writer, layer, like=False)
    if writer.likely(60):
        writer.line(f"{name} = [{each} for _ in range(2)]")
        loop, call = f"for model in {name}:", "model"
    else:
        writer.line(f'{name} = {{"actor": {each}, "critic": {moved(writer, layer, like=False)}}}')
        loop, call = f"for key in {name}:", f"{name}[key]"
    if each == layer and writer.careful():
        with writer.block(loop):
            writer.line(f"{call}.to({device_text(writer)})")
    state = writer.fresh("state")
    writer.line(f"{state} = {expression(writer, MAIN)}")
    with writer.block(loop):
        writer.line(f"{state} = {call}({state})")
    writer.keep(Tensor(state, MAIN, grad=True))


@feature("module-frozen", 5, BODY)
def module_frozen(writer: Writer) -> None:
    """Parameters that are frozen, by name or all of them, and what that changes."""
    writer.use("import torch.nn as nn")
    made = writer.fresh("frozen")
    module = placed_model(writer, made, f"nn.Linear({WIDTH}, {WIDTH})", Module(""))
    if writer.likely(50):
        writer.line(f"{made}.requires_grad_(False)")
    else:
        with writer.block(f"for key, parameter in {made}.named_parameters():"):
            writer.line('parameter.requires_grad = "bias" in key')
    call_model(writer, module)


@feature("parameters-changed", 6, BODY)
def parameters_changed(writer: Writer) -> None:
    """A loop over parameters that changes them without a graph."""
    module = a_model(writer)
    loops = [
        f"for parameter in {module.text}.parameters():",
        f"for key, parameter in {module.text}.named_parameters():",
        f"for parameter in list({module.text}.parameters())[:1]:",
    ]
    right = ["torch.randn_like(parameter)", "torch.zeros(parameter.shape, device=parameter.device)"]
    noise = writer.choose(right) if writer.careful() else "torch.randn(parameter.shape)"
    changes = [
        f"parameter.add_({noise}, alpha=0.01)",
        f"parameter.copy_(parameter + {noise})",
        f"parameter.data = parameter.data + {noise}",
        f"parameter.mul_({created(writer, Tensor('', ()))})",
        f"parameter.data.copy_({noise})",
    ]
    with writer.block("with torch.no_grad():"), writer.block(writer.choose(loops)):
        writer.line(writer.choose(changes))
    writer.end_graph()
    call_model(writer, module)


@feature("module-initialised", 4, BODY)
def module_initialised(writer: Writer) -> None:
    """`apply`, and functions of `nn.init`."""
    writer.use("import torch.nn as nn")
    name = writer.fresh("init_weights")
    function = writer.choose(["xavier_uniform_", "kaiming_normal_"])
    with writer.definition():
        writer.lines(
            f"def {name}(module):",
            "    if isinstance(module, nn.Linear):",
            f"        nn.init.{function}(module.weight)",
            "        nn.init.zeros_(module.bias)",
        )
    module = a_model(writer)
    writer.line(f"{module.text}.apply({name})")
    writer.end_graph()
    call_model(writer, module)


@feature("module-parametrized", 4, BODY)
def module_parametrized(writer: Writer) -> None:
    """Weight norm and spectral norm, before or after the move."""
    writer.use("import torch.nn as nn")
    made = writer.fresh("normed")
    norm = writer.choose(["weight_norm", "spectral_norm", "orthogonal"])
    layer = f"nn.utils.parametrizations.{norm}(nn.Linear({WIDTH}, {WIDTH}))"
    call_model(writer, placed_model(writer, made, layer, Module("")))


@feature("parameters-as-vector", 4, BODY)
def parameters_as_vector(writer: Writer) -> None:
    """All parameters in one vector, and back."""
    writer.use("from torch.nn.utils import parameters_to_vector, vector_to_parameters")
    module = a_model(writer)
    name = writer.fresh("vector")
    writer.line(f"{name} = parameters_to_vector({module.text}.parameters()).detach()")
    right = f"torch.randn_like({name})"
    noise = right if writer.careful() else f"torch.randn({name}.numel())"
    writer.line(f"vector_to_parameters({name} + 0.01 * {noise}, {module.text}.parameters())")
    writer.end_graph()
    call_model(writer, module)


@feature("module-shared", 4, BODY)
def module_shared(writer: Writer) -> None:
    """A part that two modules share; where one is moved, the part is."""
    writer.use("import torch.nn as nn")
    shared, one, other = (
        writer.fresh(name) for name in ("shared_layer", "first_net", "second_net")
    )
    writer.lines(
        f"{shared} = nn.Linear({WIDTH}, {WIDTH})",
        f"{one} = {moved(writer, f'nn.Sequential({shared}, nn.ReLU())', like=False)}",
        f"{other} = nn.Sequential(nn.Tanh(), {shared})",
    )
    for name in (shared, one, other):
        writer.keep(Module(name))
    call_model(writer, Module(writer.choose([other, shared])))


@feature("module-method-called", 6, BODY)
def module_method_called(writer: Writer) -> None:
    """A module whose other method is called from outside, as with a state to begin with."""
    writer.use("import torch.nn as nn")
    name, made = writer.fresh(writer.choose(["Tagger", "Recurrent"])), writer.fresh("tagger")
    states = [
        f"next(self.parameters()).new_zeros(1, {BATCH}, {WIDTH})",
        f"torch.zeros(1, {BATCH}, {WIDTH}, device=self.rnn.weight_hh_l0.device)",
    ]
    state = writer.choose(states) if writer.careful() else f"torch.zeros(1, {BATCH}, {WIDTH})"
    with writer.definition():
        writer.lines(
            f"class {name}(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            f"        self.rnn = nn.GRU({WIDTH}, {WIDTH})",
            "",
            "    def init_hidden(self):",
            f"        return {state}",
            "",
            "    def forward(self, x, hidden):",
            "        out, hidden = self.rnn(x.unsqueeze(0), hidden)",
            "        return out.squeeze(0), hidden",
        )
    placed_model(writer, made, f"{name}()", Module(""))
    writer.drop(writer.frame.values[-1])
    hidden, out = writer.fresh("hidden"), writer.fresh("tags")
    writer.line(f"{hidden} = {made}.init_hidden()")
    given = pick(writer, MAIN)
    with writer.block("for step in range(2):"):
        writer.line(f"{hidden} = {hidden}.detach()")
        writer.line(f"{out}, {hidden} = {made}({given.text}, {hidden})")
    like = writer.keep(Tensor(out, MAIN, grad=True))
    result(writer, f"{like.text} + {expression(writer, MAIN)}", like, grad=True)


@feature("module-with-options", 6, BODY)
def module_with_options(writer: Writer) -> None:
    """A module whose `forward` takes more than one tensor, some of them by name."""
    writer.use("import torch.nn as nn")
    name, made = writer.fresh("Mixer"), writer.fresh("mixer")
    with writer.definition():
        writer.lines(
            f"class {name}(nn.Module):",
            "    def __init__(self, width=8):",
            "        super().__init__()",
            "        self.left = nn.Linear(width, width)",
            "        self.right = nn.Linear(width, width)",
            "",
            "    def forward(self, x, other=None, *, mask=None):",
            "        out = self.left(x)",
            "        if other is not None:",
            "            out = out + self.right(other)",
            "        if mask is not None:",
            "            out = out * mask",
        )
        form = writer.choose(["out", "(out, out.mean())", '{"out": out}'])
        writer.line(f"        return {form}")
    placed_model(writer, made, f"{name}()", Module(""))
    writer.drop(writer.frame.values[-1])
    given = [expression(writer, MAIN)]
    if writer.likely(60):
        given.append(expression(writer, MAIN))
    if writer.sometimes(50):
        given.append(f"mask={expression(writer, (WIDTH,))}")
    read = "[0]" if form.endswith("mean())") else '["out"]' if form.endswith("}") else ""
    result(writer, f"{made}({', '.join(given)}){read}", Tensor("", MAIN), grad=True)
