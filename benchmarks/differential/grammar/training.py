"""Training: optimizers, schedulers, the loop, gradients, evaluation."""

from __future__ import annotations

from benchmarks.differential.grammar.losses import class_loss, criterion, regression_loss
from benchmarks.differential.grammar.models import a_model
from benchmarks.differential.grammar.placing import created, moved
from benchmarks.differential.grammar.registry import can_nest, feature, fill
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, HOST, WIDTH, Module, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)
OPTIMIZERS = (
    "torch.optim.SGD({0}, lr=0.1)",
    "torch.optim.Adam({0}, lr=1e-3)",
    "torch.optim.AdamW({0}, lr=1e-3, weight_decay=0.01)",
    "torch.optim.SGD({0}, lr=0.1, momentum=0.9)",
    "torch.optim.RMSprop({0}, lr=0.01)",
    "torch.optim.Adagrad({0}, lr=0.1)",
)


def optimizer_of(writer: Writer, module: Module) -> str:
    """Write an optimizer of a module's parameters, and give its name."""
    name = writer.fresh(writer.choose(["optimizer", "opt"]))
    parameters = [
        f"{module.text}.parameters()",
        f"[p for p in {module.text}.parameters() if p.requires_grad]",
        f'[{{"params": {module.text}.parameters()}}]',
        f"list({module.text}.parameters())",
    ]
    chosen = parameters[0] if writer.likely(75) else writer.choose(parameters)
    writer.line(f"{name} = {writer.choose(OPTIMIZERS).format(chosen)}")
    return name


def update(writer: Writer, module: Module, optimizer: str, given: str, loss: str) -> None:
    """Write one step of training; the loss is written of `output`."""
    writer.lines(
        f"{optimizer}.zero_grad()",
        f"output = {module.text}({given})",
        f"loss = {loss}",
        "loss.backward()",
    )
    if writer.sometimes(20):
        norms = [
            f"torch.nn.utils.clip_grad_norm_({module.text}.parameters(), 1.0)",
            f"torch.nn.utils.clip_grad_value_({module.text}.parameters(), 0.5)",
        ]
        with writer.marked("clipped-gradients"):
            writer.line(writer.choose(norms))
    writer.line(f"{optimizer}.step()")


def a_loss(writer: Writer, target: Tensor) -> str:
    """A loss of `output` and a target."""
    if target.dtype == "long":
        return class_loss(writer, "output", target.text)
    return regression_loss(writer, "output", target.text)


@feature("training-loop", 45, BODY, ready=can_nest)
def training_loop(writer: Writer) -> None:
    """A loop over steps with tensors that are there, or made in each round."""
    module = a_model(writer, trained=True)
    optimizer = optimizer_of(writer, module)
    name = criterion(writer, classes=True) if writer.sometimes(35) else ""
    scheduler = _scheduler(writer, optimizer) if writer.sometimes(25) else ""
    with writer.block(f"for step in range({writer.number(1, 2)}):", own_graph=True):
        if writer.sometimes(40):
            fill(writer, 1)
        dtype = "long" if name or writer.sometimes(40) else "float"
        shape = (BATCH,) if dtype == "long" else MAIN
        given = pick(writer, MAIN, grad=False)
        target = pick(writer, shape, dtype, grad=False)
        loss = f"{name}(output, {target.text})" if name else a_loss(writer, target)
        update(writer, module, optimizer, given.text, loss)
        if scheduler:
            writer.line(scheduler)
        _noted(writer)
    writer.end_graph()


def _scheduler(writer: Writer, optimizer: str) -> str:
    name = writer.fresh("scheduler")
    made = [
        f"StepLR({optimizer}, step_size=1)",
        f"CosineAnnealingLR({optimizer}, T_max=4)",
        f"LambdaLR({optimizer}, lambda epoch: 0.9**epoch)",
        f"ReduceLROnPlateau({optimizer})",
    ]
    text = writer.choose(made)
    with writer.marked("scheduler"):
        writer.line(f"{name} = torch.optim.lr_scheduler.{text}")
    plateau = text.startswith("Reduce")
    return f"{name}.step({'loss.item()' if plateau else ''})"


def _noted(writer: Writer) -> None:
    """What a loop keeps of its loss."""
    if writer.likely(60):
        notes = [
            'print(f"loss {loss.item():.4f}")',
            "last_loss = loss.detach().cpu()",
            "last_loss = loss.item()",
            "print(loss)",
        ]
        writer.line(writer.choose(notes))


@feature("training-function", 16, BODY, ready=can_nest)
def training_function(writer: Writer) -> None:
    """A function that trains, which is given all it needs."""
    module = a_model(writer, trained=True)
    name = writer.fresh("train")
    takes_device = writer.likely(60)
    with writer.definition() as frame:
        writer.line(f"def {name}(net, optimizer, data{', device' if takes_device else ''}):")
        frame.indent += 1
        with writer.block("for inputs, labels in data:"):
            _moves(writer, takes_device)
            loss = class_loss(writer, "output", "labels")
            update(writer, Module("net"), "optimizer", "inputs", loss)
        writer.line("return loss.item()")
    optimizer = optimizer_of(writer, module)
    side = HOST if takes_device else "device"
    inputs = pick(writer, MAIN, side=side, grad=False)
    labels = pick(writer, (BATCH,), "long", side)
    device = f", {_device(writer)}" if takes_device else ""
    pair = f"[({inputs.text}, {labels.text})]"
    writer.line(f"{writer.fresh('final')} = {name}({module.text}, {optimizer}, {pair}{device})")
    writer.end_graph()


def _device(writer: Writer) -> str:
    handles = writer.handles("device")
    return handles[0] if handles else '"cuda" if torch.cuda.is_available() else "cpu"'


def _moves(writer: Writer, takes_device: bool) -> None:
    if not takes_device:
        return
    right = writer.careful()
    if right and writer.likely(50):
        writer.line("inputs, labels = inputs.to(device), labels.to(device)")
        return
    writer.line("inputs = inputs.to(device)")
    if right:
        writer.line("labels = labels.to(device)")


@feature("gradient-by-hand", 6, BODY)
def gradient_by_hand(writer: Writer) -> None:
    """`requires_grad_`, `backward`, and what is done with `.grad`."""
    name = writer.fresh("w")
    made = created(writer, Tensor("", (WIDTH,)))
    leaf = f"{made}.detach().requires_grad_()"
    if made.startswith("torch.randn(") and made.endswith(")") and made.count("(") == 1:
        leaf = f"{made[:-1]}, requires_grad=True)"
    writer.line(f"{name} = {leaf}")
    given = pick(writer, MAIN, grad=False)
    writer.line(f"({given.text} * {name}).sum().backward()")
    with writer.block("with torch.no_grad():"):
        steps = [f"{name} -= 0.1 * {name}.grad", f"{name}.sub_({name}.grad, alpha=0.1)"]
        writer.line(writer.choose(steps))
    like = Tensor("", (WIDTH,))
    result(writer, f"{name}.grad * {expression(writer, (WIDTH,))}.detach()", like, grad=False)


@feature("gradient-of-function", 4, BODY)
def gradient_of_function(writer: Writer) -> None:
    """`torch.autograd.grad`, and a penalty."""
    name, grads = writer.fresh("probe"), writer.fresh("grads")
    given = pick(writer, MAIN, grad=False)
    weight = pick(writer, (WIDTH,), grad=False)
    writer.line(f"{name} = {given.text}.clone().requires_grad_()")
    writer.line(f"{grads} = torch.autograd.grad(({name} * {weight.text}).sum(), {name})[0]")
    one = writer.keep(Tensor(grads, MAIN))
    result(writer, f"({one.text}.norm(dim=1) - 1).pow(2).mean()", one, shape=())


@feature("trained-tensor", 5, BODY)
def trained_tensor(writer: Writer) -> None:
    """An optimizer of tensors that belong to no module; a moved parameter is none any more."""
    writer.use("import torch.nn as nn")
    name, optimizer = writer.fresh("latent"), writer.fresh("optimizer")
    made = created(writer, Tensor("", (WIDTH,)))
    texts = [f"nn.Parameter({made})", f"{made}.detach().requires_grad_()"]
    writer.line(f"{name} = {writer.choose(texts)}")
    writer.line(f"{optimizer} = torch.optim.{writer.choose(['SGD', 'Adam'])}([{name}], lr=0.1)")
    given = pick(writer, MAIN, grad=False)
    with writer.block("for step in range(2):", own_graph=True):
        writer.lines(
            f"loss = ({given.text} - {name}).abs().mean()",
            f"{optimizer}.zero_grad()",
            "loss.backward()",
            f"{optimizer}.step()",
        )
    writer.end_graph()


@feature("evaluation", 14, BODY, ready=can_nest)
def evaluation(writer: Writer) -> None:
    """A module that is judged: counts, sums and lists of what it gave."""
    module = a_model(writer)
    correct = writer.fresh("correct")
    writer.line(f"{module.text}.eval()")
    starts = ["0", "torch.tensor(0)", moved(writer, "torch.zeros(())")]
    writer.line(f"{correct} = {writer.choose(starts)}")
    with writer.block("with torch.no_grad():"), writer.block("for step in range(2):"):
        given = pick(writer, MAIN, grad=False)
        labels = pick(writer, (BATCH,), "long")
        writer.line(f"guess = {module.text}({given.text}).argmax(dim=1)")
        adds = [
            f"{correct} += (guess == {labels.text}).sum().item()",
            f"{correct} = {correct} + (guess == {labels.text}).sum()",
            f"{correct} += guess.eq({labels.text}).sum().cpu().item()",
            f"{correct} += torch.sum(guess == {labels.text})",
        ]
        writer.line(writer.choose(adds))
    writer.line(f"{module.text}.train()")


@feature("optimizer-before-move", 4, BODY)
def optimizer_before_move(writer: Writer) -> None:
    """An optimizer that is built before its module is moved: it works all the same."""
    writer.use("import torch.nn as nn")
    name = writer.fresh("late")
    writer.line(f"{name} = nn.Linear({WIDTH}, {WIDTH})")
    optimizer = optimizer_of(writer, Module(name))
    if writer.careful():
        writer.line(f"{name}.to({_device(writer)})")
    given = pick(writer, MAIN, grad=False)
    target = pick(writer, MAIN, grad=False)
    update(writer, Module(name), optimizer, given.text, a_loss(writer, target))
    writer.end_graph()
    writer.keep(Module(name))


@feature("optimizer-state", 4, BODY)
def optimizer_state(writer: Writer) -> None:
    """The state of an optimizer: saved, loaded, or moved by hand."""
    writer.use("import torch.nn as nn")
    module = a_model(writer, trained=True)
    optimizer = optimizer_of(writer, module)
    given = pick(writer, MAIN, grad=False)
    target = pick(writer, MAIN, grad=False)
    update(writer, module, optimizer, given.text, a_loss(writer, target))
    kind = writer.number(0, 2)
    if kind == 0:
        writer.line(f"{optimizer}.load_state_dict({optimizer}.state_dict())")
    elif kind == 1:
        right = f"value.to({_device(writer)})"
        writer.lines(
            f"for state in {optimizer}.state.values():",
            "    for key, value in state.items():",
            "        if torch.is_tensor(value) and value.dim() > 0:",
            f"            state[key] = {right if writer.careful() else 'value.cpu()'}",
        )
    else:
        writer.line(f'{optimizer}.param_groups[0]["lr"] *= 0.5')
    update(writer, module, optimizer, given.text, a_loss(writer, target))
    writer.end_graph()
