"""What leaves the device: numbers, lists, arrays of numpy, and what comes back of them."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, HOST, WIDTH, Array, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


def _at_host(writer: Writer, tensor: Tensor) -> str:
    """The tensor, ready to be read by the CPU; the coin may forget that."""
    text = f"{tensor.text}.detach()"
    if tensor.side == HOST and writer.likely(60):
        return text
    if not writer.careful():
        return text
    return f"{text}.cpu()" if writer.likely(75) else f"{tensor.text}.cpu().detach()"


@feature("number-read", 8)
def number_read(writer: Writer) -> None:
    """`item()`, `float()`, `tolist()`, formatting: all cross."""
    one = pick(writer)
    name = writer.fresh("number")
    reads = [
        f"{one.text}.sum().item()",
        f"float({one.text}.detach().mean())",
        f"{one.text}.detach().tolist()",
        f'"{{:.3f}}".format({one.text}.detach().mean())',
        f"int({one.text}.argmax())",
        f"bool(({one.text} > 0).any())",
        f"len({one.text})",
    ]
    writer.line(f"{name} = {writer.choose(reads)}")


@feature("printed", 4)
def printed(writer: Writer) -> None:
    """What is printed may lie anywhere."""
    one = pick(writer)
    writer.line(
        writer.choose(
            [f"print({one.text}.shape)", f"print({one.text})", f'print("mean", {one.text}.mean())']
        )
    )


@feature("to-numpy", 10)
def to_numpy(writer: Writer) -> None:
    """`.numpy()` and its like, of what lies on the CPU."""
    one = pick(writer, MAIN)
    name = writer.fresh("array")
    ready = _at_host(writer, one)
    writer.use("import numpy as np")
    calls = [
        f"{ready}.numpy()",
        f"np.asarray({ready})",
        f"np.array({ready}).astype(np.float32)",
        f"np.asarray({ready}.tolist(), dtype=np.float32)",
        f"{one.text}.numpy(force=True)",
    ]
    writer.line(f"{name} = {writer.choose(calls)}")
    writer.keep(Array(name, MAIN))


@feature("numpy-function", 5)
def numpy_function(writer: Writer) -> None:
    """A function of numpy, of a tensor."""
    writer.use("import numpy as np")
    one = pick(writer, MAIN)
    name = writer.choose(["np.concatenate", "np.isnan", "np.linalg.norm", "np.tanh", "np.stack"])
    ready = _at_host(writer, one)
    given = f"[{ready}, {ready}]" if name in {"np.concatenate", "np.stack"} else ready
    writer.line(f"{writer.fresh('summary')} = {name}({given})")


@feature("from-numpy", 9)
def from_numpy(writer: Writer) -> None:
    """An array of numpy, as a tensor again."""
    writer.use("import numpy as np")
    arrays = writer.values(Array)
    if arrays and writer.likely(70):
        array = writer.choose(arrays[:3]).text
    else:
        array = writer.fresh("raw")
        made = [
            f"np.ones(({BATCH}, {WIDTH}), dtype=np.float32)",
            f"np.random.rand({BATCH}, {WIDTH})",
        ]
        writer.line(f"{array} = {writer.choose(made)}")
    calls = [
        f"torch.from_numpy({array}).float()",
        f"torch.tensor({array}, dtype=torch.float32)",
        f"torch.as_tensor({array}, dtype=torch.float32)",
        f"torch.FloatTensor({array})",
    ]
    text = writer.choose(calls)
    if text.endswith("dtype=torch.float32)") and writer.handles("device") and writer.careful():
        text = f"{text[:-1]}, device={writer.handles('device')[0]})"
    else:
        text = moved(writer, text)
    one = result(writer, text, Tensor("", MAIN))
    result(writer, f"{one.text} * {expression(writer, MAIN)}", one, grad=True)


@feature("host-metric", 6)
def host_metric(writer: Writer) -> None:
    """A measure that is kept on the CPU beside other such."""
    one = pick(writer, MAIN)
    name = writer.fresh("on_host")
    writer.line(f"{name} = {moved(writer, f'{one.text}.detach()', HOST)}")
    kept = writer.keep(Tensor(name, MAIN, side=HOST))
    result(writer, f"{kept.text} - {expression(writer, MAIN, side=HOST)}", kept, grad=True)


@feature("tensor-of-numbers", 6)
def tensor_of_numbers(writer: Writer) -> None:
    """`torch.tensor` of numbers that were read, or of tensors without dimensions."""
    one = pick(writer, MAIN)
    lists = [
        f"[{one.text}.mean().item(), 0.5]",
        f"{one.text}.detach().mean(0).tolist()",
        f"[row.sum().item() for row in {one.text}.detach()]",
        f"[{one.text}.detach().mean(), {one.text}.detach().max()]",
    ]
    number = writer.number(0, 3)
    shape = ((2,), (WIDTH,), (BATCH,), (2,))[number]
    device = f", device={one.text}.device" if writer.careful() else ""
    made = result(writer, f"torch.tensor({lists[number]}{device})", one, shape=shape, grad=False)
    result(writer, f"{made.text} * {expression(writer, shape, side=one.side)}", made, grad=True)


@feature("tensor-of-scalar", 4)
def tensor_of_scalar(writer: Writer) -> None:
    """`torch.tensor` and `as_tensor` of a tensor without dimensions."""
    one = pick(writer, MAIN)
    calls = [
        f"torch.as_tensor({one.text}.detach().mean())",
        f"torch.tensor({one.text}.detach().mean().item())",
        f"torch.as_tensor({one.text}.detach())[0].mean()",
    ]
    made = result(writer, writer.choose(calls), one, shape=(), grad=False)
    result(writer, f"{expression(writer, MAIN)} / ({made.text} + 1)", one, grad=True)


@feature("python-of-tensors", 4)
def python_of_tensors(writer: Writer) -> None:
    """Python's own functions, of tensors: `max`, `sorted`, `sum`, `range`."""
    one, other = pick(writer, (BATCH,)), expression(writer, (BATCH,))
    name = writer.fresh("of_python")
    calls = [
        f"max({one.text}.mean(), {other}.mean())",
        f"sum({one.text}) + {other}.sum()",
        f"abs({one.text}).mean() + {other}.max()",
        f"[each.item() for each in {one.text}.detach()]",
        f"list(range({one.text}.argmax() + 1))",
        f"min(len({one.text}), {other}.shape[0])",
    ]
    writer.line(f"{name} = {writer.choose(calls)}")
