"""Losses: functions and modules, with class weights and targets of every kind."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, device_text, move_statement, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, make, pick, result
from benchmarks.differential.values import BATCH, WIDTH, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


def regression_loss(writer: Writer, output: str, target: str) -> str:
    """A loss of two tensors of a shape: a function, or a module without state."""
    if writer.likely(60):
        writer.use("import torch.nn.functional as F")
        name = writer.choose(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
        return f"F.{name}({output}, {target})"
    if writer.likely(50):
        writer.use("import torch.nn as nn")
        return f"nn.{writer.choose(['MSELoss', 'L1Loss', 'SmoothL1Loss'])}()({output}, {target})"
    return f"(({output} - {target}) ** 2).mean()"


def class_loss(writer: Writer, scores: str, labels: str) -> str:
    """Cross entropy, with weights of classes by times."""
    writer.use("import torch.nn.functional as F")
    if writer.likely(40):
        return f"F.cross_entropy({scores}, {labels})"
    if writer.likely(50):
        weight = created(writer, Tensor("", (WIDTH,)))
        return f"F.cross_entropy({scores}, {labels}, weight={weight})"
    return f"F.nll_loss(F.log_softmax({scores}, dim=1), {labels})"


def criterion(writer: Writer, *, classes: bool) -> str:
    """Write a module that is the loss, and give its name."""
    writer.use("import torch.nn as nn")
    name = writer.fresh(writer.choose(["criterion", "loss_fn"]))
    if not classes:
        made = f"nn.{writer.choose(['MSELoss', 'L1Loss', 'HuberLoss'])}()"
    elif writer.likely(40):
        made = "nn.CrossEntropyLoss()"
    else:
        with writer.marked("class-weights"):
            return _weighted(writer, name)
    if writer.sometimes(25):
        made = moved(writer, made, like=False)
    writer.line(f"{name} = {made}")
    return name


def _weighted(writer: Writer, name: str) -> str:
    """A loss that keeps weights: they lie there from the beginning, or the loss is moved."""
    kind = writer.number(0, 2)
    if kind == 0:
        weight = make(writer, Tensor("", (WIDTH,)), "class_weights")
        writer.line(f"{name} = nn.CrossEntropyLoss(weight={weight.text})")
    elif kind == 1:
        writer.line(f"{name} = nn.CrossEntropyLoss(weight=torch.ones({WIDTH}))")
        move_statement(writer, name, module=True)
    else:
        made = f"nn.CrossEntropyLoss(torch.ones({WIDTH}), label_smoothing=0.1)"
        writer.line(
            f"{name} = {made}.to({device_text(writer)})" if writer.careful() else f"{name} = {made}"
        )
    return name


@feature("loss-function", 8)
def loss_function(writer: Writer) -> None:
    """A loss, by its function."""
    one = pick(writer, MAIN)
    if writer.likely(50):
        text = regression_loss(writer, one.text, expression(writer, MAIN))
    else:
        text = class_loss(writer, one.text, expression(writer, (BATCH,), "long"))
    result(writer, text, one, shape=(), grad=True)


@feature("loss-module", 8)
def loss_module(writer: Writer) -> None:
    """A loss, by its module."""
    one = pick(writer, MAIN)
    classes = writer.likely(60)
    name = criterion(writer, classes=classes)
    target = expression(writer, (BATCH,), "long") if classes else expression(writer, MAIN)
    result(writer, f"{name}({one.text}, {target})", one, shape=(), grad=True)


@feature("binary-loss", 6)
def binary_loss(writer: Writer) -> None:
    """Binary losses, with weights of the positives."""
    writer.use("import torch.nn as nn")
    writer.use("import torch.nn.functional as F")
    one = pick(writer, MAIN)
    target = expression(writer, MAIN)
    weight = expression(writer, (WIDTH,))
    name = writer.fresh("criterion")
    kind = writer.number(0, 2)
    if kind == 0:
        writer.line(f"{name} = nn.BCEWithLogitsLoss(pos_weight={weight})")
        text = f"{name}({one.text}, {target})"
    elif kind == 1:
        text = f"F.binary_cross_entropy_with_logits({one.text}, {target}, pos_weight={weight})"
    else:
        text = f"F.binary_cross_entropy_with_logits({one.text}, {target}, weight={weight})"
    result(writer, text, one, shape=(), grad=True)


@feature("adversarial-labels", 4)
def adversarial_labels(writer: Writer) -> None:
    """The labels of a GAN: real and fake, filled anew."""
    writer.use("import torch.nn.functional as F")
    one = pick(writer, MAIN)
    label = make(writer, Tensor("", MAIN), "real_labels")
    writer.drop(label)
    writer.line(f"{label.text}.fill_(0.9)")
    text = f"F.binary_cross_entropy_with_logits({one.text}, {label.text})"
    result(writer, text, one, shape=(), grad=True)


@feature("total-loss", 6)
def total_loss(writer: Writer) -> None:
    """A sum of losses, which begins with a number, or with a tensor without dimensions."""
    name = writer.fresh("total_loss")
    starts = ["0.0", "0", "torch.tensor(0.0)", created(writer, Tensor("", ()))]
    writer.line(f"{name} = {writer.choose(starts)}")
    for _ in range(2):
        given = expression(writer, MAIN)
        plain = f"{name} = {name} + {given}.detach().pow(2).mean()"
        writer.line(plain if writer.likely(50) else f"{name} += {given}.detach().abs().mean()")
    writer.keep(Tensor(name, (), grad=True))
    result(writer, f"{name} * {created(writer, Tensor('', ()))}", Tensor("", ()), grad=True)
