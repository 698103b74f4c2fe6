"""Tensors that a module keeps elsewhere than in an attribute of their own."""

from __future__ import annotations

from benchmarks.differential.grammar.classes import (
    attribute,
    building,
    in_forward,
    in_init,
    method,
    step,
)
from benchmarks.differential.grammar.registry import PART, feature
from benchmarks.differential.values import BATCH
from benchmarks.differential.writer import Writer


def _width(writer: Writer) -> int:
    return building(writer).x.shape[-1]


@feature("part-list-of-tensors", 4, PART)
def list_of_tensors(writer: Writer) -> None:
    """Tensors in a list, which no move of the module reaches."""
    made = f"[torch.ones({_width(writer)}) for _ in range(2)]"
    name = attribute(writer, "steps", made)
    each = "each.to(x.device)" if writer.careful() else "each"
    if writer.likely(60):
        with in_forward(writer), writer.block(f"for each in {name}:"):
            writer.line(f"x = x * {each}")
        step(writer, "x + 0.1")
    else:
        step(writer, f"x + {each.replace('each', f'{name}[0]')}")


@feature("part-dictionary-of-tensors", 4, PART)
def dictionary_of_tensors(writer: Writer) -> None:
    """Tensors in a dictionary, which no move of the module reaches."""
    width = _width(writer)
    made = f'{{"low": torch.zeros({width}), "high": torch.ones({width})}}'
    name = attribute(writer, "bounds", made)
    more = ".to(x.device)" if writer.careful() else ""
    reads = [f'torch.maximum(x, {name}["low"]{more})', f'x * {name}["high"]{more}']
    step(writer, writer.choose(reads))


@feature("part-class-attribute", 3, PART)
def class_attribute(writer: Writer) -> None:
    """A tensor that all modules of a class share."""
    own = building(writer)
    name = writer.fresh("prior")
    with method(writer):
        writer.line(f"{name} = torch.ones({_width(writer)})")
    more = writer.choose([".to(x.device)", ".to(x)"]) if writer.careful() else ""
    step(writer, f"x * {writer.choose(['self', own.name])}.{name}{more}")


@feature("part-kept-state", 4, PART)
def kept_state(writer: Writer) -> None:
    """A state that one call of `forward` leaves for the next."""
    name = attribute(writer, "last", "None")
    with in_forward(writer):
        with writer.block(f"if {name} is None:"):
            right = ["torch.zeros_like(x)", "x.new_zeros(x.shape)"]
            wrong = f"torch.zeros({BATCH}, {_width(writer)})"
            writer.line(f"{name} = {writer.choose(right) if writer.careful() else wrong}")
        writer.line(f"x = 0.5 * (x + {name})")
        writer.line(f"{name} = x.detach()")
    step(writer, "x * 1.0")


@feature("part-running-mean", 5, PART)
def running_mean(writer: Writer) -> None:
    """A buffer that `forward` changes: in place, or by a new tensor."""
    plain = writer.fresh("running")
    name = f"self.{plain}"
    with in_init(writer):
        if writer.careful():
            writer.line(f'self.register_buffer("{plain}", torch.zeros({_width(writer)}))')
        else:
            writer.line(f"{name} = torch.zeros({_width(writer)})")
    with in_forward(writer):
        changes = [
            f"{name} = 0.9 * {name} + 0.1 * x.detach().mean(0)",
            f"{name}.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)",
            f"{name}.copy_(x.detach().mean(0))",
            f"{name}[0] = x.detach().mean()",
        ]
        writer.line(writer.choose(changes))
    step(writer, f"x - {name}")


@feature("part-made-by-method", 4, PART)
def made_by_method(writer: Writer) -> None:
    """A mask that a method of the module makes."""
    name, width = writer.fresh("build_mask"), _width(writer)
    with method(writer):
        if writer.likely(50):
            writer.line(f"def {name}(self, like):")
            device = ", device=like.device" if writer.careful() else ""
            given = "x"
        else:
            writer.line(f"def {name}(self, device=None):")
            device = ", device=device"
            given = "x.device" if writer.careful() else ""
        writer.line(f"    return torch.ones({width}{device})")
    step(writer, f"x * self.{name}({given})")
