"""Generators of random numbers, and factories of every kind."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import device_text, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import BATCH, HOST, WIDTH, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


@feature("generator", 6)
def generator(writer: Writer) -> None:
    """A generator of random numbers, which lies where it makes them."""
    name = writer.fresh("generator")
    device = device_text(writer)
    on_device = writer.likely(50)
    given = f"device={device}" if on_device else ""
    writer.line(f"{name} = torch.Generator({given}).manual_seed(1)")
    right = on_device if writer.careful() else not on_device
    more = f", device={device}" if right else ""
    calls = [
        f"torch.randn({BATCH}, {WIDTH}, generator={name}{more})",
        f"torch.rand(({BATCH}, {WIDTH}), generator={name}{more})",
        f"torch.empty({BATCH}, {WIDTH}{more}).normal_(generator={name})",
    ]
    side = "device" if on_device else HOST
    one = result(writer, writer.choose(calls), Tensor("", MAIN, side=side))
    result(writer, f"{one.text} * {expression(writer, MAIN, side=side)}", one, grad=True)


@feature("random-state", 3)
def random_state(writer: Writer) -> None:
    """The state of the generators, kept and set again."""
    name = writer.fresh("rng_state")
    writer.line(f"{name} = torch.get_rng_state()")
    one = pick(writer, MAIN)
    drawn = result(writer, f"torch.bernoulli(torch.full_like({one.text}, 0.5))", one, grad=False)
    writer.line(f"torch.set_rng_state({name})")
    result(writer, f"{one.text} * {drawn.text}", one)


@feature("distribution", 5)
def distribution(writer: Writer) -> None:
    """A distribution whose parameters lie together."""
    writer.use("from torch.distributions import Categorical, Normal")
    name = writer.fresh("policy")
    if writer.likely(50):
        given = f"{expression(writer, MAIN)}.nan_to_num().clamp(-5, 5)"
        other = f"{expression(writer, (WIDTH,))}.nan_to_num().abs().clamp(0.1, 5)"
        writer.line(f"{name} = Normal({given}, {other})")
        result(
            writer, f"{name}.rsample() + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True
        )
        return
    given = f"{expression(writer, MAIN)}.nan_to_num().clamp(-5, 5)"
    writer.line(f"{name} = Categorical(logits={given})")
    action = writer.fresh("action")
    writer.line(f"{action} = {name}.sample()")
    taken = expression(writer, (BATCH,), "long", writer.choose(["device", "device", HOST]))
    text = f"{name}.log_prob({action if writer.likely(60) else taken})"
    result(writer, text, Tensor("", (BATCH,)), grad=True)


@feature("factory", 9)
def factory(writer: Writer) -> None:
    """One of the rarer factories."""
    calls = [
        (f"torch.linspace(0, 1, {WIDTH})", (WIDTH,)),
        (f"torch.logspace(0, 1, {WIDTH})", (WIDTH,)),
        (f"torch.arange(0, {WIDTH}, dtype=torch.float32)", (WIDTH,)),
        (f"torch.hann_window({WIDTH})", (WIDTH,)),
        (f"torch.eye({WIDTH})", (WIDTH, WIDTH)),
        (f"torch.empty({WIDTH}).fill_(1.0)", (WIDTH,)),
        (f"torch.randperm({WIDTH}).float()", (WIDTH,)),
        (
            f"torch.zeros({BATCH}, {WIDTH}).index_fill_(0, torch.tensor([0, 2]), 1.0)",
            MAIN,
        ),
        (f"torch.diag(torch.ones({WIDTH}))", (WIDTH, WIDTH)),
        (f"torch.tril(torch.ones({WIDTH}, {WIDTH}))", (WIDTH, WIDTH)),
        (
            'torch.meshgrid(torch.arange(2.0), torch.arange(4.0), indexing="ij")[1].reshape(-1)',
            (WIDTH,),
        ),
        (f"torch.full(({WIDTH},), 1.5)", (WIDTH,)),
        (f"torch.FloatTensor({BATCH}, {WIDTH}).zero_()", MAIN),
        (f"torch.Tensor([0.5] * {WIDTH})", (WIDTH,)),
        (f"torch.complex(torch.ones({WIDTH}), torch.zeros({WIDTH})).real", (WIDTH,)),
        ("torch.cartesian_prod(torch.arange(2.0), torch.arange(4.0)).sum(1)", (WIDTH,)),
    ]
    text, shape = writer.choose(calls)
    if text.count("(") == 1 and "Tensor" not in text and writer.careful() and writer.likely(50):
        text = f"{text[:-1]}, device={device_text(writer)})"
    else:
        text = moved(writer, text)
    one = result(writer, text, Tensor("", shape))
    other = expression(writer, MAIN)
    product = f"{other} @ {one.text}" if shape == (WIDTH, WIDTH) else f"{other} * {one.text}"
    result(writer, product, Tensor("", MAIN), grad=True)


@feature("factory-follows", 7)
def factory_follows(writer: Writer) -> None:
    """What is made like something that is there."""
    one = pick(writer, MAIN)
    calls = [
        f"torch.zeros_like({one.text})",
        f"{one.text}.new_zeros({BATCH}, {WIDTH})",
        f"{one.text}.new_full(({BATCH}, {WIDTH}), 0.5)",
        f"torch.empty_like({one.text}).fill_(2.0)",
        f"torch.zeros({BATCH}, {WIDTH}).type_as({one.text})",
        f"{one.text}.new_tensor([[0.5] * {WIDTH}] * {BATCH})",
        f"torch.zeros({one.text}.shape, dtype={one.text}.dtype, device={one.text}.device)",
        f"torch.full_like({one.text}, 0.5)",
        f"torch.ones({one.text}.size()).to({one.text})",
        f"{one.text}.new_empty({BATCH}, {WIDTH}).zero_()",
        f"{one.text}.new({BATCH}, {WIDTH}).zero_()",
        f"torch.rand({one.text}.size(0), {WIDTH}, device={one.text}.device)",
    ]
    made = result(writer, writer.choose(calls), one, grad=False)
    result(
        writer,
        f"{one.text} + {made.text} * {expression(writer, MAIN, side=one.side)}",
        one,
        grad=True,
    )


@feature("type-changed", 4)
def type_changed(writer: Writer) -> None:
    """Another type of the elements, by `to`, `type` or its own name: nothing moves."""
    one = pick(writer, MAIN)
    calls = [
        f"{one.text}.to(torch.float64).float()",
        f"{one.text}.double().to(torch.float32)",
        f"{one.text}.half().float()",
        f"{one.text}.type(torch.FloatTensor)"
        if not writer.careful()
        else f"{one.text}.type(torch.float32)",
        f"({one.text} > 0).float()",
    ]
    made = result(writer, writer.choose(calls), one)
    result(writer, f"{made.text} * {one.text}", one)
