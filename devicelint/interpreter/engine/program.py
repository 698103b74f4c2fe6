"""What is walked: a file's tree and the text that it was parsed from, and the files around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import libcst as cst

from devicelint.domain.checkpoints import WrittenFile
from devicelint.domain.standing import Conduct
from devicelint.domain.state import Fields
from devicelint.domain.values import Ref
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.guesses import Guess
from devicelint.interpreter.engine.nodes import code_by_kind
from devicelint.text.documents.names import NOBODY


@dataclass(frozen=True)
class Contents:
    """What a file holds after its statements were walked."""

    objects: Mapping[Ref, Fields] = field(default_factory=dict, repr=False)
    lines: int = 0
    """How many lines were read for it: its own, and those of the files that it imports."""
    counts_accelerators: bool = False
    """Whether that depends on how many accelerators there are."""


class Library(Protocol):
    """The files of a project, as its imports name them.

    A `home` stands for a file, or for a folder that is a package without a file of its own.
    """

    def find(self, importer: str, module: str, level: int) -> str | None:
        """The home that an import in the file `importer` means; `level` counts its dots."""

    def inside(self, home: str, name: str) -> str | None:
        """The home of a submodule of the package `home`."""

    def about(self, home: str, what: str) -> str | None:
        """The home of a file that does something with the machine, in the programs around one.

        It "chooses" what it runs on, or "takes" an accelerator for granted.
        """

    def demanded_by(self, home: str, name: str) -> str | None:
        """The home of a file in which a function of one may go to an accelerator.

        It is looked at, and what it calls by name: nothing is walked.
        """

    def program(self, home: str) -> Program | None:
        """The file itself; None for a folder, and for what cannot be read or parsed."""


@dataclass(frozen=True, eq=False)
class Program:
    """One file, parsed."""

    tree: cst.Module = field(repr=False)
    text: str = field(repr=False)
    path: str = ""
    library: Library | None = field(default=None, repr=False)
    home: Ref = GLOBALS
    """Where its global names lie; `GLOBALS` for the file that is checked."""
    also_reported: Mapping[Ref, Program] = field(default_factory=dict, repr=False)
    """The other files whose functions are reported on as well, as they are called from here."""
    walked: dict[World, Contents] = field(default_factory=dict, repr=False)
    """What it holds in each world, for the files that import it."""
    guesses: tuple[Guess, ...] = field(default=(), repr=False)
    """What stands in for what no source explains, as the configuration says."""
    choosing: set[object] = field(default_factory=set, repr=False)
    """The parts of the file that choose the machine they run on: see `facts.machines.choices`."""
    requiring: set[object] = field(default_factory=set, repr=False)
    """Those that ask whether there is an accelerator, and end where there is none."""
    needing: set[object] = field(default_factory=set, repr=False)
    """Those that ask CUDA itself for something, which raises where there is none."""
    demanding: set[object] = field(default_factory=set, repr=False)
    """The parts of the file that go to an accelerator, whatever the machine has."""
    failing: set[object] = field(default_factory=set, repr=False)
    """Those of them that are reached on a machine without an accelerator."""
    sending: set[object] = field(default_factory=set, repr=False)
    """The parts of the file that go to a device which their callers, or their objects, know."""
    written: set[WrittenFile] = field(default_factory=set, repr=False)
    """The files with tensors in them that it saves."""
    clashing: set[object] = field(default_factory=set, repr=False)
    """What clashes in other files that this one has led to, or is kept there and clashes here."""
    conduct: Conduct = field(default_factory=Conduct, repr=False)
    code: dict[cst.CSTNode, str] = field(default_factory=dict, repr=False)
    """The text of those nodes that it was asked for."""
    reads: dict[cst.CSTNode, tuple[frozenset[str], tuple[tuple[str, str], ...]]] = field(
        default_factory=dict, repr=False
    )
    """The names and attributes that statements read, of those that were asked for."""
    asked: dict[cst.CSTNode, tuple[str, ...] | None] = field(default_factory=dict, repr=False)
    """On which names and attributes conditions depend, of those that were asked for."""
    sized: dict[cst.CSTNode, tuple[cst.Name | cst.Attribute | cst.Subscript, ...]] = field(
        default_factory=dict, repr=False
    )
    """Of what conditions and statements ask the size, of those that were asked for."""

    @property
    def nodes(self) -> Mapping[type[cst.CSTNode], Sequence[cst.CSTNode]]:
        """All its code, by kind."""
        return code_by_kind(self.tree)

    @cached_property
    def shown(self) -> frozenset[cst.CSTNode]:
        """The last statements of a notebook's cells: the values of expressions are shown there."""
        if NOBODY not in self.text:
            return frozenset()
        return frozenset(
            last.body[-1]
            for last, end in pairwise(self.tree.body)
            if isinstance(last, cst.SimpleStatementLine) and _ends_cell(end)
        )

    @cached_property
    def lines(self) -> int:
        """How long the file is."""
        return self.text.count("\n") + 1


def _ends_cell(statement: cst.CSTNode) -> bool:
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Expr(value=cst.Name(name)) | cst.Assign(value=cst.Call(func=cst.Name(name)))]
        ):
            return name == NOBODY
        case _:
            return False
