"""Malformed programs: real ones after accidents, deep and long ones, and noise."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fuzz.accidents import TOKENS, mutated

ROOT = Path(__file__).parent.parent.parent
_BLOCK = re.compile(r"^```py[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def corpus() -> list[bytes]:
    """Return what is mutated: the broken examples, and the blocks of the rules' pages."""
    scripts = [path.read_bytes() for path in sorted((ROOT / "examples").rglob("*.py"))]
    pages = sorted((ROOT / "devicelint" / "rules").glob("*.md"))
    blocks = (block for page in pages for block in _BLOCK.findall(page.read_text("utf-8")))
    return [*scripts, *(f"import torch\n{block}".encode() for block in blocks)]


_NESTED = (
    ("(", "x", ")"), ("[", "x", "]"), ("{", "x", "}"), ("f(", "x", ")"), ("-", "x", ""),
    ("not ", "x", ""), ("x + ", "x", ""), ("x.", "x", ""), ("x[", "x", "]"),
    ("lambda: ", "x", ""), ("(x := ", "x", ")"), ("x if x else ", "x", ""), ("f'{", "x", "}'"),
    ("[x for x in ", "x", "]"), ("x(torch.ones(3)).", "x", ""), ("await ", "x", ""),
    ("*", "x", ""), ("x = ", "x", ""), ("torch.add(x, ", "x", ")"), ("'' '' ", "''", ""),
    ("x and ", "x", ""), ("x < ", "x", ""),
)  # fmt: skip
_SUITES = (
    "if x:",
    "for x in x:",
    "while x:",
    "def f(x):",
    "class X:",
    "with x:",
    "try:",
    "match x:",
)


def _deep(rng: random.Random) -> bytes:
    """One thing in the other, many times."""
    before, inner, after = rng.choice(_NESTED)
    times = int(10 ** rng.uniform(1, 4.3))
    closing = after * (times if rng.random() < 0.8 else rng.randrange(times))
    return f"import torch\nx = torch.ones(3)\ny = {before * times}{inner}{closing}\n".encode()


def _deep_suites(rng: random.Random) -> bytes:
    levels = range(int(10 ** rng.uniform(1, 2.3)))
    lines = ["import torch", *(" " * level + rng.choice(_SUITES) for level in levels)]
    lines.append(" " * (len(lines) - 1) + "x = torch.ones(3).cuda()")
    return "\n".join(lines).encode()


def _long(rng: random.Random) -> bytes:
    """One huge line, literal or number of things."""
    size = int(10 ** rng.uniform(3, 5.5))
    line = rng.choice(
        (
            lambda: f"x = {'1' * size}",
            lambda: f"x = '{'a' * size}'",
            lambda: f"x = [{'1, ' * (size // 10)}]",
            lambda: f"x = {'a' * size}",
            lambda: "x = torch.ones(3)" + " # noqa" * (size // 10),
            lambda: "x = 1;" * (size // 20),
            lambda: "@f\n" * (size // 100) + "def g(): pass",
            lambda: f"f({', '.join(f'a{n}=1' for n in range(size // 20))})",
            lambda: "import " + ", ".join(f"a{n}" for n in range(size // 20)),
            lambda: " " * size + "x",
            lambda: "\n" * size,
            lambda: "x = 1 \\\n" * (size // 20),
            lambda: "global " + ", ".join(f"a{n}" for n in range(size // 20)),
        )
    )()
    return f"import torch\n{line}\n".encode()


def _noise(rng: random.Random) -> bytes:
    """Tokens without a grammar, or no text at all."""
    if rng.random() < 0.3:
        return b"import torch\n" + rng.randbytes(rng.randrange(400))
    if rng.random() < 0.3:
        letters = (
            chr(rng.choice((rng.randrange(128), rng.randrange(0x3000), 0x1F525)))
            for _ in range(200)
        )
        return f"import torch\n{''.join(letters)}".encode("utf-8", "surrogatepass")
    tokens = " ".join(rng.choice(TOKENS) for _ in range(rng.randrange(1, 80)))
    return f"import torch\n{tokens}\n".encode()


def script(rng: random.Random, scripts: Sequence[bytes]) -> bytes:
    """Return what a file called `*.py` may hold."""
    kind = rng.random()
    if kind < 0.72:
        return mutated(rng, rng.choice(scripts))
    if kind < 0.76:
        return rng.choice(scripts)
    if kind < 0.80:
        return mutated(rng, rng.choice(scripts) + rng.choice(scripts))
    return rng.choice((_deep, _deep_suites, _long, _noise, _noise))(rng)
