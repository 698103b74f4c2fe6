"""Which repositories are looked into, and which only measure.

What a judge says of its learning half is read, case by case, and the analyser is changed by it.
Of the measuring half only figures are read; `measuring.toml` names it.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

Half: TypeAlias = Literal["learn", "measure"]

KNOWN = Path(__file__).with_name("known_repositories.txt")
"""What devicelint was made with: it can measure nothing."""


def half_of(repository: str) -> Half:
    """The half to which a repository belongs, `OWNER/NAME` in any case; the same everywhere."""
    name = repository.lower()
    if name in known_repositories():
        return "learn"
    return "measure" if sha256(name.encode()).digest()[0] % 2 else "learn"


@cache
def known_repositories() -> frozenset[str]:
    """The repositories that were looked into before there were halves, in lower case."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return frozenset(line.lower() for line in lines if line and not line.startswith("#"))
