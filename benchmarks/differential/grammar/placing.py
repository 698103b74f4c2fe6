"""How a value comes to lie somewhere: the spellings of a device, of a move, and of a creation.

A coin decides whether a value is placed where it belongs. What is forgotten stays on the CPU.
"""

from __future__ import annotations

from benchmarks.differential.values import (
    BATCH,
    DEVICE,
    HOST,
    SECOND,
    WIDTH,
    Flag,
    Module,
    Tensor,
    sizes,
    tuple_of,
)
from benchmarks.differential.writer import BODY, Writer

HARD = "hard-coded"
"""The trait of a program that says `cuda` and never asks."""

_CHOSEN = '"cuda" if torch.cuda.is_available() else "cpu"'


def device_text(writer: Writer, side: str = DEVICE) -> str:
    """An expression that gives the device of a side."""
    if side == HOST:
        return writer.choose(['"cpu"', 'torch.device("cpu")'])
    handles = writer.handles(side)
    if handles and writer.likely(85):
        return handles[0] if writer.likely(75) else writer.choose(handles)
    like = neighbours(writer, side)
    if like:
        return f"{writer.choose(like).text}.device"
    if handles:
        return handles[0]
    if side == SECOND:
        return '"cuda:1" if torch.cuda.device_count() > 1 else ' + device_text(writer)
    modules = [module for module in writer.values(Module) if module.side == side]
    if modules and writer.likely(60):
        return f"next({modules[0].text}.parameters()).device"
    return '"cuda"' if writer.traits.get(HARD) else _CHOSEN


def neighbours(writer: Writer, side: str) -> list[Tensor]:
    """The tensors in sight that belong there."""
    return [tensor for tensor in writer.values(Tensor) if tensor.side == side][:4]


def moved(writer: Writer, text: str, side: str = DEVICE, *, like: bool = True) -> str:
    """The expression, moved by a coin: to where it belongs, or left."""
    if writer.careful():
        return right_move(writer, text, side, like=like)
    if writer.likely(80):
        return text
    others = [other for other in (HOST, SECOND) if writer.handles(other) or other == HOST]
    writer.note("moved-elsewhere")
    return right_move(writer, text, writer.choose(others), like=False)


def right_move(writer: Writer, text: str, side: str, *, like: bool = True) -> str:
    """The expression, moved to where it belongs."""
    if side == HOST:
        return f"{text}.cpu()" if writer.likely(80) else f'{text}.to("cpu")'
    if side == DEVICE and writer.traits.get(HARD) and writer.likely(60):
        return f"{text}.cuda()"
    flags = writer.values(Flag)
    if side == DEVICE and flags and writer.likely(35):
        return f"({text}.cuda() if {flags[0].text} else {text})"
    near = neighbours(writer, side) if like else []
    floats = [other for other in near if other.dtype == "float" and other.text != text]
    if floats and writer.sometimes(12):
        writer.note("to-like")
        return f"{text}.to({floats[0].text}.device)"
    device = device_text(writer, side)
    if writer.likely(80):
        return f"{text}.to({device})"
    return f"{text}.to({device}, non_blocking=True)" if like else f"{text}.to(device={device})"


def move_statement(writer: Writer, name: str, side: str = DEVICE, *, module: bool = False) -> None:
    """Write a statement that moves what a name is bound to; or not, by a coin."""
    if not writer.careful():
        return
    flags = writer.values(Flag)
    if side == DEVICE and flags and writer.likely(60):
        with writer.marked("guarded-move"), writer.block(f"if {flags[0].text}:"):
            writer.line(f"{name}.cuda()" if module else f"{name} = {name}.cuda()")
        return
    move = right_move(writer, name, side, like=not module)
    writer.line(move if module and writer.likely(70) else f"{name} = {move}")


def created(writer: Writer, tensor: Tensor) -> str:
    """An expression that makes such a tensor, placed by a coin."""
    near = [other for other in neighbours(writer, tensor.side) if other.dtype == "float"]
    same = [other for other in near if other.shape == tensor.shape]
    careful = writer.careful()
    if careful and tensor.dtype == "float":
        if same and writer.sometimes(25):
            writer.note("like-factory")
            return _like(writer, same[0])
        if near and writer.sometimes(20):
            writer.note("new-factory")
            return _new(writer, near[0], tensor.shape)
    made, takes_device = _factory(writer, tensor)
    if not careful or (tensor.side == HOST and writer.likely(90)):
        return made
    if takes_device and writer.likely(55):
        return f"{made[:-1]}, device={device_text(writer, tensor.side)})"
    return right_move(writer, made, tensor.side)


def _like(writer: Writer, other: Tensor) -> str:
    name = writer.choose(["zeros_like", "ones_like", "rand_like", "randn_like"])
    if writer.sometimes(15):
        return f"torch.full_like({other.text}, 0.5)"
    return f"torch.{name}({other.text})"


def _new(writer: Writer, other: Tensor, shape: tuple[int, ...]) -> str:
    name = writer.choose(["new_zeros", "new_ones", "new_full", "new_tensor"])
    if name == "new_full":
        return f"{other.text}.new_full({tuple_of(shape)}, 2.0)"
    if name == "new_tensor" and len(shape) == 1:
        return f"{other.text}.new_tensor({[0.5] * shape[0]})"
    return f"{other.text}.{'new_ones' if name == 'new_tensor' else name}({sizes(shape)})"


def _factory(writer: Writer, tensor: Tensor) -> tuple[str, bool]:
    """A creation on the CPU, and whether `device=` may be added to it."""
    if tensor.dtype == "long":
        return _long(writer, tensor.shape), True
    if tensor.dtype == "bool":
        return _bool(writer, tensor.shape)
    return _float(writer, tensor.shape)


def _float(writer: Writer, shape: tuple[int, ...]) -> tuple[str, bool]:
    plain = sizes(shape)
    options = [
        (f"torch.randn({plain})", True),
        (f"torch.zeros({plain})", True),
        (f"torch.ones({plain})", True),
        (f"torch.rand({plain})", True),
        (f"torch.full({tuple_of(shape)}, 0.5)", True),
    ]
    if not shape:
        options = [
            ("torch.tensor(0.5)", True),
            ("torch.tensor(2.0)", True),
            ("torch.zeros(())", True),
            ("torch.ones(3).sum()", False),
        ]
    if len(shape) == 1:
        options += [
            (f"torch.linspace(0, 1, {shape[0]})", True),
            (f"torch.tensor({[0.5 + n / 4 for n in range(shape[0])]})", True),
            (f"torch.arange({shape[0]}, dtype=torch.float32)", True),
            (f"torch.arange({shape[0]}).float()", False),
        ]
    if len(shape) == 2:
        options += [
            (f"torch.eye({plain})", True),
            (f"torch.randn({shape[1]}, {shape[0]}).t()", False),
            (f"torch.empty({plain}).uniform_()", False),
            (f"torch.rand({plain}) * 2 - 1", False),
        ]
    text, takes = writer.choose(options)
    return (text, takes) if " * " not in text else (f"({text})", False)


def _long(writer: Writer, shape: tuple[int, ...]) -> str:
    options = [
        f"torch.randint(0, {BATCH}, {tuple_of(shape)})",
        f"torch.zeros({sizes(shape)}, dtype=torch.long)",
    ]
    if len(shape) == 1 and shape[0] <= WIDTH:
        options.append(f"torch.tensor({[n % BATCH for n in range(shape[0])]})")
        if shape[0] <= BATCH:
            options.append(f"torch.arange({shape[0]})")
    if not shape:
        options = ["torch.tensor(2)", "torch.tensor(1)"]
    return writer.choose(options)


def _bool(writer: Writer, shape: tuple[int, ...]) -> tuple[str, bool]:
    options = [
        (f"torch.ones({sizes(shape)}, dtype=torch.bool)", True),
        (f"(torch.rand({sizes(shape)}) > 0.5)", False),
    ]
    if len(shape) == 1:
        options.append((f"torch.tensor({[n % 2 == 0 for n in range(shape[0])]})", True))
    return writer.choose(options)


def in_body(writer: Writer) -> bool:
    """Whether this is the main flow."""
    return writer.frame.place == BODY
