"""What is walked: a file's tree and the text that it was parsed from."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst


@dataclass(frozen=True, eq=False)
class Program:
    """One file, parsed."""

    tree: cst.Module = field(repr=False)
    text: str = field(repr=False)

    @property
    def lines(self) -> int:
        """How long the file is."""
        return self.text.count("\n") + 1
