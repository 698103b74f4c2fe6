"""Loaders: data sets, collate functions, samplers, and the loops over them."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.differential.grammar.losses import class_loss
from benchmarks.differential.grammar.models import a_model
from benchmarks.differential.grammar.placing import device_text, right_move
from benchmarks.differential.grammar.registry import can_nest, feature, fill
from benchmarks.differential.grammar.tensors import expression, result
from benchmarks.differential.grammar.training import optimizer_of, update
from benchmarks.differential.values import BATCH, DEVICE, HOST, WIDTH, Flag, Loader, Tensor
from benchmarks.differential.writer import BODY, Writer

MAIN = (BATCH, WIDTH)
ROWS = 8
PAIR = (Tensor("inputs", MAIN, side=HOST), Tensor("labels", (BATCH,), "long", side=HOST))


def _loader(writer: Writer, data: str, form: str, more: str = "", side: str = HOST) -> Loader:
    name = writer.fresh(writer.choose(["loader", "train_loader", "dataloader"]))
    options = ["", ", shuffle=True", ", drop_last=True", ", num_workers=0"]
    writer.line(f"{name} = DataLoader({data}, batch_size={BATCH}{writer.choose(options)}{more})")
    inputs, labels = (replace(tensor, side=side) for tensor in PAIR)
    return writer.keep(Loader(name, (inputs, labels), form))


@feature("loader-of-tensors", 12, BODY)
def loader_of_tensors(writer: Writer) -> None:
    """`TensorDataset`, whose tensors may lie on the device already."""
    writer.use("from torch.utils.data import DataLoader, TensorDataset")
    name, xs, side = writer.fresh("dataset"), "", HOST
    labels = f"torch.randint(0, {BATCH}, ({ROWS},)"
    if writer.sometimes(15):
        xs, side = writer.fresh("all_inputs"), DEVICE
        writer.line(f"{xs} = torch.randn({ROWS}, {WIDTH}).to({device_text(writer)})")
        labels += f", device={xs}.device" if writer.careful() else ""
    writer.line(f"{name} = TensorDataset({xs or f'torch.randn({ROWS}, {WIDTH})'}, {labels}))")
    _loader(writer, name, "tuple", side=side)


@feature("loader-of-class", 10, BODY)
def loader_of_class(writer: Writer) -> None:
    """A data set that is a class of the program, and gives tuples or dictionaries."""
    writer.use("from torch.utils.data import DataLoader, Dataset")
    name = writer.fresh("Rows")
    form = writer.choose(["tuple", "dictionary"])
    takes_device = writer.sometimes(15)
    move = ".to(device)" if takes_device else ""
    pair = "self.inputs[index], self.labels[index]"
    entries = '{"inputs": self.inputs[index], "labels": self.labels[index]}'
    with writer.definition():
        writer.lines(
            f"class {name}(Dataset):",
            f"    def __init__(self{', device' if takes_device else ''}):",
            f"        self.inputs = torch.randn({ROWS}, {WIDTH}){move}",
            f"        self.labels = torch.randint(0, {BATCH}, ({ROWS},))"
            + (move if writer.careful() else ""),
            "",
            "    def __len__(self):",
            f"        return {writer.choose([str(ROWS), 'len(self.inputs)'])}",
            "",
            "    def __getitem__(self, index):",
            f"        return {pair if form == 'tuple' else entries}",
        )
    made = f"{name}({device_text(writer) if takes_device else ''})"
    _loader(writer, made, form, side=DEVICE if takes_device else HOST)


@feature("loader-with-collate", 10, BODY)
def loader_with_collate(writer: Writer) -> None:
    """A collate function, which may move what it puts together."""
    writer.use("from torch.utils.data import DataLoader")
    name, rows = writer.fresh("collate"), writer.fresh("samples")
    form = writer.choose(["tuple", "dictionary"])
    with writer.definition():
        writer.line(f"def {name}(samples):")
        if writer.likely(50):
            writer.lines(
                "    rows, marks = zip(*samples)",
                "    inputs = torch.stack(rows)",
                "    labels = torch.tensor(marks)",
            )
        else:
            writer.line("    inputs = torch.stack([row for row, _ in samples])")
            writer.line("    labels = torch.tensor([mark for _, mark in samples])")
        if form == "tuple":
            writer.line("    return inputs, labels")
        else:
            writer.line('    return {"inputs": inputs, "labels": labels}')
    writer.line(f"{rows} = [(torch.randn({WIDTH}), i % {BATCH}) for i in range({ROWS})]")
    _loader(writer, rows, form, f", collate_fn={name}")


@feature("loader-that-moves", 5, BODY)
def loader_that_moves(writer: Writer) -> None:
    """Batches that come moved: by a collate function, a generator, or a wrapper of a loader."""
    writer.use("from torch.utils.data import DataLoader")
    rows, name = writer.fresh("samples"), writer.fresh("moved_batches")
    device = device_text(writer)
    writer.line(f"{rows} = [(torch.randn({WIDTH}), i % {BATCH}) for i in range({ROWS})]")
    batch = tuple(Tensor(t.text, t.shape, t.dtype) for t in PAIR)
    if writer.likely(50):
        source = writer.fresh("loader")
        writer.line(f"{source} = DataLoader({rows}, batch_size={BATCH})")
        with writer.definition():
            writer.line(f"def {name}(batches, device):")
            writer.line("    for inputs, labels in batches:")
            labels = "labels.to(device)" if writer.careful() else "labels"
            writer.line(f"        yield inputs.to(device), {labels}")
        writer.keep(Loader(f"{name}({source}, {device})", batch))
        writer.line(f"print(len({source}))")
        return
    default = "torch.utils.data.default_collate"
    move = f"[t.to({device}) for t in {default}(samples)]"
    more = f", collate_fn=lambda samples: {move}"
    loader = writer.fresh("loader")
    writer.line(f"{loader} = DataLoader({rows}, batch_size={BATCH}{more})")
    writer.keep(Loader(loader, batch))


def _has_loader(writer: Writer) -> bool:
    return bool(writer.values(Loader)) and can_nest(writer)


def _loop(writer: Writer, loader: Loader) -> str:
    """The header of a loop over a loader."""
    target = "inputs, labels" if loader.form == "tuple" else "batch"
    headers = [
        f"for {target} in {loader.text}:",
        f"for step, {f'({target})' if ',' in target else target} in enumerate({loader.text}):",
    ]
    return writer.choose(headers)


def _unpacked(writer: Writer, loader: Loader) -> tuple[Tensor, Tensor]:
    """Write the moves of a batch, and give its tensors."""
    if loader.form == "dictionary":
        return _unpacked_dictionary(writer, moves=loader.batch[0].side == HOST)
    if loader.batch[0].side != HOST:
        return loader.batch[0], loader.batch[1]
    kind = writer.number(0, 2)
    move = {
        t.text: right_move(writer, t.text, "device") if writer.careful() else t.text for t in PAIR
    }
    flags = writer.values(Flag)
    if flags and writer.likely(50) and writer.careful():
        with writer.block(f"if {flags[0].text}:"):
            writer.line("inputs, labels = inputs.cuda(), labels.cuda()")
    elif kind == 0:
        writer.line(f"inputs, labels = {move['inputs']}, {move['labels']}")
    else:
        for name, text in move.items():
            if text != name:
                writer.line(f"{name} = {text}")
    return Tensor("inputs", MAIN), Tensor("labels", (BATCH,), "long")


def _unpacked_dictionary(writer: Writer, *, moves: bool) -> tuple[Tensor, Tensor]:
    if not moves:
        texts = [f'batch["{tensor.text}"]' for tensor in PAIR]
    elif writer.likely(50) and writer.careful():
        device = device_text(writer)
        writer.line(f"batch = {{key: value.to({device}) for key, value in batch.items()}}")
        texts = ['batch["inputs"]', 'batch["labels"]']
    else:
        texts = [f'batch["{tensor.text}"]' for tensor in PAIR]
        texts = [right_move(writer, t, "device") if writer.careful() else t for t in texts]
    for name, text in zip(("inputs", "labels"), texts, strict=True):
        writer.line(f"{name} = {text}")
    return Tensor("inputs", MAIN), Tensor("labels", (BATCH,), "long")


@feature("loader-training", 60, BODY, ready=_has_loader)
def loader_training(writer: Writer) -> None:
    """A loop over a loader that trains."""
    loader = writer.choose(writer.values(Loader))
    module = a_model(writer, trained=True)
    optimizer = optimizer_of(writer, module)
    losses = writer.fresh("losses") if writer.sometimes(30) else ""
    if losses:
        writer.line(f"{losses} = []")
    with writer.block(_loop(writer, loader), own_graph=True):
        inputs, labels = (writer.keep(tensor) for tensor in _unpacked(writer, loader))
        if writer.sometimes(30):
            fill(writer, 1)
        loss = class_loss(writer, "output", labels.text)
        update(writer, module, optimizer, inputs.text, loss)
        if losses:
            kept = ["loss.item()", "loss.detach()", "loss.detach().cpu()"]
            writer.line(f"{losses}.append({writer.choose(kept)})")
    writer.end_graph()
    if losses:
        writer.line(f"print(sum({losses}) / len({losses}))")


@feature("loader-evaluation", 50, BODY, ready=_has_loader)
def loader_evaluation(writer: Writer) -> None:
    """A loop over a loader that collects what a module gives."""
    loader = writer.choose(writer.values(Loader))
    module = a_model(writer)
    name = writer.fresh("all_preds")
    side = writer.choose([HOST, "device"])
    writer.line(f"{name} = []")
    with writer.block("with torch.no_grad():"), writer.block(_loop(writer, loader)):
        inputs, labels = _unpacked(writer, loader)
        writer.line(f"output = {module.text}({inputs.text})")
        if writer.likely(50):
            writer.line(f"hits = (output.argmax(1) == {labels.text}).sum().item()")
        more = ".cpu()" if side == HOST and writer.careful() else ""
        writer.line(f"{name}.append(output{more})")
    like = Tensor("", MAIN, side=side)
    reads = [f"torch.cat({name})[:{BATCH}]", f"torch.stack({name}).mean(0)", f"{name}[-1]"]
    text = f"{writer.choose(reads)} * {expression(writer, MAIN, side=side)}"
    result(writer, text, like, grad=True)


@feature("loader-first-batch", 40, BODY, ready=_has_loader)
def loader_first_batch(writer: Writer) -> None:
    """`next(iter(loader))`."""
    loader = writer.choose(writer.values(Loader))
    if loader.form == "tuple" and loader.batch[0].side == HOST:
        one, other = writer.fresh("images"), writer.fresh("marks")
        writer.line(f"{one}, {other} = next(iter({loader.text}))")
        writer.line(
            f"{one} = {right_move(writer, one, 'device')}"
            if writer.careful()
            else f"print({one}.shape)"
        )
    else:
        one = writer.fresh("first_batch")
        text = "inputs" if loader.form == "dictionary" else "0"
        key = f'["{text}"]' if loader.form == "dictionary" else f"[{text}]"
        writer.line(f"{one} = next(iter({loader.text})){key}")
        if loader.batch[0].side == HOST and writer.careful():
            writer.line(f"{one} = {right_move(writer, one, 'device')}")
    kept = writer.keep(Tensor(one, MAIN))
    result(writer, f"{kept.text} * {expression(writer, MAIN)}", kept, grad=True)


@feature("padded-sequences", 6)
def padded_sequences(writer: Writer) -> None:
    """Sequences of different lengths: padded, packed by lengths that stay on the CPU."""
    writer.use("import torch.nn as nn")
    writer.use("from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence")
    rows, lengths, packed = (writer.fresh(n) for n in ("sequences", "lengths", "packed"))
    device = device_text(writer)
    move = f".to({device})" if writer.careful() else ""
    writer.line(f"{rows} = [torch.ones(n + 1, {WIDTH}){move} for n in range(3)]")
    where = ", device=" + device if not writer.careful() else ""
    writer.line(f"{lengths} = torch.tensor([1, 2, 3]{where})")
    padded = f"pad_sequence({rows}, batch_first=True)"
    more = "batch_first=True, enforce_sorted=False"
    writer.line(f"{packed} = pack_padded_sequence({padded}, {lengths}, {more})")
    row = expression(writer, (WIDTH,))
    result(writer, f"{packed}.data.sum(0) + {row}", Tensor("", (WIDTH,)), grad=True)
