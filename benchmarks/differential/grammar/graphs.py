"""The graph of gradients: hooks of tensors, functions of its own, checkpoints."""

from __future__ import annotations

from benchmarks.differential.grammar.models import a_model
from benchmarks.differential.grammar.placing import created
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, WIDTH, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)


@feature("tensor-hook", 4, BODY)
def tensor_hook(writer: Writer) -> None:
    """A hook of a tensor, which runs in the backward pass."""
    name = writer.fresh("watched")
    given = pick(writer, MAIN, grad=False)
    factor = expression(writer, (WIDTH,))
    writer.lines(
        f"{name} = {given.text}.clone().requires_grad_()",
        f"{name}.register_hook(lambda grad: grad * {factor}.detach())",
        f"({name} * 2).sum().backward()",
    )
    like = Tensor("", MAIN)
    result(writer, f"{name}.grad + {expression(writer, MAIN)}.detach()", like, grad=False)


@feature("backward-hook", 3, BODY)
def backward_hook(writer: Writer) -> None:
    """A hook of a module, which runs in the backward pass."""
    name, handle = writer.fresh("watch_gradient"), writer.fresh("handle")
    module = a_model(writer)
    right = "tuple(g * 0.5 for g in grad_input if g is not None)"
    with writer.definition():
        writer.lines(
            f"def {name}(module, grad_input, grad_output):",
            "    if any(g is None for g in grad_input):",
            "        return None",
        )
        wrong = f"tuple(g * torch.ones({WIDTH}) for g in grad_input)"
        writer.line(f"    return {right if writer.careful() else wrong}")
    writer.line(f"{handle} = {module.text}.register_full_backward_hook({name})")
    given = pick(writer, MAIN, grad=False)
    writer.line(f"{module.text}({given.text}.clone().requires_grad_()).sum().backward()")
    writer.line(f"{handle}.remove()")


@feature("own-function", 5, BODY)
def own_function(writer: Writer) -> None:
    """A function with a backward of its own, and what it saves for that."""
    name = writer.fresh("Scaled")
    with writer.definition():
        writer.lines(
            f"class {name}(torch.autograd.Function):",
            "    @staticmethod",
            "    def forward(ctx, x, weight):",
            "        ctx.save_for_backward(weight)",
            "        return x * weight",
            "",
            "    @staticmethod",
            "    def backward(ctx, grad):",
            "        (weight,) = ctx.saved_tensors",
        )
        right = "grad * weight"
        wrong = f"grad * weight * torch.ones({WIDTH})"
        writer.line(f"        return {right if writer.careful() else wrong}, None")
    given = pick(writer, MAIN, grad=False)
    weight = expression(writer, (WIDTH,))
    out = writer.fresh("scaled")
    writer.line(f"{out} = {name}.apply({given.text}.clone().requires_grad_(), {weight}.detach())")
    if writer.likely(60):
        writer.line(f"{out}.sum().backward()")
    else:
        writer.keep(Tensor(out, MAIN, grad=True))


@feature("checkpointed", 4, BODY)
def checkpointed(writer: Writer) -> None:
    """A module that is run again in the backward pass."""
    writer.use("from torch.utils.checkpoint import checkpoint")
    module = a_model(writer)
    given = expression(writer, MAIN)
    text = f"checkpoint({module.text}, {given}, use_reentrant=False)"
    out = result(writer, text, Tensor("", MAIN), grad=True)
    result(writer, f"{out.text} * {expression(writer, MAIN)}", out, grad=True)


@feature("functional-call", 3, BODY)
def functional_call(writer: Writer) -> None:
    """A module that is called with other parameters than its own."""
    writer.use("from torch.func import functional_call")
    writer.use("import torch.nn as nn")
    name, kept = writer.fresh("stateless"), writer.fresh("parameters")
    writer.line(f"{name} = nn.Linear({WIDTH}, {WIDTH})")
    weight = created(writer, Tensor("", (WIDTH, WIDTH)))
    bias = created(writer, Tensor("", (WIDTH,)))
    writer.line(f'{kept} = {{"weight": {weight}, "bias": {bias}}}')
    text = f"functional_call({name}, {kept}, ({expression(writer, MAIN)},))"
    result(writer, text, Tensor("", MAIN), grad=True)
