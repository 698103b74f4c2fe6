"""Lists, tuples, dictionaries, dataclasses and named tuples of tensors, and how they change."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import created, device_text, moved
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, keep_parts, pick, result
from benchmarks.differential.values import (
    BATCH,
    HOST,
    WIDTH,
    Entries,
    Items,
    Tensor,
)
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


def some_items(writer: Writer, *, changes: bool = False) -> Items:
    """A list in sight, or a new one."""
    able = [items for items in writer.values(Items) if items.changes or not changes]
    if able and writer.likely(80):
        return writer.choose(able[:3])
    return _list(writer)


def _list(writer: Writer) -> Items:
    name = writer.fresh(writer.choose(["tensors", "parts", "history", "outputs"]))
    side = writer.choose(["device", "device", HOST])
    given = [expression(writer, MAIN, side=side) for _ in range(2)]
    writer.line(f"{name} = [{', '.join(given)}]")
    element = Tensor("", MAIN, grad=True, side=side)
    keep_parts(writer, element.named(f"{name}[0]"), element.named(f"{name}[-1]"))
    return writer.keep(Items(name, element, 2))


@feature("list", 6)
def list_(writer: Writer) -> None:
    """A list of tensors."""
    _list(writer)


@feature("tuple", 4)
def tuple_(writer: Writer) -> None:
    """A tuple, unpacked."""
    name = writer.fresh("pair")
    given = [expression(writer, MAIN) for _ in range(2)]
    writer.line(f"{name} = {', '.join(given)}")
    one, other = writer.fresh("a"), writer.fresh("b")
    writer.line(f"{one}, {other} = {name}")
    result(writer, f"{one} * {other}", Tensor("", MAIN), grad=True)


@feature("list-changed", 9)
def list_changed(writer: Writer) -> None:
    """`append`, `extend`, `insert`, `+=`, an item store, `pop`."""
    items = some_items(writer, changes=True)
    given = expression(writer, MAIN, side=items.element.side)
    changes = [
        f"{items.text}.append({given})",
        f"{items.text}.extend([{given}, {given}])",
        f"{items.text} += [{given}]",
        f"{items.text}[0] = {given}",
        f"{items.text}.insert(0, {given})",
        f"{items.text}[-1] = {items.text}[-1] + {given}",
        f"{items.text}.append({given}) or {items.text}.pop(0)",
        f"{items.text}[:1] = [{given}]",
        f"{items.text}[-1:] = ({given},)",
    ]
    writer.line(writer.choose(changes))


@feature("list-joined", 9)
def list_joined(writer: Writer) -> None:
    """What a list comes to: joined, summed, or taken out."""
    items = some_items(writer)
    reads = [
        (f"torch.stack({items.text}).mean(0)", MAIN),
        (f"sum({items.text})", MAIN),
        (f"{items.text}[0] - {items.text}[-1]", MAIN),
        (f"torch.cat({items.text}, dim=0).mean(0)", (WIDTH,)),
        (f"torch.stack([each.mean() for each in {items.text}])", None),
        (f"{items.text}[-1]", MAIN),
    ]
    text, shape = writer.choose(reads)
    if shape is None:
        writer.line(f"{writer.fresh('means')} = {text}")
    else:
        result(writer, text, items.element, shape=shape)


@feature("comprehension", 8)
def comprehension(writer: Writer) -> None:
    """A list made of a list: moved, filtered, or changed."""
    items = some_items(writer)
    name = writer.fresh("changed_list")
    other = expression(writer, MAIN, side=items.element.side)
    made = [
        f"[{moved(writer, 't', items.element.side, like=False)} for t in {items.text}]",
        f"[t * 2 for t in {items.text} if t is not None]",
        f"[t + {other} for t in {items.text}]",
        f"[torch.relu(t) for t in reversed({items.text})]",
        f"list(t.detach() for t in {items.text})",
        f"[{items.text}[i] for i in range(len({items.text}))]",
    ]
    writer.line(f"{name} = {writer.choose(made)}")
    writer.keep(Items(name, items.element, items.length))


@feature("loop-over-list", 8)
def loop_over_list(writer: Writer) -> None:
    """A loop over a list, with its number or beside another."""
    items = some_items(writer)
    total = writer.fresh("summed")
    start = created(writer, Tensor("", MAIN, side=items.element.side))
    writer.line(f"{total} = {start}")
    other = some_items(writer)
    loops = [
        (f"for each in {items.text}:", "each"),
        (f"for i, each in enumerate({items.text}):", "each * i"),
        (f"for one, two in zip({items.text}, {other.text}):", "one + two"),
        (f"for i in range(len({items.text})):", f"{items.text}[i]"),
    ]
    header, text = writer.choose(loops)
    with writer.block(header):
        writer.line(f"{total} = {total} + {text}")
    writer.keep(Tensor(total, MAIN, grad=True, side=items.element.side))


@feature("accumulate-in-list", 8)
def accumulate_in_list(writer: Writer) -> None:
    """A list that a loop fills, and what it comes to."""
    name = writer.fresh(writer.choose(["losses", "preds", "collected"]))
    writer.line(f"{name} = []")
    one = pick(writer, MAIN)
    side = writer.choose([one.side, HOST])
    other = expression(writer, MAIN, side=one.side)
    with writer.block("for step in range(2):"):
        text = f"({one.text} * step + {other}).detach()"
        if side == HOST and writer.careful():
            text += ".cpu()"
        writer.line(f"{name}.append({text})")
    element = Tensor("", MAIN, side=side)
    writer.keep(Items(name, element, 2))
    if not keep_parts(writer, element.named(f"{name}[0]")):
        return
    text = f"torch.cat({name})[:{BATCH}] + {expression(writer, MAIN, side=side)}"
    result(writer, text, element, grad=True)


@feature("rows-transposed", 6)
def rows_transposed(writer: Writer) -> None:
    """`zip(*rows)`: rows of an input and a target, turned into two columns."""
    rows = writer.fresh("rows")
    made = [created(writer, Tensor("", (WIDTH,), side=HOST)), "torch.tensor(1.0)"]
    writer.line(f"{rows} = [({', '.join(made)}) for _ in range({BATCH})]")
    xs, ys = writer.fresh("xs"), writer.fresh("ys")
    writer.line(f"{xs}, {ys} = zip(*{rows})")
    name = writer.fresh("stacked")
    writer.line(f"{name} = {moved(writer, f'torch.stack({xs})', like=False)}")
    one = writer.keep(Tensor(name, MAIN))
    target = moved(writer, f"torch.stack({ys})", like=False)
    writer.line(f"{writer.fresh('gap')} = ({one.text}.mean(1) - {target}).abs().sum()")
    result(writer, f"{one.text} * {expression(writer, MAIN)}", one, grad=True)


def some_entries(writer: Writer) -> Entries:
    """A dictionary in sight, or a new one."""
    able = writer.values(Entries)
    if able and writer.likely(80):
        return writer.choose(able[:3])
    return _dictionary(writer)


def _dictionary(writer: Writer) -> Entries:
    name = writer.fresh(writer.choose(["data", "record", "fields"]))
    keys = [("x", MAIN), ("mask", (WIDTH,)), ("target", MAIN)]
    entries = tuple((key, Tensor("", shape, grad=True)) for key, shape in keys)
    given = {key: expression(writer, entry.shape) for key, entry in entries}
    if writer.likely(70):
        pairs = ", ".join(f'"{key}": {text}' for key, text in given.items())
        writer.line(f"{name} = {{{pairs}}}")
    else:
        writer.line(f"{name} = dict({', '.join(f'{key}={text}' for key, text in given.items())})")
    return writer.keep(Entries(name, entries))


@feature("dictionary", 7)
def dictionary(writer: Writer) -> None:
    """A dictionary of tensors, and what two entries come to."""
    known = _dictionary(writer)
    if keep_parts(writer, *(entry.named(f'{known.text}["{key}"]') for key, entry in known.entries)):
        text = f'{known.text}["x"] * {known.text}["mask"]'
        result(writer, text, Tensor("", MAIN), grad=True)


@feature("dictionary-changed", 8)
def dictionary_changed(writer: Writer) -> None:
    """An item store, `update`, `setdefault`, `pop`, a merge."""
    known = some_entries(writer)
    key, entry = writer.choose(known.entries)
    given = expression(writer, entry.shape)
    changes = [
        f'{known.text}["{key}"] = {given}',
        f'{known.text}.update({{"{key}": {given}}})',
        f"{known.text}.update({key}={given})",
        f'{known.text}.setdefault("{key}", {given})',
        f'{known.text} = {{**{known.text}, "{key}": {given}}}',
        f'{known.text}["{key}"] = {known.text}["{key}"] + {given}',
        f'{known.text} |= {{"{key}": {given}}}',
    ]
    writer.line(writer.choose(changes))
    read = writer.choose([f'{known.text}["{key}"]', f'{known.text}.get("{key}")'])
    result(writer, f"{read} + {expression(writer, entry.shape)}", entry, grad=True)


@feature("dictionary-moved", 9)
def dictionary_moved(writer: Writer) -> None:
    """All entries moved: by a comprehension, or a loop over keys or items."""
    writer_entries = [("x", MAIN), ("mask", (WIDTH,))]
    name = writer.fresh("sample")
    pairs = ", ".join(
        f'"{key}": {created(writer, Tensor("", shape, side=HOST))}' for key, shape in writer_entries
    )
    writer.line(f"{name} = {{{pairs}}}")
    device = device_text(writer)
    if writer.careful():
        _moved_entries(writer, name, device)
    known = tuple((key, Tensor("", shape)) for key, shape in writer_entries)
    writer.keep(Entries(name, known))
    if keep_parts(writer, *(entry.named(f'{name}["{key}"]') for key, entry in known)):
        text = f'{name}["x"] * {name}["mask"] + {expression(writer, MAIN)}'
        result(writer, text, Tensor("", MAIN), grad=True)


def _moved_entries(writer: Writer, name: str, device: str) -> None:
    kind = writer.number(0, 4)
    if kind == 0:
        writer.line(f"{name} = {{key: value.to({device}) for key, value in {name}.items()}}")
    elif kind == 1:
        with writer.block(f"for key in {name}:"):
            writer.line(f"{name}[key] = {name}[key].to({device})")
    elif kind == 2:
        writer.lines(
            f"for key, value in {name}.items():",
            "    if isinstance(value, torch.Tensor):",
            f"        {name}[key] = value.to({device})",
        )
    elif kind == 3:
        with writer.block(f"for key in list({name}.keys()):"):
            writer.line(f"{name}[key] = {name}[key].to({device})")
    else:
        writer.line(f"{name} = dict((key, {name}[key].to({device})) for key in {name})")


@feature("loop-over-dictionary", 6)
def loop_over_dictionary(writer: Writer) -> None:
    """A sum over values, keys or items."""
    known = some_entries(writer)
    total = writer.fresh("summed")
    writer.line(f"{total} = {created(writer, Tensor('', MAIN))}")
    loops = [
        (f"for value in {known.text}.values():", "value"),
        (f"for key in {known.text}:", f"{known.text}[key]"),
        (f"for key, value in {known.text}.items():", "value * len(key)"),
        (f"for key in sorted({known.text}.keys()):", f"{known.text}[key]"),
    ]
    header, text = writer.choose(loops)
    with writer.block(header):
        writer.line(f"{total} = {total} + {text}")
    writer.keep(Tensor(total, MAIN, grad=True))
