"""Elements that are chosen by the values of other tensors."""

from __future__ import annotations

from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, make, pick, result, same_side
from benchmarks.differential.values import BATCH, CLASSES, DEVICE, HOST, WIDTH, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


def _index(writer: Writer, side: str, length: int = BATCH) -> str:
    """An index into a tensor of a side, for `[...]`: there, or on the CPU."""
    if writer.sometimes(30):
        return f"torch.randperm({BATCH})"
    return expression(writer, (length,), "long", writer.choose([side, HOST]))


@feature("index", 10)
def index(writer: Writer) -> None:
    """`x[index]`: an index may lie on the CPU, but not beyond it."""
    one = pick(writer, MAIN, side=same_side(writer))
    by = _index(writer, one.side)
    if writer.likely(70):
        result(writer, f"{one.text}[{by}]", one, shape=MAIN)
    else:
        result(writer, f"{one.text}[torch.arange({BATCH}), {by}]", one, shape=(BATCH,))


@feature("index-into-host", 5)
def index_into_host(writer: Writer) -> None:
    """A table that stays on the CPU, and the index that comes of a computation."""
    table = pick(writer, (CLASSES, WIDTH), side=HOST, grad=False)
    scores = pick(writer, MAIN, grad=True)
    by = f"{scores.text}[:, :{CLASSES}].argmax(dim=1)"
    if writer.careful():
        by += ".cpu()"
    result(writer, f"{table.text}[{by}]", table, shape=MAIN)


@feature("mask", 6)
def mask(writer: Writer) -> None:
    """`x[mask]`."""
    one = pick(writer, MAIN)
    by = writer.choose(
        [
            f"{one.text} > 0",
            expression(writer, MAIN, "bool"),
            expression(writer, MAIN, "bool", HOST),
        ]
    )
    result(writer, f"{one.text}[{by}].sum()", one, shape=())


@feature("index-select", 5)
def index_select(writer: Writer) -> None:
    """`index_select` and `take_along_dim`: the index lies where the tensor does."""
    one = pick(writer, MAIN)
    by = expression(writer, (BATCH,), "long")
    if writer.likely(60):
        result(writer, f"torch.index_select({one.text}, 0, {by})", one)
    else:
        text = f"torch.take_along_dim({one.text}, {by}.unsqueeze(1), dim=1)"
        result(writer, text, one, shape=(BATCH, 1))


@feature("gather", 7)
def gather(writer: Writer) -> None:
    """`gather`, which excuses no index."""
    one = pick(writer, MAIN)
    by = expression(writer, (BATCH,), "long")
    call = f"{one.text}.gather(1, {by}.unsqueeze(1))"
    if writer.likely(50):
        result(writer, f"{call}.squeeze(1)", one, shape=(BATCH,))
    else:
        result(writer, call, one, shape=(BATCH, 1))


@feature("scatter", 6)
def scatter(writer: Writer) -> None:
    """`scatter`, `scatter_add` and `index_add`: target, index and source."""
    by = pick(writer, (BATCH,), "long")
    base = expression(writer, MAIN)
    source = expression(writer, MAIN)
    calls = [
        f"{base}.scatter(1, {by.text}.unsqueeze(1), 1.0)",
        f"{base}.scatter_add(0, {by.text}.unsqueeze(1).expand(-1, {WIDTH}), {source})",
        f"{base}.index_add(0, {by.text}, {source})",
        f"torch.index_copy({base}, 0, torch.arange({BATCH}, device={by.text}.device), {source})",
    ]
    result(writer, writer.choose(calls), Tensor("", MAIN, side=by.side), grad=True)


@feature("embedding-function", 5)
def embedding_function(writer: Writer) -> None:
    """`F.embedding` and `F.one_hot`."""
    writer.use("import torch.nn.functional as F")
    by = pick(writer, (BATCH,), "long")
    if writer.likely(60):
        table = expression(writer, (CLASSES, WIDTH))
        text = f"F.embedding({by.text}, {table})"
    else:
        text = f"F.one_hot({by.text}, {WIDTH}).float()"
    result(writer, text, Tensor("", MAIN, side=by.side), grad=True)


@feature("counted", 4)
def counted(writer: Writer) -> None:
    """`bincount`, with and without weights."""
    by = pick(writer, (BATCH,), "long")
    weights = expression(writer, (BATCH,)) + ".detach()"
    calls = [
        f"torch.bincount({by.text}, minlength={CLASSES})",
        f"torch.bincount({by.text}, weights={weights}, minlength={CLASSES})",
    ]
    text = f"{writer.choose(calls)}.float()"
    result(writer, text, Tensor("", (CLASSES,), side=by.side), grad=False)


@feature("searched", 4)
def searched(writer: Writer) -> None:
    """`bucketize` and `searchsorted`: the boundaries lie where the values do."""
    one = pick(writer, (BATCH,))
    edges = make(writer, Tensor("", (CLASSES,), side=one.side), "edges")
    calls = [
        f"torch.bucketize({one.text}, {edges.text}.sort().values)",
        f"torch.searchsorted({edges.text}.sort().values, {one.text})",
        f"torch.isin({one.text}, {edges.text})",
    ]
    writer.line(f"{writer.fresh('bins')} = {writer.choose(calls)}")


@feature("sampled-index", 4)
def sampled_index(writer: Writer) -> None:
    """`multinomial` and `randperm`, and what they choose."""
    one = pick(writer, MAIN)
    name = writer.fresh("chosen")
    kind = writer.number(0, 2)
    if kind == 0:
        writer.line(f"{name} = torch.multinomial(torch.ones_like({one.text}), 1).squeeze(1) % 4")
    elif kind == 1:
        writer.line(f"{name} = torch.randperm({BATCH})[:{BATCH}]")
        result(writer, f"{one.text}[{name}]", one)
        return
    else:
        writer.line(f"{name} = {one.text}.argmax(dim=1) % {BATCH}")
    writer.keep(Tensor(name, (BATCH,), "long", side=one.side))


@feature("nonzero", 3)
def nonzero(writer: Writer) -> None:
    """Where something holds, and the elements there."""
    one = pick(writer, (BATCH,))
    name = writer.fresh("found")
    condition = f"{one.text} > -100"
    calls = [f"torch.nonzero({condition})", f"({condition}).nonzero(as_tuple=True)[0]"]
    writer.line(f"{name} = {writer.choose(calls)}")
    other = expression(writer, (BATCH,), side=writer.choose([one.side, HOST]))
    text = f"{other}[{name}.cpu()]" if writer.likely(50) else f"{other}[{name}]"
    writer.line(f"{writer.fresh('there')} = {text}.sum()")


@feature("triangle", 3)
def triangle(writer: Writer) -> None:
    """The causal mask of attention."""
    one = pick(writer, MAIN)
    name = writer.fresh("scores")
    writer.line(f"{name} = {one.text} @ {one.text}.t()")
    device = "" if not writer.careful() else f", device={one.text}.device"
    ones = f"torch.ones({BATCH}, {BATCH}, dtype=torch.bool{device})"
    writer.line(f"{writer.fresh('causal')} = torch.triu({ones}, diagonal=1)")
    causal = writer.frame.lines[-1][0].strip().partition(" ")[0]
    text = f'{name}.masked_fill({causal}, float("-inf"))'
    result(writer, text, one, shape=(BATCH, BATCH))


@feature("pairs-of-indices", 3)
def pairs_of_indices(writer: Writer) -> None:
    """An index that is a range on a device, and one on the CPU, together."""
    one = pick(writer, MAIN)
    device = "" if writer.likely(50) else f", device={one.text}.device"
    by = expression(writer, (BATCH,), "long", writer.choose([DEVICE, HOST]))
    text = f"{one.text}[torch.arange({BATCH}{device}), {by}]"
    result(writer, text, one, shape=(BATCH,))
