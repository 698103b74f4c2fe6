"""Classes of modules: `__init__`, `forward` and methods, written by parts side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.differential.grammar.placing import created, device_text
from benchmarks.differential.grammar.registry import PART, write_one
from benchmarks.differential.values import BATCH, WIDTH, Handle, Tensor
from benchmarks.differential.writer import FUNCTION, Frame, Line, Writer

CLASS_NAMES = ("Net", "Model", "Encoder", "Block", "Classifier", "Decoder", "Critic")


@dataclass
class Building:
    """A class of modules that is being written.

    Attributes:
        name: its own.
        init: the body of `__init__`.
        forward: the body of `forward`.
        methods: its other methods.
        x: what `forward` has come to.
        arguments: what `__init__` takes.
        given: what is given for that.
        level: how many classes lie around it.
        base: the class that it is derived from.
        head: its last layer, with its widths.
    """

    name: str
    init: Frame
    forward: Frame
    x: Tensor
    methods: list[list[Line]] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    level: int = 0
    base: str = "nn.Module"
    head: tuple[str, int, int] = ("head", WIDTH, WIDTH)


def building(writer: Writer) -> Building:
    """The class that is being written."""
    found: Building = writer.traits["building"][-1]
    return found


@contextmanager
def in_init(writer: Writer) -> Iterator[None]:
    """Write into `__init__`."""
    with writer.into(building(writer).init):
        yield


@contextmanager
def in_forward(writer: Writer) -> Iterator[Tensor]:
    """Write into `forward`, whose `x` is given."""
    with writer.into(building(writer).forward):
        yield building(writer).x


def step(writer: Writer, text: str, width: int | None = None) -> None:
    """Let `forward` go on with this in the place of `x`."""
    own = building(writer)
    with writer.into(own.forward) as frame:
        writer.line(f"x = {text}")
        if own.x in frame.values:
            frame.values.remove(own.x)
        own.x = Tensor("x", (BATCH, width or own.x.shape[-1]), grad=True)
        writer.keep(own.x)


@contextmanager
def method(writer: Writer, *decorators: str) -> Iterator[Frame]:
    """Write a method, which sees what is global."""
    with writer.into(Frame(FUNCTION, list(writer.globals), indent=1)) as frame:
        for decorator in decorators:
            writer.line(decorator)
        yield frame
    building(writer).methods.append(frame.lines)


def attribute(writer: Writer, stem: str, text: str) -> str:
    """Write `self.stem = text` into `__init__`, and give its name."""
    name = f"self.{writer.fresh(stem)}"
    with in_init(writer):
        writer.line(f"{name} = {text}")
    return name


def host_tensor(writer: Writer, shape: tuple[int, ...], dtype: str = "float") -> str:
    """A tensor that is made in `__init__`: on the CPU, and the module moves it or does not."""
    care, writer.care = writer.care, 0
    text = created(writer, Tensor("", shape, dtype))
    writer.care = care
    return text


def write_class(writer: Writer, parts: int, level: int = 0) -> Building:
    """Write a class of so many parts, and a head that can be replaced."""
    writer.use("import torch.nn as nn")
    name = writer.fresh(writer.choose(CLASS_NAMES))
    own = _begun(writer, name, level)
    writer.traits.setdefault("building", []).append(own)
    if writer.handles("device") and writer.sometimes(15):
        _takes_device(writer, own)
    write_one(writer, PART)
    for _ in range(parts - 1):
        if not writer.full:
            write_one(writer, PART)
    writer.begin()
    _end(writer, own)
    writer.traits["building"].pop()
    return own


def _begun(writer: Writer, name: str, level: int) -> Building:
    writer.reserve("x")
    x = Tensor("x", (BATCH, WIDTH), grad=False)
    init = Frame(FUNCTION, list(writer.globals), indent=2)
    forward = Frame(FUNCTION, [*writer.globals, x], indent=2)
    return Building(name, init, forward, x, level=level)


def _takes_device(writer: Writer, own: Building) -> None:
    with writer.marked("module-takes-device"):
        own.arguments.append("device")
        own.given.append(device_text(writer))
        with writer.into(own.init):
            writer.line("self.device = device")
            writer.keep(Handle("device"))
        own.forward.values.append(Handle("self.device"))


def _end(writer: Writer, own: Building) -> None:
    width = own.x.shape[-1]
    own.head = (writer.fresh("head"), width, WIDTH)
    with writer.into(own.init):
        writer.line(f"self.{own.head[0]} = nn.Linear({width}, {WIDTH})")
    with writer.into(own.forward):
        writer.line(f"return self.{own.head[0]}({own.x.text})")
    lines: list[Line] = []
    with writer.into(Frame(FUNCTION)) as frame:
        writer.lines(
            f"class {own.name}({own.base}):",
            f"    def __init__({', '.join(['self', *own.arguments])}):",
            "        super().__init__()",
        )
        lines += [*frame.lines, *own.init.lines, ("", frozenset())]
        frame.lines.clear()
        writer.line("    def forward(self, x):")
        lines += [*frame.lines, *own.forward.lines]
    for body in own.methods:
        lines += [("", frozenset()), *body]
    writer.definitions.append(lines)
