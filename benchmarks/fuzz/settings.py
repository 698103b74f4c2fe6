"""Malformed settings, stub files and command lines."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.fuzz.accidents import mutated

SETTINGS = b"""\
[tool.devicelint]
select = ["DEV1", "DEV4"]
extend-select = ["blocking-copy"]
ignore = ["hard-coded-accelerator"]
exclude = ["third_party/**"]
unsafe-fixes = true
torch-version = "2.3"
device-style = "accelerator"
baseline = "baseline.json"
stubs = ["devicelint.pyi"]

[tool.devicelint.severity]
DEV101 = "warning"

[tool.devicelint.per-file-ignores]
"benchmarks/**" = ["DEV401"]

[tool.devicelint.assume]
loader = "cpu batches"
self.model = "module on cuda"
"mypkg.data.pair()" = "(cpu tensor, list of numbers)"
"""
STUBS = b"""\
class mypkg:
    class ops:
        def fused(a: Tensor[D], b: Tensor[D] | Scalar, *, dim=0) -> Tensor[D]: ...
        class Block(Module):
            def forward(self: Owned[D], x: Tensor[D]) -> tuple[Tensor[D], ...]: ...
"""
_VALUES = (
    b"3", b"-1.5", b"true", b'""', b'"DEV"', b"[]", b"[1]", b'["DEV9999"]', b"{}",
    b"{a = {b = 1}}", b"1979-05-27", b'"\\u0000"', b'"a" "b"', b"[[[[]]]]", b"nan", b"0x",
    b'"""', b'["\xff"]', b'["**["]', b'"9.9.9"', b'"../.."', b'["x.pyi"]', b'"base.toml"',
    b'"pyproject.toml"', b"1" * 5000, b"[" * 3000,
)  # fmt: skip


def settings(rng: random.Random) -> bytes:
    """Return what a pyproject.toml may hold."""
    if rng.random() < 0.5:
        return mutated(rng, SETTINGS)
    lines = SETTINGS.splitlines()
    for _ in range(rng.choice((1, 1, 3))):
        place = rng.randrange(len(lines))
        key, equals, _ = lines[place].partition(b"=")
        word = "".join(rng.choice(string.ascii_lowercase) for _ in range(4)).encode()
        lines[place] = (
            (key if rng.random() < 0.8 else word) + (equals or b"=") + rng.choice(_VALUES)
        )
    return b"\n".join(lines) + b"\n"


def stubs(rng: random.Random) -> bytes:
    """Return what a devicelint.pyi may hold."""
    return mutated(rng, STUBS)


_PATHS = (
    "train.py", "book.ipynb", "page.md", ".", "-", "missing.py", "sub", "", " ", "tr\0ain.py",
    "*.py", "./train.py", "train.py/", "\udcff.py", "a" * 5000, "book.ipynb:1:2", "train.py:3",
    "train.py:0", "train.py:99999999999999999999", "train.py:x", ":3", "DEV101",
    "created-on-cpu", "DEV",
)  # fmt: skip
_COMMANDS = (
    "check",
    "adopt",
    "trace",
    "why",
    "explain",
    "rules",
    "completion",
    "chek",
    "config",
    "map",
    "clean",
)
_OPTIONS: Mapping[str, Sequence[str]] = {
    "--select": ("DEV1", "", ",", "ALL", "DEV101,,DEV102", "nothing", "\0", "é"),
    "--extend-select": ("blocking-copy", "DEV9", "x"),
    "--ignore": ("DEV1", "D", "mixed-devices", "mixed-device"),
    "--config": ("pyproject.toml", "missing.toml", ".", "train.py", "book.ipynb", ""),
    "--torch-version": ("2.3", "2", "x", "99999999999999999999.1", "-1", ""),
    "--output-format": ("text", "concise", "json", "sarif", "junit", "github", "nothing", ""),
    "--stdin-filename": ("a.py", "book.ipynb", "page.md", "", "\0"),
    "--baseline": ("baseline.json", "train.py", "missing.json", ""),
    "--diff-base": ("HEAD", "nothing", "--help", ""), "--fix": (), "--diff": (),
    "--unsafe-fixes": (), "--exit-zero": (), "-q": (), "-v": (), "--quiet": (), "--verbose": (),
    "--statistics": (), "--version": (), "--help": (), "--no-cache": (), "--add-noqa": (),
    "--force-exclude": (), "--nothing": (), "-": (), "--": (), "-z": (), "--fi": (),
    "--entry": ("train.py",), "-j": ("1", "0", "-1", "x"), "--style": ("to", "x"),
    "--write-baseline": ("made.json", "train.py"), "--html": ("made.html", "sub", ""),
    "--output-file": ("made.txt", "sub", "missing/made.txt"), "--profile": (),
    "--color": ("always", "x"),
}  # fmt: skip


def words(rng: random.Random) -> list[str]:
    """Return what somebody may type after `devicelint`."""
    return list(_words(rng))


def _words(rng: random.Random) -> Iterator[str]:
    if rng.random() < 0.6:
        yield rng.choice(_COMMANDS) if rng.random() < 0.6 else "check"
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        option = rng.choice(list(_OPTIONS))
        values = _OPTIONS[option]
        if values and rng.random() < 0.3:
            yield f"{option}={rng.choice(values)}"
            continue
        yield option
        if values and rng.random() < 0.95:
            yield rng.choice(values)
    for _ in range(rng.choice((0, 1, 1, 2))):
        yield rng.choice(_PATHS[:5]) if rng.random() < 0.6 else rng.choice(_PATHS)
