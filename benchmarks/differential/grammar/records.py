"""Dataclasses, named tuples, queues and other holders of tensors."""

from __future__ import annotations

from benchmarks.differential.grammar.placing import device_text
from benchmarks.differential.grammar.registry import feature
from benchmarks.differential.grammar.tensors import expression, keep_parts, result
from benchmarks.differential.values import BATCH, HOST, WIDTH, Tensor
from benchmarks.differential.writer import Writer

MAIN = (BATCH, WIDTH)


@feature("dataclass", 8)
def dataclass(writer: Writer) -> None:
    """A dataclass of tensors, with a method that moves them."""
    writer.use("from dataclasses import dataclass")
    name, made = writer.fresh("Batch"), writer.fresh("example")
    moves = writer.likely(60)
    with writer.definition():
        writer.lines("@dataclass", f"class {name}:")
        writer.lines("    x: torch.Tensor", "    mask: torch.Tensor")
        if moves:
            _method_that_moves(writer, name)
    side = HOST if moves else "device"
    given = f"{expression(writer, MAIN, side=side)}, {expression(writer, (WIDTH,), side=side)}"
    writer.line(f"{made} = {name}({given})")
    if moves and writer.careful():
        writer.line(f"{made} = {made}.to({device_text(writer)})")
    row = Tensor(f"{made}.mask", (WIDTH,), grad=True)
    if not keep_parts(writer, Tensor(f"{made}.x", MAIN, grad=True), row):
        return
    product = f"{made}.x * {made}.mask"
    result(writer, f"{product} + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


def _method_that_moves(writer: Writer, name: str) -> None:
    """Write `to`, which gives another, or changes this one."""
    writer.lines("", "    def to(self, device):")
    if writer.likely(50):
        mask = "self.mask.to(device)" if writer.careful() else "self.mask"
        writer.line(f"        return {name}(self.x.to(device), {mask})")
        return
    writer.line("        self.x = self.x.to(device)")
    if writer.careful():
        writer.line("        self.mask = self.mask.to(device)")
    writer.line("        return self")


@feature("dataclass-default", 4)
def dataclass_default(writer: Writer) -> None:
    """A dataclass whose field makes its own tensor."""
    writer.use("from dataclasses import dataclass, field")
    name, made = writer.fresh("Memory"), writer.fresh("memory")
    with writer.definition():
        writer.lines(
            "@dataclass",
            f"class {name}:",
            f"    rows: torch.Tensor = field(default_factory=lambda: torch.zeros({WIDTH}))",
            "    steps: int = 0",
        )
    given = f"rows={expression(writer, (WIDTH,))}" if writer.careful() else ""
    writer.line(f"{made} = {name}({given})")
    result(writer, f"{expression(writer, MAIN)} - {made}.rows", Tensor("", MAIN), grad=True)


@feature("named-tuple", 7)
def named_tuple(writer: Writer) -> None:
    """A named tuple, read by name, by place, or unpacked."""
    name, made = writer.fresh("Transition"), writer.fresh("transition")
    if writer.likely(60):
        writer.use("from collections import namedtuple")
        with writer.definition():
            writer.line(f'{name} = namedtuple("{name}", ["state", "reward"])')
    else:
        writer.use("from typing import NamedTuple")
        with writer.definition():
            writer.lines(
                f"class {name}(NamedTuple):",
                "    state: torch.Tensor",
                "    reward: torch.Tensor",
            )
    given = f"{expression(writer, MAIN)}, {expression(writer, (WIDTH,))}"
    writer.line(f"{made} = {name}({given})")
    row = Tensor(f"{made}.reward", (WIDTH,), grad=True)
    if not keep_parts(writer, Tensor(f"{made}.state", MAIN, grad=True), row):
        return
    reads = [
        f"{made}.state * {made}.reward",
        f"{made}[0] + {made}[1]",
        f"{made}._replace(reward=torch.ones_like({made}.reward)).reward + {made}.state",
        f"{name}(*[t * 2 for t in {made}]).state - {made}.reward",
    ]
    result(writer, writer.choose(reads), Tensor("", MAIN), grad=True)


@feature("queue", 5)
def queue(writer: Writer) -> None:
    """A memory of rows, sampled and put together, as in reinforcement learning."""
    writer.use("from collections import deque")
    memory, rows = writer.fresh("memory"), writer.fresh("sampled")
    side = writer.choose([HOST, "device"])
    writer.line(f"{memory} = deque(maxlen=8)")
    with writer.block("for _ in range(4):"):
        writer.line(f"{memory}.append({expression(writer, (WIDTH,), side=side)})")
    writer.line(f"{rows} = torch.stack(list({memory}))")
    if side == HOST and writer.careful():
        writer.line(f"{rows} = {rows}.to({device_text(writer)})")
    result(writer, f"{rows} + {expression(writer, MAIN)}", Tensor("", MAIN), grad=True)


@feature("default-dictionary", 4)
def default_dictionary(writer: Writer) -> None:
    """A `defaultdict` of lists, or of sums."""
    writer.use("from collections import defaultdict")
    name = writer.fresh("groups")
    if writer.likely(50):
        writer.line(f"{name} = defaultdict(list)")
        with writer.block("for step in range(2):"):
            writer.line(f'{name}["rows"].append({expression(writer, (WIDTH,))})')
        text = f'torch.stack({name}["rows"]).sum(0)'
    else:
        writer.line(f"{name} = defaultdict(float)")
        with writer.block("for step in range(2):"):
            writer.line(f'{name}["sum"] += {expression(writer, (WIDTH,))}')
        text = f'{name}["sum"]'
    result(writer, f"{expression(writer, MAIN)} * {text}", Tensor("", MAIN), grad=True)


@feature("object-attribute", 5)
def object_attribute(writer: Writer) -> None:
    """Attributes of a plain object."""
    writer.use("from types import SimpleNamespace")
    name = writer.fresh("context")
    given = f"x={expression(writer, MAIN)}, step=0"
    writer.line(f"{name} = SimpleNamespace({given})")
    changes = [f"{name}.bias = {expression(writer, (WIDTH,))}"]
    changes.append(f'setattr({name}, "bias", {expression(writer, (WIDTH,))})')
    writer.line(writer.choose(changes))
    row = Tensor(f"{name}.bias", (WIDTH,), grad=True)
    if keep_parts(writer, Tensor(f"{name}.x", MAIN, grad=True), row):
        result(writer, f"{name}.x + {name}.bias", Tensor("", MAIN), grad=True)
