"""Functions that give several things, yield, wrap others, change what is global, or are methods."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import device_text
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, keep_parts, pick, result
from benchmarks.differential.values import (
    BATCH,
    DEVICE,
    HOST,
    WIDTH,
    Handle,
    Tensor,
)
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)
NAMES = ("combine", "prepare", "score", "transform", "mix_up", "compute_loss")


@feature("early-return", 6)
def early_return(writer: Writer) -> None:
    """A function that returns before its end, for some arguments."""
    name = writer.fresh("ensure")
    with writer.definition():
        writer.line(f"def {name}(x, like):")
        tests = ["x.device == like.device", "x.is_cuda", "x is like", "x.dim() < 2"]
        writer.line(f"    if {writer.choose(tests)}:")
        writer.line("        return x")
        right = ["x.to(like.device)", "x.to(like)"]
        writer.line(f"    return {writer.choose(right) if writer.careful() else 'x.clone()'}")
    one = pick(writer, MAIN)
    other = expression(writer, MAIN, side=writer.choose([HOST, one.side]))
    result(writer, f"{one.text} + {name}({other}, {one.text})", one, grad=True)


@feature("returned-tuple", 7)
def returned_tuple(writer: Writer) -> None:
    """A function that gives two tensors, a dictionary, or a list."""
    name = writer.fresh("split_up")
    device = ", device=x.device" if writer.careful() else ""
    kinds = [
        ("return x * 2, torch.ones({0}{1})", "{2}[0] + {2}[1]"),
        ('return {{"x": x, "mask": torch.ones({0}{1})}}', '{2}["x"] * {2}["mask"]'),
        ("return [x, torch.zeros({0}{1})]", "sum({2})"),
    ]
    body, use = writer.choose(kinds)
    with writer.definition():
        writer.line(f"def {name}(x):")
        writer.line("    " + body.format(WIDTH, device))
    parts = writer.fresh("parts")
    one = pick(writer, MAIN)
    writer.line(f"{parts} = {name}({one.text})")
    result(writer, use.format("", "", parts), one, grad=True)


@feature("generator-function", 5)
def generator_function(writer: Writer) -> None:
    """A function that yields."""
    name = writer.fresh("rounds")
    move = writer.careful()
    with writer.definition():
        writer.line(f"def {name}(count, device):")
        writer.line("    for _ in range(count):")
        right = [f"torch.rand({WIDTH}, device=device)", f"torch.rand({WIDTH}).to(device)"]
        writer.line(f"        yield {writer.choose(right) if move else f'torch.rand({WIDTH})'}")
    one = pick(writer, (WIDTH,))
    total = writer.fresh("summed")
    writer.line(f"{total} = {one.text}.detach().clone()")
    with writer.block(f"for each in {name}(2, {one.text}.device):"):
        writer.line(f"{total} = {total} + each")
    writer.keep(Tensor(total, (WIDTH,), side=one.side))


@feature("decorator", 4)
def decorator(writer: Writer) -> None:
    """A wrapper: `torch.no_grad()`, or one of the program's own."""
    name = writer.fresh("evaluate")
    kind = writer.number(0, 1)
    with writer.definition():
        if kind:
            writer.use("import functools")
            wrapper = writer.fresh("logged")
            writer.lines(
                f"def {wrapper}(function):",
                "    @functools.wraps(function)",
                "    def wrapped(*args, **kwargs):",
                "        return function(*args, **kwargs)",
                "    return wrapped",
                "",
                f"@{wrapper}",
            )
        else:
            writer.line("@torch.no_grad()")
        writer.line(f"def {name}(x):")
        text = "torch.zeros_like(x)" if writer.careful() else f"torch.zeros({WIDTH})"
        writer.line(f"    return x + {text}")
    result(writer, f"{name}({expression(writer, MAIN)})", Tensor("", MAIN), grad=bool(kind))


@feature("global-changed", 3, BODY)
def global_changed(writer: Writer) -> None:
    """A list of the module, which a function extends."""
    name, history = writer.fresh("record"), writer.fresh("HISTORY")
    side = writer.choose([HOST, DEVICE])
    with writer.definition():
        writer.lines(
            f"{history} = []",
            "",
            "",
            f"def {name}(x):",
        )
        more = ".cpu()" if side == HOST and writer.careful() else ""
        writer.line(f"    {history}.append(x.detach(){more})")
    for _ in range(2):
        writer.line(f"{name}({expression(writer, MAIN)})")
    like = Tensor("", MAIN, side=side)
    result(
        writer,
        f"torch.stack({history}).mean(0) + {expression(writer, MAIN, side=side)}",
        like,
        grad=True,
    )


@feature("method-of-object", 6)
def method_of_object(writer: Writer) -> None:
    """A class that is no module, with state that its methods change."""
    name = writer.fresh(writer.choose(["Meter", "Scaler", "Replay"]))
    kind = writer.number(0, 2)
    right = f"torch.zeros({WIDTH}, device=x.device)"
    with writer.definition():
        writer.line(f"class {name}:")
        if kind == 0:
            writer.line("    def __init__(self, device=None):")
            writer.line(f"        self.total = torch.zeros({WIDTH}, device=device)")
        else:
            writer.line("    def __init__(self, device=None):")
            writer.line("        self.total = None")
        writer.line("")
        writer.line("    def update(self, x):")
        if kind:
            writer.line("        if self.total is None:")
            writer.line(
                f"            self.total = {right if writer.careful() else f'torch.zeros({WIDTH})'}"
            )
        adds = ["= self.total + x.mean(0)", "+= x.detach().mean(0)"]
        writer.line(f"        self.total {writer.choose(adds)}")
        writer.line("        return self.total")
    made = writer.fresh("meter")
    given = device_text(writer) if writer.careful() else ""
    writer.line(f"{made} = {name}({given})")
    one = pick(writer, MAIN, grad=False)
    result(writer, f"{made}.update({one.text})", one, shape=(WIDTH,))


@feature("device-wrapper", 4, BODY)
def device_wrapper(writer: Writer) -> None:
    """A function that moves what it is given, of whatever kind."""
    name = writer.fresh("to_device")
    with writer.definition():
        writer.lines(
            f"def {name}(data, device):",
            "    if isinstance(data, (list, tuple)):",
            f"        return [{name}(each, device) for each in data]",
            "    if isinstance(data, dict):",
            f"        return {{key: {name}(each, device) for key, each in data.items()}}",
            f"    return data.to(device){'' if writer.careful() else '.cpu()'}",
        )
    pair = f"[{expression(writer, MAIN, side=HOST)}, {expression(writer, MAIN, side=HOST)}]"
    parts = writer.fresh("moved")
    handles = writer.handles(DEVICE)
    device = Handle(handles[0] if handles else device_text(writer)).text
    writer.line(f"{parts} = {name}({pair}, {device})")
    whole = Tensor("", MAIN)
    if not keep_parts(writer, whole.named(f"{parts}[0]"), whole.named(f"{parts}[1]")):
        return
    text = f"{parts}[0] * {parts}[1] + {expression(writer, MAIN)}"
    result(writer, text, Tensor("", MAIN), grad=True)
