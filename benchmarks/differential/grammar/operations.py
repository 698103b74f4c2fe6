"""Operations on tensors: operators, and the functions that the knowledge lists."""

from __future__ import annotations

from benchmarks.differential.grammar import known
from benchmarks.differential.grammar.placing import created
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import (
    a_shape,
    expression,
    make,
    pick,
    result,
    same_side,
)
from benchmarks.differential.values import BATCH, HOST, WIDTH, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


def _operation(writer: Writer, operands: int) -> known.Operation:
    able = known.operations(operands)
    if writer.likely(85):
        able = tuple(operation for operation in able if operation.common)
    return writer.choose(able)


def _written(writer: Writer, operation: known.Operation, operands: list[str]) -> str:
    if operation.module == "F":
        writer.use("import torch.nn.functional as F")
    if operation.method and writer.likely(50):
        return f"{operands[0]}.{operation.name}({', '.join(operands[1:])})"
    return f"{operation.module}.{operation.name}({', '.join(operands)})"


def _given(writer: Writer, operation: known.Operation, operands: list[str], like: Tensor) -> None:
    """Write the call. A number that came of others may be too large to be an index."""
    text = _written(writer, operation, operands)
    if operation.gives == "long":
        writer.line(f"{writer.fresh('counts')} = {text}")
    else:
        result(writer, text, like, shape=operation.shape, dtype=operation.gives, grad=True)


@feature("create", 8)
def create(writer: Writer) -> None:
    """A new tensor."""
    make(writer, Tensor("", a_shape(writer), side=same_side(writer)))


@feature("arithmetic", 14)
def arithmetic(writer: Writer) -> None:
    """An operator between two tensors of a shape."""
    one = pick(writer, side=same_side(writer))
    operator = writer.choose(["+", "*", "-", "/"])
    other = expression(writer, one.shape, side=one.side)
    result(writer, f"{one.text} {operator} {other}", one, grad=True)


@feature("broadcast", 6)
def broadcast(writer: Writer) -> None:
    """A row beside a matrix."""
    one = pick(writer, MAIN)
    other = expression(writer, (WIDTH,))
    pair = [one.text, writer.choose(["+", "*", "-"]), other]
    result(writer, " ".join(pair if writer.likely(70) else pair[::-1]), one, grad=True)


@feature("zero-dim-operand", 10)
def zero_dim_operand(writer: Writer) -> None:
    """A tensor without dimensions: on the CPU it mixes with others, on a GPU it does not."""
    one = pick(writer, side=writer.choose(["device", "device", HOST]))
    scalar = Tensor("", (), side=writer.choose([HOST, one.side]))
    if writer.likely(60):
        text = make(writer, scalar, writer.choose(["alpha", "factor", "temperature"])).text
    else:
        text = created(writer, scalar)
    pair = [one.text, writer.choose(["*", "+", "/", "-"]), text]
    result(writer, " ".join(pair if writer.likely(75) else pair[::-1]), one, grad=True)


@feature("known-unary", 12)
def known_unary(writer: Writer) -> None:
    """A function of one tensor, of those that the knowledge lists."""
    operation = _operation(writer, 1)
    one = pick(writer, MAIN, operation.takes[0], same_side(writer))
    _given(writer, operation, [one.text], one)


@feature("known-binary", 14)
def known_binary(writer: Writer) -> None:
    """A function of two tensors."""
    operation = _operation(writer, 2)
    one = pick(writer, MAIN, operation.takes[0], same_side(writer))
    other = expression(writer, MAIN, operation.takes[1], one.side)
    _given(writer, operation, [one.text, other], one)


@feature("known-ternary", 4)
def known_ternary(writer: Writer) -> None:
    """A function of three tensors."""
    operation = _operation(writer, 3)
    operands = [expression(writer, MAIN, dtype) for dtype in operation.takes]
    _given(writer, operation, operands, pick(writer, MAIN))


@feature("reduction", 8)
def reduction(writer: Writer) -> None:
    """Fewer elements than before."""
    one = pick(writer)
    name = writer.choose(["sum", "mean", "std", "amax", "norm", "logsumexp", "nansum", "var"])
    if name != "logsumexp" and writer.likely(40):
        text = f"{one.text}.{name}()" if writer.likely(70) else f"torch.{name}({one.text})"
        result(writer, text, one, shape=())
        return
    keep = writer.sometimes(30)
    shape = (*one.shape[:-1], 1) if keep else one.shape[:-1]
    more = ", keepdim=True" if keep else ""
    result(writer, f"{one.text}.{name}(dim=-1{more})", one, shape=shape)


@feature("where", 6)
def where(writer: Writer) -> None:
    """`torch.where`, with a number or two tensors, and a condition that is computed or kept."""
    one = pick(writer, MAIN)
    if writer.likely(60):
        condition = f"{one.text} > {writer.choose(['0', expression(writer, MAIN)])}"
    else:
        condition = expression(writer, MAIN, "bool")
    other = writer.choose([expression(writer, MAIN), "0.0", "torch.tensor(0.0)"])
    pair = [one.text, other] if writer.likely(70) else [other, one.text]
    result(writer, f"torch.where({condition}, {', '.join(pair)})", one, grad=True)


@feature("masked-fill", 5)
def masked_fill(writer: Writer) -> None:
    """`masked_fill` with a number or a tensor without dimensions."""
    one = pick(writer, MAIN)
    mask = expression(writer, MAIN, "bool")
    value = writer.choose(["0.0", 'float("-inf")', "torch.tensor(-1.0)"])
    result(writer, f"{one.text}.masked_fill({mask}, {value})", one)


@feature("clamp-tensor", 4)
def clamp_tensor(writer: Writer) -> None:
    """Bounds that are tensors."""
    one = pick(writer, MAIN)
    bound = expression(writer, writer.choose([(WIDTH,), MAIN, ()]))
    calls = [
        f"torch.clamp({one.text}, min={bound})",
        f"{one.text}.clamp(max={bound})",
        f"torch.minimum({one.text}, {bound})",
        f"torch.lerp({one.text}, {one.text} * 2, {bound})",
    ]
    result(writer, writer.choose(calls), one, grad=True)


@feature("joined", 8)
def joined(writer: Writer) -> None:
    """`cat` and `stack`, which excuse nothing."""
    one = pick(writer, MAIN, side=same_side(writer))
    others = [one.text, expression(writer, MAIN, side=one.side)]
    if writer.sometimes(40):
        others.append(expression(writer, MAIN, side=one.side))
    tensors = f"[{', '.join(others)}]" if writer.likely(70) else f"({', '.join(others)})"
    number = len(others)
    calls: list[tuple[str, tuple[int, ...]]] = [
        (f"torch.cat({tensors}, dim=0)", (BATCH * number, WIDTH)),
        (f"torch.stack({tensors})", (number, *MAIN)),
        (f"torch.dstack({tensors})", (*MAIN, number)),
        (f"torch.cat({tensors}, dim=-1)", (BATCH, WIDTH * number)),
    ]
    call, shape = writer.choose(calls)
    result(writer, call, one, shape=shape, grad=True)


@feature("joined-zero-dim", 4)
def joined_zero_dim(writer: Writer) -> None:
    """Numbers of a batch, stacked."""
    one = pick(writer)
    parts = [f"{one.text}.mean()", f"{one.text}.max()", expression(writer, ())]
    result(writer, f"torch.stack([{', '.join(parts)}])", one, shape=(3,), grad=True)


@feature("compared", 5)
def compared(writer: Writer) -> None:
    """How many are right."""
    scores = pick(writer, MAIN)
    labels = pick(writer, (BATCH,), "long")
    right = writer.fresh("correct")
    best = f"{scores.text}.argmax(dim=1)"
    calls = [
        f"({best} == {labels.text}).sum().item()",
        f"{best}.eq({labels.text}).float().mean().item()",
        f"({labels.text} != {best}).sum()",
    ]
    writer.line(f"{right} = {writer.choose(calls)}")


@feature("equal-tensors", 3)
def equal_tensors(writer: Writer) -> None:
    """`torch.equal` and `allclose`."""
    one = pick(writer)
    other = expression(writer, one.shape)
    name = writer.choose(["equal", "allclose"])
    writer.line(f"{writer.fresh('same')} = torch.{name}({one.text}, {other})")
