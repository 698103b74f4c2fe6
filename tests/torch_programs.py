"""Programs that use torch in every way Python allows, as a Hypothesis strategy.

`torch_programs.grammar` holds what there is to write.  Programs parse; whether they would run is
another matter, and so is what they mean: a checker must bear all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

_HEADING = re.compile(r"^== (?P<symbol>[A-Z_]+)(?P<paragraphs> paragraphs)?\n", re.MULTILINE)
_SIMPLEST = {
    "CONDITION": "use_cuda",
    "TARGET": "x",
    "CALL": "model(x)",
    "EXPR": "x",
    "CLASS": "class Net(nn.Module): pass",
    "FUNCTION": "def train(x): return x",
    "STATEMENT": "x = x.cuda()",
    "DECORATOR": "torch.no_grad()",
}
"""What stands for a symbol where a program is deep enough."""


def _productions(grammar: str) -> Mapping[str, tuple[str, ...]]:
    _, *parts = _HEADING.split(grammar)
    return {
        symbol: tuple(text.strip("\n").split("\n\n" if paragraphs else "\n"))
        for symbol, paragraphs, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    }


_PRODUCTIONS = _productions(Path(__file__).with_suffix(".grammar").read_text(encoding="utf-8"))
_HOLE = re.compile(rf"^(?P<indent> *)BLOCK$|\b(?P<symbol>{'|'.join(_PRODUCTIONS)})\b", re.MULTILINE)


@dataclass(frozen=True)
class _Writer:
    draw: st.DrawFn

    def symbol(self, symbol: str, depth: int) -> str:
        """One of its productions, every hole in it filled."""
        if depth <= 0 and symbol in _SIMPLEST:
            return _SIMPLEST[symbol]
        production = self.draw(st.sampled_from(_PRODUCTIONS[symbol]))

        def filled(hole: re.Match[str]) -> str:
            if hole["symbol"] is None:
                return self.block(depth - 1, hole["indent"])
            return self.symbol(hole["symbol"], depth - 1)

        return _HOLE.sub(filled, production)

    def statements(self, depth: int, most: int) -> str:
        count = self.draw(st.integers(min_value=1, max_value=most))
        return "\n".join(self.symbol("STATEMENT", depth) for _ in range(count))

    def block(self, depth: int, indent: str) -> str:
        return "\n".join(indent + line for line in self.statements(depth, most=3).split("\n"))


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program under any alias of torch, with any indentation and any line ends."""
    writer = _Writer(draw)
    imports = writer.symbol("IMPORTS", depth=1)
    choice = writer.symbol("DEVICE_CHOICE", depth=2)
    body = f"{choice}\n{writer.symbol('SETTING', depth=3)}\n{writer.statements(4, most=6)}\n"
    if "import torch as th" in imports:
        body = re.sub(r"\btorch\.", "th.", body)
    text = f"{imports}\n{body}".replace("    ", draw(st.sampled_from(["    ", "\t", "  "])))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
