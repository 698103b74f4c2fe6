"""Mixed precision: autocast and scaled gradients."""

from __future__ import annotations

from benchmarks.differential.grammar.losses import class_loss
from benchmarks.differential.grammar.models import a_model
from benchmarks.differential.grammar.registry import can_nest, feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.grammar.training import optimizer_of
from benchmarks.differential.values import BATCH, WIDTH, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)
ENABLED = "torch.cuda.is_available()"
CONTEXTS = (
    f'torch.autocast("cuda", enabled={ENABLED})',
    f'torch.amp.autocast(device_type="cuda", dtype=torch.float16, enabled={ENABLED})',
    'torch.autocast(device_type="cpu", dtype=torch.bfloat16)',
)


@feature("autocast", 6, BODY)
def autocast(writer: Writer) -> None:
    """A module that is called under autocast."""
    module = a_model(writer)
    given = expression(writer, MAIN)
    name = writer.fresh("cast")
    with writer.block(f"with {writer.choose(CONTEXTS)}:"):
        writer.line(f"{name} = {module.text}({given}).float()")
    like = writer.keep(Tensor(name, MAIN, grad=True))
    result(writer, f"{like.text} + {expression(writer, MAIN)}", like, grad=True)


@feature("scaled-training", 9, BODY, ready=can_nest)
def scaled_training(writer: Writer) -> None:
    """A step of training with a scaler of gradients."""
    module = a_model(writer, trained=True)
    optimizer = optimizer_of(writer, module)
    scaler = writer.fresh("scaler")
    writer.line(f'{scaler} = torch.amp.GradScaler("cuda", enabled={ENABLED})')
    with writer.block("for step in range(2):", own_graph=True):
        given = pick(writer, MAIN, grad=False)
        labels = pick(writer, (BATCH,), "long")
        writer.line(f"{optimizer}.zero_grad()")
        with writer.block(f"with {writer.choose(CONTEXTS[:2])}:"):
            writer.line(f"output = {module.text}({given.text})")
            writer.line(f"loss = {class_loss(writer, 'output', labels.text)}")
        writer.line(f"{scaler}.scale(loss).backward()")
        if writer.sometimes(30):
            writer.line(f"{scaler}.unscale_({optimizer})")
            writer.line(f"torch.nn.utils.clip_grad_norm_({module.text}.parameters(), 1.0)")
        writer.line(f"{scaler}.step({optimizer})")
        writer.line(f"{scaler}.update()")
    writer.end_graph()


@feature("autocast-operations", 4)
def autocast_operations(writer: Writer) -> None:
    """Operations under autocast."""
    one = pick(writer, MAIN)
    square = expression(writer, (WIDTH, WIDTH))
    name = writer.fresh("product")
    with writer.block(f"with {writer.choose(CONTEXTS)}:"):
        writer.line(f"{name} = torch.matmul({one.text}, {square}).float()")
    writer.keep(Tensor(name, MAIN, grad=True, side=one.side))
