"""What happens to the bytes of a file by accident."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, bytes], bytes]


def _place(rng: random.Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _flipped(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8)) if data else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _inserted(rng: random.Random, data: bytes) -> bytes:
    place = _place(rng, data)
    return data[:place] + rng.choice(_NOISE) + data[place:]


def _cut(rng: random.Random, data: bytes) -> bytes:
    begin, end = sorted((_place(rng, data), _place(rng, data)))
    return data[:begin] + data[end:]


def _truncated(rng: random.Random, data: bytes) -> bytes:
    return data[: _place(rng, data)]


def _doubled(rng: random.Random, data: bytes) -> bytes:
    begin, end = sorted((_place(rng, data), _place(rng, data)))
    return data[:end] + data[begin:]


def _shuffled(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def _replaced(rng: random.Random, data: bytes) -> bytes:
    """One token in the place of another."""
    tokens = list(re.finditer(rb"\w+|[^\w\s]", data))
    if not tokens:
        return data
    start, end = rng.choice(tokens).span()
    return data[:start] + rng.choice(TOKENS).encode() + data[end:]


def _other_ends(rng: random.Random, data: bytes) -> bytes:
    return re.sub(rb"\n", lambda _: rng.choice((b"\r\n", b"\r", b"\n", b"\x0c\n")), data)


def _recoded(rng: random.Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace") + "# žluťoučký 模型 \U0001f525\n"
    codec = rng.choice(
        ("utf-16", "utf-32", "utf-8-sig", "utf-7", "cp1252", "shift_jis", "utf-16-le")
    )
    declared = f"# coding: {rng.choice(_CODECS)}\n" if rng.random() < 0.7 else ""
    return (declared + text).encode(codec, "replace")


_NOISE = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\t", b"\x0c", b"\r", b"\x1a", b"\x85",
    b"\\", "\u2028".encode(), "\u202e".encode(), b'"""', b"'", b"(", b"]", b"}", b"{", b"f'{",
    b"\\\n", b":", b"# noqa: DEV", b"# devicelint: ignore[", b"# devicelint: skip-file",
    b"%%bash\n", b"!ls\n", b"\n    ", b"\n\t", b"*", b"**", b"@", b":=", b"lambda", b"async ",
    b"await ", b"yield ", b"0x", b"1_", b"1e999999", b"match x:\n case", b"type X = ",
    b"print x\n", b"exec 'a'\n", b"`a`", b"<>",
)  # fmt: skip
_CODECS = (
    "utf-8",
    "latin-1",
    "ascii",
    "utf-16",
    "rot13",
    "base64",
    "nothing",
    "mbcs",
    "idna",
    "\0",
)
TOKENS: Sequence[str] = (
    *"()[]{}:,.;@=*+-/%&|^~<>!#\\\"'`$?".split(), *"()[]{}:,.;@=*+-/%&|^~<>", "\n", "\n  ", " ",
    *"def class if else elif for while try except finally with as import from return yield".split(),
    *"lambda await async global nonlocal del assert raise pass break continue in is not".split(),
    *"torch model x cuda cpu device self None True 0 1 -1 0.5 1j 0b1 '' f'' b'' ... match".split(),
    ".to(", ".cuda()", "torch.nn.Linear(3, 3)", "torch.device(", "reveal_device(", "*args",
    "**k",
)  # fmt: skip

BYTES: Sequence[Mutation] = (
    _flipped, _inserted, _cut, _truncated, _doubled, _shuffled, _replaced, _replaced, _other_ends,
    _recoded,
)  # fmt: skip


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Return the data after one to four accidents."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(BYTES)(rng, data)
    return data
