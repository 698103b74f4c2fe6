"""Values that take a way round: unpacked calls, tables of classes, nested holders, objects."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, device_text, move_statement, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, keep_parts, make, pick, result
from benchmarks.differential.values import BATCH, HOST, WIDTH, Entries, Items, Module, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)


@feature("unpacked-call", 8)
def unpacked_call(writer: Writer) -> None:
    """`f(**batch)` and `f(*pair)`, of what was made elsewhere."""
    name, given = writer.fresh("fuse"), writer.fresh("given_all")
    named = writer.likely(60)
    with writer.definition():
        writer.line(f"def {name}(x, mask, target=None):")
        writer.lines("    if target is not None:", "        x = x - target", "    return x * mask")
    entries = [("x", MAIN), ("mask", (WIDTH,)), ("target", MAIN)]
    texts = [(key, expression(writer, shape)) for key, shape in entries]
    known = writer.values(Entries)
    if named and known and writer.likely(50):
        keys = {key for key, _ in known[0].entries}
        given = known[0].text if keys == {"x", "mask", "target"} else given
    if given.startswith("given_all"):
        pairs = ", ".join(f'"{key}": {text}' for key, text in texts)
        plain = ", ".join(text for _, text in texts)
        writer.line(f"{given} = {{{pairs}}}" if named else f"{given} = ({plain})")
    stars = "**" if named else "*"
    result(writer, f"{name}({stars}{given})", Tensor("", MAIN), grad=True)


@feature("table-of-classes", 6, BODY)
def table_of_classes(writer: Writer) -> None:
    """A module whose class is looked up by a word, or by `getattr`."""
    writer.use("import torch.nn as nn")
    name, table = writer.fresh("looked_up_net"), writer.fresh("CLASSES")
    own = writer.sometimes(40)
    made = [f'{table}["linear"]({WIDTH}, {WIDTH})', f'getattr(nn, "Linear")({WIDTH}, {WIDTH})']
    text = _kept_in_table(writer, table) if own else writer.choose(made)
    if table in text and not own:
        writer.line(f'{table} = {{"linear": nn.Linear, "norm": nn.LayerNorm}}')
    writer.line(f"{name} = {text}")
    move_statement(writer, name, module=True)
    writer.keep(Module(name))
    result(writer, f"{name}({expression(writer, MAIN)})", Tensor("", MAIN), grad=True)


def _kept_in_table(writer: Writer, table: str) -> str:
    """A class that a decorator puts into a table; gives what builds it from there."""
    keep, name = writer.fresh("kept_as"), writer.fresh("Kept")
    with writer.definition():
        writer.lines(f"{table} = {{}}", "", f"def {keep}(key):")
        writer.lines("    def keep(cls):", f"        {table}[key] = cls", "        return cls")
        writer.lines("    return keep", "", f'@{keep}("own")', f"class {name}(nn.Module):")
        writer.lines("    def __init__(self, width=8):", "        super().__init__()")
        writer.line("        self.inner = nn.Linear(width, width)")
        writer.lines("", "    def forward(self, x):", "        return self.inner(x)")
    return writer.choose([f'{table}["own"]()', f'{table}["own"](width={WIDTH})'])


@feature("nested-containers", 8)
def nested_containers(writer: Writer) -> None:
    """Lists in dictionaries, and dictionaries in lists."""
    name = writer.fresh("nested")
    parts = [expression(writer, MAIN) for _ in range(3)]
    forms = [
        (
            f'{name} = {{"layers": [{parts[0]}, {parts[1]}], "last": {parts[2]}}}',
            (f'{name}["layers"][0]', f'{name}["layers"][1]', f'{name}["last"]'),
        ),
        (
            f'{name} = [{{"x": {parts[0]}}}, {{"x": {parts[1]}, "y": {parts[2]}}}]',
            (f'{name}[0]["x"]', f'{name}[1]["x"]', f'{name}[-1]["y"]'),
        ),
        (
            f"{name} = (({parts[0]}, {parts[1]}), {parts[2]})",
            (f"{name}[0][0]", f"{name}[0][1]", f"{name}[1]"),
        ),
    ]
    text, places = writer.choose(forms)
    writer.line(text)
    if places[0].endswith('["layers"][0]') and writer.sometimes(40):
        writer.line(f'{name}["layers"][0] = {expression(writer, MAIN)}')
    whole = Tensor("", MAIN, grad=True)
    if keep_parts(writer, *(whole.named(place) for place in places)):
        result(writer, f"{places[0]} * {places[2]} + {places[1]}", whole)


@feature("nested-moved", 6)
def nested_moved(writer: Writer) -> None:
    """A list of dictionaries, moved by a comprehension inside of another."""
    name = writer.fresh("rows_of_batch")
    made = created(writer, Tensor("", (WIDTH,), side=HOST))
    writer.line(f'{name} = [{{"x": {made}, "y": torch.ones({WIDTH})}} for _ in range({BATCH})]')
    if writer.careful():
        device = device_text(writer)
        each = f"{{k: v.to({device}) for k, v in t.items()}}"
        writer.line(f"{name} = [{each} for t in {name}]")
    text = f'torch.stack([t["x"] + t["y"] for t in {name}])'
    stacked = result(writer, text, Tensor("", MAIN))
    if writer.likely(40):
        result(writer, f"{stacked.text} * {expression(writer, MAIN)}", stacked, grad=True)


@feature("unpacked-targets", 6)
def unpacked_targets(writer: Writer) -> None:
    """`(a, b), *rest = …`."""
    one, two, rest = writer.fresh("head_part"), writer.fresh("mid_part"), writer.fresh("tail_parts")
    given = [expression(writer, MAIN) for _ in range(3)]
    forms = [
        (f"({one}, {two}), *{rest} = ({given[0]}, {given[1]}), {given[2]}"),
        (f"{one}, {two}, *{rest} = [{', '.join(given)}]"),
        (f"{one}, *{rest}, {two} = {given[0]}, {given[2]}, {given[1]}"),
    ]
    writer.line(writer.choose(forms))
    whole = Tensor("", MAIN, grad=True)
    writer.keep(Items(rest, whole, 1))
    keep_parts(writer, whole.named(one), whole.named(two), whole.named(f"{rest}[0]"))


@feature("callable-object", 6)
def callable_object(writer: Writer) -> None:
    """An object that is called, with what it was given when it was made."""
    name, made = writer.fresh("Transform"), writer.fresh("transform_rows")
    move = ".to(x.device)" if writer.sometimes(40) else ""
    with writer.definition():
        writer.lines(
            f"class {name}:",
            "    def __init__(self, weight, bias=None):",
            "        self.weight = weight",
            "        self.bias = torch.zeros_like(weight) if bias is None else bias",
            "",
            "    def __call__(self, x):",
            f"        return x * self.weight{move} + self.bias{move}",
        )
    given = expression(writer, (WIDTH,))
    more = f", {expression(writer, (WIDTH,))}" if writer.sometimes(40) else ""
    writer.line(f"{made} = {name}({given}{more})")
    keep_parts(writer, Tensor(f"{made}.weight", (WIDTH,), grad=True))
    result(writer, f"{made}({expression(writer, MAIN)})", Tensor("", MAIN), grad=True)


@feature("iterator-object", 5)
def iterator_object(writer: Writer) -> None:
    """An object that is iterated over or indexed."""
    name, made = writer.fresh("Stream"), writer.fresh("stream_of_rows")
    with writer.definition():
        writer.lines(
            f"class {name}:",
            "    def __init__(self, rows):",
            "        self.rows = rows",
            "",
            "    def __iter__(self):",
            "        for row in self.rows:",
            "            yield row * 2",
            "",
            "    def __getitem__(self, index):",
            "        return self.rows[index]",
        )
    writer.line(f"{made} = {name}([{expression(writer, MAIN)}, {expression(writer, MAIN)}])")
    texts = [f"sum({made})", f"{made}[0] - {made}[1]", f"next(iter({made}))", f"list({made})[1]"]
    result(writer, writer.choose(texts), Tensor("", MAIN), grad=True)


@feature("reduced-list", 5)
def reduced_list(writer: Writer) -> None:
    """`functools.reduce`, `map`, `sorted`, `itertools.chain` over tensors."""
    writer.use("import functools")
    writer.use("import itertools")
    name = writer.fresh("pieces")
    writer.line(f"{name} = [{', '.join(expression(writer, MAIN) for _ in range(2))}]")
    other = expression(writer, MAIN)
    texts = [
        f"functools.reduce(torch.add, {name})",
        f"functools.reduce(lambda a, b: a * b, {name}, {other})",
        f"list(map(torch.relu, {name}))[0]",
        f"list(itertools.chain({name}, [{other}]))[-1]",
        f"sum(itertools.chain({name}, [{other}]))",
        f"sorted({name}, key=lambda t: t.sum().item())[0]",
        f"max({name}, key=lambda t: float(t.detach().sum()))",
        f"next(t for t in {name} if t is not None)",
    ]
    result(writer, writer.choose(texts), Tensor("", MAIN), grad=True)


@feature("recursion", 4)
def recursion(writer: Writer) -> None:
    """A function that calls itself."""
    name = writer.fresh("fold")
    with writer.definition():
        writer.line(f"def {name}(x, depth, bias=None):")
        writer.lines("    if depth == 0:", "        return x if bias is None else x + bias")
        device = ", device=x.device" if writer.careful() else ""
        writer.line(f"    return {name}(torch.tanh(x), depth - 1, torch.ones({WIDTH}{device}))")
    result(writer, f"{name}({expression(writer, MAIN)}, 2)", Tensor("", MAIN), grad=True)


@feature("option-guards", 6, BODY)
def option_guards(writer: Writer) -> None:
    """A flag of the command line that has nothing to do with devices."""
    writer.use("import argparse")
    parser, options = writer.fresh("option_parser"), writer.fresh("flags")
    name = writer.choose(["use_weights", "noise"])
    default = writer.choose(["False", "True"])
    writer.line(f"{parser} = argparse.ArgumentParser()")
    writer.line(f'{parser}.add_argument("--{name}", action="store_true", default={default})')
    writer.line(f"{options} = {parser}.parse_known_args()[0]")
    base = make(writer, Tensor("", MAIN), "guarded")
    writer.drop(base)
    with writer.block(f"if {options}.{name}:"):
        writer.line(f"{base.text} = {base.text} * {created(writer, Tensor('', (WIDTH,)))}")
    if writer.sometimes(50):
        with writer.block("else:"):
            writer.line(f"{base.text} = {base.text} + {created(writer, Tensor('', (WIDTH,)))}")
    writer.keep(base)


@feature("property-of-object", 5)
def property_of_object(writer: Writer) -> None:
    """A property of a plain class, which computes or moves."""
    name, made = writer.fresh("Sample"), writer.fresh("observed")
    bodies = ["self.rows / 2", "self.rows.to(self.where)", "torch.relu(self.rows)"]
    with writer.definition():
        writer.lines(
            f"class {name}:",
            "    def __init__(self, rows, where):",
            "        self.rows, self.where = rows, where",
            "",
            "    @property",
            "    def scaled(self):",
            f"        return {writer.choose(bodies)}",
        )
    side = HOST if "self.where" in writer.definitions[-1][-1][0] else "device"
    given = expression(writer, MAIN, side=side)
    writer.line(f"{made} = {name}({given}, {device_text(writer)})")
    whole = Tensor(f"{made}.scaled", MAIN, grad=True)
    if keep_parts(writer, whole):
        result(writer, f"{whole.text} * {expression(writer, MAIN)}", whole)


@feature("swapped", 5)
def swapped(writer: Writer) -> None:
    """Names that change places, or come to mean the same."""
    one, other = writer.fresh("here"), writer.fresh("other_one")
    writer.line(f"{one} = {created(writer, Tensor('', MAIN, side=HOST))}")
    writer.line(f"{other} = {moved(writer, one)}")
    forms = [f"{one}, {other} = {other}, {one}", f"{one} = {other}"]
    writer.line(writer.choose(forms))
    kept = writer.keep(Tensor(one, MAIN))
    near = pick(writer, MAIN)
    if writer.likely(50):
        result(writer, f"{kept.text} + {near.text}", kept, grad=True)
