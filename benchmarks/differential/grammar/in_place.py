"""What writes into a tensor that is there already."""

from __future__ import annotations

from benchmarks.differential.grammar import known
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, make, pick
from benchmarks.differential.values import BATCH, HOST, WIDTH, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


def _target(writer: Writer, shape: tuple[int, ...], side: str = "device") -> Tensor:
    """A tensor to write into, of which no graph knows yet."""
    stem = writer.choose(["buffer", "total", "running", "memory"])
    made = make(writer, Tensor("", shape, side=side), stem)
    writer.drop(made)
    return made


def _source(writer: Writer, shape: tuple[int, ...], side: str = "device") -> str:
    """What is written, without its graph."""
    text = expression(writer, shape, side=side)
    return f"{text}.detach()" if not text.startswith("torch.") else text


@feature("augmented", 8)
def augmented(writer: Writer) -> None:
    """`+=` and its like; into a tensor without dimensions on the CPU nothing is excused."""
    shape = writer.choose([MAIN, (), (WIDTH,)])
    target = _target(writer, shape)
    source = _source(writer, shape) if shape else _source(writer, MAIN) + ".mean()"
    writer.line(f"{target.text} {writer.choose(['+=', '*=', '-='])} {source}")
    writer.keep(target)


@feature("in-place-method", 7)
def in_place_method(writer: Writer) -> None:
    """`add_`, `mul_`, and what else the knowledge lists of two tensors."""
    target = _target(writer, MAIN)
    name = writer.choose([operation.name for operation in known.elementwise(2)])
    source = _source(writer, writer.choose([MAIN, (WIDTH,), ()]))
    writer.line(f"{target.text}.{name}_({source})")
    writer.keep(target)


@feature("in-place-unary", 3)
def in_place_unary(writer: Writer) -> None:
    """`sigmoid_`, `fill_`, `normal_`."""
    target = _target(writer, MAIN)
    name = writer.choose([operation.name for operation in known.elementwise(1)])
    calls = [f"{name}_()", "fill_(0.5)", "normal_()", "zero_()", "uniform_(-1, 1)"]
    writer.line(f"{target.text}.{writer.choose(calls)}")
    writer.keep(target)


@feature("copied-into", 5)
def copied_into(writer: Writer) -> None:
    """`copy_` crosses devices."""
    target = _target(writer, MAIN, writer.choose(["device", HOST]))
    source = _source(writer, MAIN, writer.choose(["device", HOST]))
    writer.line(f"{target.text}.copy_({source})")
    writer.keep(target)


@feature("stored-by-place", 6)
def stored_by_place(writer: Writer) -> None:
    """`x[0] = row` and `x[1:3] = rows` copy from anywhere."""
    target = _target(writer, MAIN, writer.choose(["device", HOST]))
    rows = [("0", (WIDTH,)), ("1:3", (2, WIDTH)), (":, 2", (BATCH,)), ("-1", (WIDTH,))]
    place, shape = writer.choose(rows)
    source = _source(writer, shape, writer.choose(["device", HOST]))
    writer.line(f"{target.text}[{place}] = {source}")
    writer.keep(target)


@feature("stored-by-tensor", 6)
def stored_by_tensor(writer: Writer) -> None:
    """`x[index] = rows` and `x[mask] = 0.0`."""
    target = _target(writer, MAIN)
    kind = writer.number(0, 2)
    if kind == 0:
        by = expression(writer, (BATCH,), "long", writer.choose([target.side, HOST]))
        writer.line(f"{target.text}[{by}] = {_source(writer, MAIN)}")
    elif kind == 1:
        by = expression(writer, MAIN, "bool", writer.choose([target.side, HOST]))
        writer.line(f"{target.text}[{by}] = {writer.choose(['0.0', 'torch.tensor(1.0)'])}")
    else:
        writer.line(f"{target.text}[{target.text} > 0.5] = 0.0")
    writer.keep(target)


@feature("scattered-into", 5)
def scattered_into(writer: Writer) -> None:
    """`scatter_`, `index_add_`, `masked_fill_`, `index_copy_`."""
    target = _target(writer, MAIN)
    by = pick(writer, (BATCH,), "long")
    source = _source(writer, MAIN)
    calls = [
        f"scatter_(1, {by.text}.unsqueeze(1), 1.0)",
        f"index_add_(0, {by.text}, {source})",
        f"scatter_add_(0, {by.text}.unsqueeze(1).expand(-1, {WIDTH}), {source})",
        f"index_fill_(0, {by.text}, 0.0)",
        f"masked_fill_({expression(writer, MAIN, 'bool')}, 0.0)",
    ]
    writer.line(f"{target.text}.{writer.choose(calls)}")
    writer.keep(target)


@feature("out-argument", 4)
def out_argument(writer: Writer) -> None:
    """`out=`, which must lie where the result would."""
    target = _target(writer, MAIN)
    one = _source(writer, MAIN)
    calls = [
        f"torch.add({one}, {_source(writer, MAIN)}, out={target.text})",
        f"torch.sigmoid({one}, out={target.text})",
        f"torch.mul({one}, 2.0, out={target.text})",
        f"torch.matmul({one}, {_source(writer, (WIDTH, WIDTH))}, out={target.text})",
    ]
    writer.line(writer.choose(calls))
    writer.keep(target)


@feature("data-attribute", 4)
def data_attribute(writer: Writer) -> None:
    """`x.data`, read and stored."""
    target = _target(writer, MAIN)
    kind = writer.number(0, 2)
    if kind == 0:
        writer.line(f"{target.text}.data = {_source(writer, MAIN)}.clone()")
    elif kind == 1:
        writer.line(f"{target.text}.data += {_source(writer, MAIN)}")
    else:
        writer.line(f"{target.text}.data.copy_({_source(writer, MAIN, HOST)})")
    writer.keep(target)


@feature("accumulated", 5)
def accumulated(writer: Writer) -> None:
    """A sum over rounds of a loop."""
    target = _target(writer, (WIDTH,))
    one = pick(writer, MAIN)
    with writer.block(f"for row in {one.text}.detach():"):
        plain = f"{target.text} = {target.text} + row"
        writer.line(plain if writer.likely(50) else f"{target.text} += row")
    writer.keep(target)
