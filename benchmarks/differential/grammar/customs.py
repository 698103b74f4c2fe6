"""Customs of old and of some: types as devices, aliases, defaults for a whole program."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, device_text, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, DEVICE, HOST, WIDTH, Flag, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)
CUDA = "torch.cuda.is_available()"


@feature("tensor-types", 6, BODY)
def tensor_types(writer: Writer) -> None:
    """`Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor`."""
    name = writer.fresh("FloatTensor")
    flags = writer.values(Flag)
    test = flags[0].text if flags else CUDA
    chosen = f"torch.cuda.FloatTensor if {test} else torch.FloatTensor"
    writer.line(f"{name} = {chosen if writer.careful() else 'torch.FloatTensor'}")
    calls = [
        f"{name}({BATCH}, {WIDTH}).fill_(1.0)",
        f"torch.randn({BATCH}, {WIDTH}).type({name})",
        f"{name}([[0.5] * {WIDTH}] * {BATCH})",
    ]
    one = result(writer, writer.choose(calls), Tensor("", MAIN))
    result(writer, f"{one.text} * {expression(writer, MAIN)}", one, grad=True)


@feature("variable", 5)
def variable(writer: Writer) -> None:
    """`Variable`, which changes nothing."""
    writer.use("from torch.autograd import Variable")
    made = moved(writer, f"torch.ones({BATCH}, {WIDTH})")
    one = result(writer, f"Variable({made})", Tensor("", MAIN))
    result(writer, f"{one.text} - {expression(writer, MAIN)}", one, grad=True)


@feature("alias-of-move", 6, BODY)
def alias_of_move(writer: Writer) -> None:
    """A function that moves where there is a GPU."""
    name = writer.fresh(writer.choose(["cuda", "to_gpu", "maybe_cuda"]))
    with writer.definition():
        writer.line(f"def {name}(x):")
        bodies = [
            [f"return x.cuda() if {CUDA} else x"],
            [f"if {CUDA}:", "    x = x.cuda()", "return x"],
            [f'return x.to("cuda" if {CUDA} else "cpu")'],
        ]
        for text in writer.choose(bodies):
            writer.line(f"    {text}")
    made = created(writer, Tensor("", MAIN, side=HOST))
    text = f"{name}({made})" if writer.careful() else made
    one = result(writer, text, Tensor("", MAIN))
    result(writer, f"{one.text} * {expression(writer, MAIN)}", one, grad=True)


@feature("moved-together", 8)
def moved_together(writer: Writer) -> None:
    """`a, b = a.to(device), b.to(device)`."""
    one, other = writer.fresh("left"), writer.fresh("right")
    shapes = ((one, MAIN), (other, (WIDTH,)))
    for name, shape in shapes:
        writer.line(f"{name} = {created(writer, Tensor('', shape, side=HOST))}")
    device = device_text(writer)
    second = f"{other}.to({device})" if writer.careful() else other
    kind = writer.number(0, 1)
    if kind == 0:
        writer.line(f"{one}, {other} = {one}.to({device}), {second}")
    else:
        pair = f"[{one}, {other}]" if second != other else f"[{one}]"
        target = f"{one}, {other}" if second != other else f"{one},"
        writer.line(f"{target} = [t.to({device}) for t in {pair}]")
    for name, shape in shapes:
        writer.keep(Tensor(name, shape))
    result(writer, f"{one} * {other}", Tensor("", MAIN))


@feature("discarded-move", 6)
def discarded_move(writer: Writer) -> None:
    """A move whose result nobody keeps: of a tensor, it does nothing."""
    name = writer.fresh("mistaken")
    writer.line(f"{name} = {created(writer, Tensor('', MAIN, side=HOST))}")
    device = device_text(writer)
    if writer.careful():
        writer.line(f"{name} = {name}.to({device})")
    else:
        writer.line(f"{name}.to({device})")
    result(writer, f"{name} + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("loop-over-devices", 4, BODY)
def loop_over_devices(writer: Writer) -> None:
    """The same computation on each device."""
    handles = writer.handles(DEVICE)
    devices = f'("cpu", {handles[0] if handles else "torch.empty(0).device"})'
    one = created(writer, Tensor("", (BATCH, WIDTH), side=HOST))
    with writer.block(f"for where in {devices}:"):
        writer.line(f"moved_rows = ({one}).to(where)")
        right = [f"torch.ones({WIDTH}, device=where)", f"torch.ones({WIDTH}).to(moved_rows.device)"]
        other = writer.choose(right) if writer.careful() else f"torch.ones({WIDTH})"
        writer.line(f"print((moved_rows * {other}).sum().item())")


@feature("default-device", 3, BODY)
def default_device(writer: Writer) -> None:
    """`set_default_device`, and the CPU again after it."""
    handles = writer.handles(DEVICE)
    device = handles[0] if handles else f'"cuda" if {CUDA} else "cpu"'
    writer.line(f"torch.set_default_device({device})")
    made = writer.choose([f"torch.ones({BATCH}, {WIDTH})", f"torch.zeros({BATCH}, {WIDTH})"])
    one = result(writer, made, Tensor("", MAIN))
    host = result(writer, f'torch.ones({WIDTH}, device="cpu")', Tensor("", (WIDTH,), side=HOST))
    result(writer, f"{one.text} * {expression(writer, MAIN)}", one, grad=True)
    if not writer.careful():
        result(writer, f"{one.text} * {host.text}", one)
    writer.line('torch.set_default_device("cpu")')


@feature("device-compared", 5)
def device_compared(writer: Writer) -> None:
    """Devices that are compared, and what hangs on that."""
    one = pick(writer, MAIN)
    name = writer.fresh("aligned")
    writer.line(f"{name} = {created(writer, Tensor('', MAIN, side=HOST))}")
    tests = [
        f"{name}.device != {one.text}.device",
        f"not {name}.device == {one.text}.device",
        f"{one.text}.device.type != {name}.device.type",
        f"{one.text}.get_device() != {name}.get_device()",
        f"{one.text}.is_cuda and not {name}.is_cuda",
    ]
    if writer.careful():
        with writer.block(f"if {writer.choose(tests)}:"):
            writer.line(f"{name} = {name}.to({one.text}.device)")
    else:
        writer.line(f"print({writer.choose(tests)})")
    result(writer, f"{name} + {one.text}", one, grad=True)


@feature("round-trip", 4)
def round_trip(writer: Writer) -> None:
    """To the CPU and back."""
    one = pick(writer, MAIN)
    back = moved(writer, f"{one.text}.detach().cpu().clone()", one.side)
    result(writer, f"{back} * {one.text}", one, grad=True)


@feature("shape-of-other", 5)
def shape_of_other(writer: Writer) -> None:
    """What reads the shape of a tensor alone, wherever that lies."""
    one = pick(writer, (WIDTH,))
    other = pick(writer, MAIN, side=writer.choose([HOST, DEVICE]))
    calls = [
        f"{one.text}.expand_as({other.text})",
        f"{one.text}.expand({other.text}.shape)",
        f"{one.text}.repeat({other.text}.size(0), 1).view_as({other.text})",
        f"{one.text}.unsqueeze(0).expand(len({other.text}), -1)",
        f"{one.text}.new_zeros({other.text}.shape)",
    ]
    result(writer, writer.choose(calls), one, shape=MAIN)
