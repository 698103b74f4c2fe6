"""Products of matrices, and operations that give another shape or order."""

from __future__ import annotations

from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import (
    expression,
    pick,
    result,
    same_side,
)
from benchmarks.differential.values import BATCH, WIDTH, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


@feature("normalized", 6)
def normalized(writer: Writer) -> None:
    """Softmax and its like."""
    one = pick(writer, MAIN)
    writer.use("import torch.nn.functional as F")
    calls = [
        f"F.softmax({one.text}, dim=-1)",
        f"{one.text}.softmax(dim=-1)",
        f"F.log_softmax({one.text}, dim=1)",
        f"F.normalize({one.text}, dim=-1)",
        f"F.dropout({one.text}, p=0.1)",
        f"F.gelu({one.text})",
        f"{one.text}.clamp(0.0, 1.0)",
        f"{one.text}.cumsum(dim=-1)",
    ]
    result(writer, writer.choose(calls), one)


@feature("layer-norm-function", 3)
def layer_norm(writer: Writer) -> None:
    """`F.layer_norm` with its weight and bias."""
    writer.use("import torch.nn.functional as F")
    one = pick(writer, MAIN)
    weight, bias = expression(writer, (WIDTH,)), expression(writer, (WIDTH,))
    text = f"F.layer_norm({one.text}, ({WIDTH},), weight={weight}, bias={bias})"
    result(writer, text, one, grad=True)


@feature("matrix-product", 10)
def matrix_product(writer: Writer) -> None:
    """`@`, `matmul`, `einsum` and their like."""
    one = pick(writer, MAIN, side=same_side(writer))
    square = expression(writer, (WIDTH, WIDTH), side=one.side)
    calls = [
        f"{one.text} @ {square}",
        f"torch.matmul({one.text}, {square})",
        f"{one.text}.mm({square})",
        f'torch.einsum("bi,ij->bj", {one.text}, {square})',
        f"torch.mm({one.text}, {square})",
        f"torch.tensordot({one.text}, {square}, dims=1)",
    ]
    result(writer, writer.choose(calls), one, grad=True)


@feature("product-with-bias", 4)
def product_with_bias(writer: Writer) -> None:
    """`F.linear`, `addmm`, `baddbmm`."""
    writer.use("import torch.nn.functional as F")
    one = pick(writer, MAIN)
    square = expression(writer, (WIDTH, WIDTH))
    row = expression(writer, (WIDTH,))
    calls = [
        f"F.linear({one.text}, {square}, {row})",
        f"torch.addmm({row}, {one.text}, {square})",
        f"F.linear({one.text}, {square})",
    ]
    result(writer, writer.choose(calls), one, grad=True)


@feature("vector-product", 4)
def vector_product(writer: Writer) -> None:
    """`dot`, `outer`, `mv`, `bmm`."""
    row = pick(writer, (WIDTH,))
    shape: tuple[int, ...] = ()
    kind = writer.number(0, 3)
    if kind == 0:
        text = f"torch.dot({row.text}, {expression(writer, (WIDTH,))})"
    elif kind == 1:
        text, shape = f"torch.outer({expression(writer, (BATCH,))}, {row.text})", MAIN
    elif kind == 2:
        text, shape = f"torch.mv({expression(writer, MAIN)}, {row.text})", (BATCH,)
    else:
        first, second = (expression(writer, (2, BATCH, WIDTH)) for _ in range(2))
        text = f"torch.bmm({first}, {second}.transpose(1, 2)) * {row.text}.sum()"
        shape = (2, BATCH, BATCH)
    result(writer, text, row, shape=shape, grad=True)


@feature("reshaped", 6)
def reshaped(writer: Writer) -> None:
    """Another shape of the same elements."""
    one = pick(writer, MAIN)
    views = [
        (f"{one.text}.reshape(-1)", (BATCH * WIDTH,)),
        (f"{one.text}.unsqueeze(0)", (1, *MAIN)),
        (f"{one.text}.t()", (WIDTH, BATCH)),
        (f"{one.text}.reshape(2, 2, {WIDTH})", (2, 2, WIDTH)),
        (f"{one.text}[:, 0]", (BATCH,)),
        (f"{one.text}[0]", (WIDTH,)),
        (f"{one.text}[-1].expand({BATCH}, {WIDTH})", MAIN),
        (f"{one.text}.repeat(2, 1)", (2 * BATCH, WIDTH)),
        (f"{one.text}.permute(1, 0).contiguous()", (WIDTH, BATCH)),
        (f"torch.flip({one.text}, dims=[0])", MAIN),
    ]
    text, shape = writer.choose(views)
    result(writer, text, one, shape=shape)


@feature("parts-of-tensor", 5)
def parts_of_tensor(writer: Writer) -> None:
    """`chunk`, `split` and `unbind`, unpacked."""
    one = pick(writer, MAIN)
    first, second = writer.fresh("first"), writer.fresh("rest")
    calls = [f"{one.text}.chunk(2, dim=-1)", f"torch.split({one.text}, {WIDTH // 2}, dim=1)"]
    writer.line(f"{first}, {second} = {writer.choose(calls)}")
    half = (BATCH, WIDTH // 2)
    for name in (first, second):
        writer.keep(Tensor(name, half, grad=one.grad, side=one.side))
    result(writer, f"{first} * torch.sigmoid({second})", one, shape=half)


@feature("ordered", 5)
def ordered(writer: Writer) -> None:
    """`topk`, `sort` and `max` with a dimension: values and indices."""
    one = pick(writer, MAIN)
    best, where_ = writer.fresh("best"), writer.fresh("indices")
    calls = [
        (f"{one.text}.topk(2, dim=1)", (BATCH, 2)),
        (f"torch.max({one.text}, dim=1)", (BATCH,)),
        (f"torch.sort({one.text}, dim=1)", MAIN),
        (f"{one.text}.min(1)", (BATCH,)),
    ]
    text, shape = writer.choose(calls)
    writer.line(f"{best}, {where_} = {text}")
    writer.keep(Tensor(best, shape, grad=one.grad, side=one.side))
