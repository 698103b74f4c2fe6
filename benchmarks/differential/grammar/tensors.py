"""Tensors to work with: one in sight, or one that is made for the purpose."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, move_statement
from benchmarks.differential.values import BATCH, CLASSES, DEVICE, WIDTH, Tensor
from benchmarks.differential.writer import Writer

STEMS = {
    "float": ("x", "features", "values", "weights", "hidden", "images", "scale", "noise", "target"),
    "long": ("index", "targets", "ids", "positions"),
    "bool": ("mask", "keep", "valid"),
}

SHAPES = ((BATCH, WIDTH), (BATCH, WIDTH), (WIDTH,), (BATCH, CLASSES), (BATCH,), (2, BATCH, WIDTH))


def a_shape(writer: Writer) -> tuple[int, ...]:
    """One of the usual shapes."""
    return writer.choose(SHAPES)


def make(writer: Writer, tensor: Tensor, stem: str = "") -> Tensor:
    """Write the creation of a tensor, which the lines that follow can use."""
    name = writer.fresh(stem or writer.choose(STEMS[tensor.dtype]))
    if writer.sometimes(20):
        care, writer.care = writer.care, 0
        text = created(writer, tensor)
        writer.care = care
        writer.line(f"{name} = {text}")
        move_statement(writer, name, tensor.side)
    else:
        writer.line(f"{name} = {created(writer, tensor)}")
    return writer.keep(tensor.named(name))


def pick(
    writer: Writer,
    shape: tuple[int, ...] | None = None,
    dtype: str = "float",
    side: str = DEVICE,
    *,
    grad: bool = True,
) -> Tensor:
    """A tensor in sight that fits, or a new one.

    Args:
        writer: the program.
        shape: what it must be; any of the usual without.
        dtype: what its elements are.
        side: where it belongs.
        grad: whether it may require grad.
    """
    able = [
        tensor
        for tensor in writer.values(Tensor)
        if tensor.dtype == dtype
        and tensor.side == side
        and (tensor.shape == shape if shape is not None else len(tensor.shape) > 0)
        and (grad or not tensor.grad)
    ][:6]
    if able and (writer.likely(85) or writer.full):
        return writer.choose(able)
    return make(writer, Tensor("", a_shape(writer) if shape is None else shape, dtype, side=side))


def expression(
    writer: Writer, shape: tuple[int, ...], dtype: str = "float", side: str = DEVICE
) -> str:
    """A tensor in sight, or an expression that makes one on the spot."""
    if writer.likely(65):
        return pick(writer, shape, dtype, side).text
    return created(writer, Tensor("", shape, dtype, side=side))


RESULTS = ("y", "out", "z", "combined", "changed")


def result(
    writer: Writer,
    text: str,
    like: Tensor,
    *,
    shape: tuple[int, ...] | None = None,
    dtype: str | None = None,
    grad: bool | None = None,
) -> Tensor:
    """Write `y = text`, and keep what it gives: like that tensor but for what is said."""
    name = writer.fresh(writer.choose(RESULTS))
    writer.line(f"{name} = {text}")
    kind = like.dtype if dtype is None else dtype
    return writer.keep(
        Tensor(
            name,
            like.shape if shape is None else shape,
            kind,
            (like.grad if grad is None else grad) and kind == "float",
            like.side,
        )
    )


def keep_parts(writer: Writer, *parts: Tensor) -> bool:
    """Let later lines use what lies inside of something; whether to use it at once, a coin says."""
    for part in parts:
        writer.keep(part)
    return writer.likely(50)


def zero_dim(writer: Writer, side: str = DEVICE) -> Tensor:
    """A float without dimensions."""
    return pick(writer, (), side=side)


def same_side(writer: Writer) -> str:
    """The side that a new computation is on: the device, rarely another that has tensors."""
    others = [tensor.side for tensor in writer.values(Tensor) if tensor.side != DEVICE]
    return writer.choose(others[:3]) if others and writer.sometimes(15) else DEVICE
