"""What a rule says about a fix: changes at nodes of the tree, and how safe they are together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import libcst as cst

from devicelint.finding import Edit, Safety
from devicelint.fixes.layout import Layout


class Change(ABC):
    """One change of the text, at a node of the tree that was parsed from it."""

    looks_around: ClassVar[bool] = False
    """Whether `edits` needs to know the places of all statements, too."""

    file: str = ""
    """The absolute path of the file that it is meant for, where no site says so."""

    @abstractmethod
    def sites(self) -> Iterable[cst.CSTNode]:
        """The nodes whose places `edits` needs to know."""

    @abstractmethod
    def edits(self, layout: Layout) -> Iterator[Edit]:
        """The edits that make the change; raises NotFixable where it cannot be made."""


@dataclass(frozen=True)
class Rewrite:
    """A fix as a rule gives it: all of its changes are made, or none."""

    message: str
    changes: tuple[Change, ...]
    safety: Safety = Safety.SAFE
    is_meant: bool = False
    """Whether the code may be meant as it is, so that adoption keeps it."""
    begins: bool = False
    """Whether what is found after it, and fixed, belongs to it."""
    uncovers: bool = False
    """Whether the program ends at the mistake, so that what it does later shows after the fix."""
