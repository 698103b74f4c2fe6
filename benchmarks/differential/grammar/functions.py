"""Functions: with defaults, `*args` and `**kwargs`, closures, lambdas, generators, wrappers."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, device_text
from benchmarks.differential.grammar.registry import can_nest, feature, fill
from benchmarks.differential.grammar.tensors import expression, pick, result
from benchmarks.differential.values import (
    BATCH,
    DEVICE,
    HOST,
    WIDTH,
    Function,
    Handle,
    Tensor,
    without_graph,
)
from benchmarks.differential.writer import BODY, Frame, Writer

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


@feature("function-called-again", 20, ready=lambda w: bool(w.values(Function)))
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
            writer.line(f"def {name}(x, weight=None):")
            writer.line("    if weight is None:")
            writer.line(f"        weight = torch.ones({WIDTH}{device})")
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
        writer.line(f"parts = [{', '.join(given)}]")
        text = f"{name}(*parts)"
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
        writer.line(f'options = {{"bias": {bias}}}')
        text = f"{name}({one.text}, **options)"
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
            writer.line("    def scale(x):")
            writer.line("        return x * weight")
            writer.line("    return scale")
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


@feature("early-return", 6)
def early_return(writer: Writer) -> None:
    """A function that returns before its end, for some arguments."""
    name = writer.fresh("ensure")
    device = device_text(writer) if writer.handles(DEVICE) and writer.globals else '"cpu"'
    with writer.definition():
        writer.line(f"def {name}(x, like):")
        tests = ["x.device == like.device", "x.is_cuda", "x is like", "x.dim() < 2"]
        writer.line(f"    if {writer.choose(tests)}:")
        writer.line("        return x")
        right = ["x.to(like.device)", "x.to(like)"]
        writer.line(f"    return {writer.choose(right) if writer.careful() else 'x.clone()'}")
    del device
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
            writer.line(f"def {wrapper}(function):")
            writer.line("    @functools.wraps(function)")
            writer.line("    def wrapped(*args, **kwargs):")
            writer.line("        return function(*args, **kwargs)")
            writer.line("    return wrapped")
            writer.line("")
            writer.line(f"@{wrapper}")
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
        writer.line(f"{history} = []")
        writer.line("")
        writer.line("")
        writer.line(f"def {name}(x):")
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
        writer.line(
            f"        self.total {writer.choose(['= self.total + x.mean(0)', '+= x.detach().mean(0)'])}"
        )
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
        writer.line(f"def {name}(data, device):")
        writer.line("    if isinstance(data, (list, tuple)):")
        writer.line(f"        return [{name}(each, device) for each in data]")
        writer.line("    if isinstance(data, dict):")
        writer.line(f"        return {{key: {name}(each, device) for key, each in data.items()}}")
        writer.line(f"    return data.to(device){'' if writer.careful() else '.cpu()'}")
    pair = f"[{expression(writer, MAIN, side=HOST)}, {expression(writer, MAIN, side=HOST)}]"
    parts = writer.fresh("moved")
    handles = writer.handles(DEVICE)
    device = Handle(handles[0] if handles else device_text(writer)).text
    writer.line(f"{parts} = {name}({pair}, {device})")
    text = f"{parts}[0] * {parts}[1] + {expression(writer, MAIN)}"
    result(writer, text, Tensor("", MAIN), grad=True)
