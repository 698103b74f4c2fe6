"""Functions: with defaults, `*args` and `**kwargs`, closures, lambdas, generators, wrappers."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, device_text
from benchmarks.differential.grammar.registry import can_nest, feature, fill
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import (
    BATCH,
    WIDTH,
    Function,
    Tensor,
    without_graph,
)
from benchmarks.differential.writer import Frame, Writer

MAIN = (BATCH, WIDTH)
NAMES = ("combine", "prepare", "score", "transform", "mix_up", "compute_loss")


def _whole(writer: Writer, like: Tensor) -> str:
    """What a function gives: something of the shape that it took."""
    return f"{like.text} * {expression(writer, like.shape)}"


@feature("function", 14, ready=can_nest)
def function(writer: Writer) -> None:
    """A function of the module, and a call."""
    name = writer.fresh(writer.choose(NAMES))
    writer.reserve("x")
    with writer.definition() as frame:
        writer.line(f"def {name}(x, other):")
        frame.indent += 1
        one = writer.keep(Tensor("x", MAIN, grad=True))
        writer.keep(Tensor("other", MAIN, grad=True))
        fill(writer, 2)
        writer.line(f"return {_whole(writer, one)}")
    given = f"{expression(writer, MAIN)}, {expression(writer, MAIN)}"
    writer.keep(Function(name, (Tensor("", MAIN), Tensor("", MAIN)), Tensor("", MAIN)))
    result(writer, f"{name}({given})", Tensor("", MAIN), grad=True)


@feature("function-called-again", 60, ready=lambda w: bool(w.values(Function)))
def called_again(writer: Writer) -> None:
    """A function that is there, with other arguments."""
    known = writer.choose(writer.values(Function))
    given = [expression(writer, taken.shape, taken.dtype, taken.side) for taken in known.takes]
    result(writer, f"{known.text}({', '.join(given)})", known.gives, grad=True)


@feature("default-argument", 8)
def default_argument(writer: Writer) -> None:
    """A parameter that is made where it is not given."""
    name = writer.fresh("weighted")
    device = "" if not writer.careful() else ", device=x.device"
    with writer.definition():
        kind = writer.number(0, 2)
        if kind == 0:
            writer.lines(
                f"def {name}(x, weight=None):",
                "    if weight is None:",
                f"        weight = torch.ones({WIDTH}{device})",
            )
        elif kind == 1:
            writer.line(f"def {name}(x, weight=None):")
            made = f"torch.ones({WIDTH}{device})"
            writer.line(f"    weight = {made} if weight is None else weight")
        else:
            writer.line(f"def {name}(x, weight=torch.tensor(0.5)):")
        writer.line("    return x * weight")
    one = pick(writer, MAIN)
    calls = [f"{name}({one.text})", f"{name}({one.text}, weight={expression(writer, (WIDTH,))})"]
    result(writer, writer.choose(calls), one, grad=True)


@feature("device-argument", 8)
def device_argument(writer: Writer) -> None:
    """A function that is told the device."""
    name = writer.fresh(writer.choose(["make_noise", "build_mask", "sample"]))
    default = writer.choose(["", '="cpu"', "=None"])
    with writer.definition():
        writer.line(f"def {name}(size, device{default}):")
        if writer.likely(50):
            writer.line(f"    return torch.rand(size, {WIDTH}, device=device)")
        else:
            writer.line(f"    values = torch.ones(size, {WIDTH})")
            writer.line("    return values if device is None else values.to(device)")
    given = f", {writer.choose(['', 'device='])}{device_text(writer)}"
    if default and not writer.careful():
        given = ""
    one = result(writer, f"{name}({BATCH}{given})", Tensor("", MAIN))
    result(writer, f"{one.text} + {expression(writer, MAIN)}", one, grad=True)


@feature("star-arguments", 7)
def star_arguments(writer: Writer) -> None:
    """`*args`: all of them are joined."""
    name = writer.fresh("total_of")
    with writer.definition():
        writer.line(f"def {name}(*tensors):")
        bodies = [
            ["return sum(tensors)"],
            ["return torch.stack(tensors).mean(0)"],
            [
                "result = tensors[0]",
                "for each in tensors[1:]:",
                "    result = result + each",
                "return result",
            ],
            ["first, *others = tensors", "return first + sum(others)"],
        ]
        for text in writer.choose(bodies):
            writer.line(f"    {text}")
    given = [expression(writer, MAIN) for _ in range(writer.number(2, 3))]
    text = f"{name}({', '.join(given)})"
    if writer.sometimes(30):
        parts = writer.fresh("operands")
        writer.line(f"{parts} = [{', '.join(given)}]")
        text = f"{name}(*{parts})"
    result(writer, text, Tensor("", MAIN), grad=True)


@feature("keyword-arguments", 6)
def keyword_arguments(writer: Writer) -> None:
    """`**kwargs`: a dictionary that a call takes apart."""
    name = writer.fresh("merge")
    with writer.definition():
        writer.line(f"def {name}(x, **extras):")
        loops = [
            ["for value in extras.values():", "    x = x + value"],
            ["for key in extras:", "    x = x * extras[key]"],
            ["for key, value in extras.items():", "    x = x + value if key else x"],
            ['if "bias" in extras:', '    x = x + extras["bias"]'],
        ]
        for text in writer.choose(loops):
            writer.line(f"    {text}")
        writer.line("    return x")
    one = pick(writer, MAIN)
    bias = expression(writer, MAIN)
    if writer.likely(60):
        text = f"{name}({one.text}, bias={bias})"
    else:
        options = writer.fresh("options")
        writer.line(f'{options} = {{"bias": {bias}}}')
        text = f"{name}({one.text}, **{options})"
    result(writer, text, one, grad=True)


@feature("closure", 9, ready=can_nest)
def closure(writer: Writer) -> None:
    """A function inside, which reads what lies around it."""
    name = writer.fresh(writer.choose(["step", "objective", "inner"]))
    outside = [value for value in writer.frame.values if without_graph(value)]
    frame = Frame(writer.frame.place, outside, indent=writer.frame.indent)
    frame.place = "function"
    with writer.into(frame):
        writer.line(f"def {name}(given):")
        frame.indent += 1
        given = writer.keep(Tensor("given", MAIN, grad=True))
        fill(writer, 2)
        writer.line(f"return {_whole(writer, given)}")
    writer.frame.lines += frame.lines
    result(writer, f"{name}({expression(writer, MAIN)})", Tensor("", MAIN), grad=True)


@feature("factory-of-functions", 5)
def factory_of_functions(writer: Writer) -> None:
    """A function that gives a function, which keeps a tensor."""
    name, made = writer.fresh("make_scaler"), writer.fresh("scaler")
    with writer.definition():
        writer.line(f"def {name}(weight):")
        if writer.likely(60):
            writer.lines(
                "    def scale(x):",
                "        return x * weight",
                "    return scale",
            )
        else:
            writer.line("    return lambda x: x * weight")
    weight = expression(writer, (WIDTH,))
    writer.line(f"{made} = {name}({weight})")
    result(writer, f"{made}({expression(writer, MAIN)})", Tensor("", MAIN), grad=True)


@feature("lambda", 7)
def lambda_(writer: Writer) -> None:
    """A lambda: of a name, in `map`, or as an argument."""
    name = writer.fresh("rescale")
    made = created(writer, Tensor("", (WIDTH,)))
    kind = writer.number(0, 2)
    if kind == 0:
        writer.line(f"{name} = lambda t: t + {made}")
        result(writer, f"{name}({expression(writer, MAIN)})", Tensor("", MAIN), grad=True)
        return
    if kind == 1:
        pair = f"[{expression(writer, MAIN)}, {expression(writer, MAIN)}]"
        move = device_text(writer)
        changes = [f"t.to({move})", "t * 2", f"t + {made}"]
        writer.line(f"{name} = list(map(lambda t: {writer.choose(changes)}, {pair}))")
    else:
        writer.use("import functools")
        writer.line(f"add = functools.partial(torch.add, {made})")
        writer.line(f"{name} = [add({expression(writer, MAIN)})]")
    result(writer, f"{name}[0] * {name}[-1]", Tensor("", MAIN), grad=True)
