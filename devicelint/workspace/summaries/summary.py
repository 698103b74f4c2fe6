"""What the text of a file tells about its part in a project, whatever the file is called.

It depends on the text alone, so that it can be remembered for that, and no file has to be parsed
again to answer what others ask about their project.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any, NamedTuple

from devicelint.workspace.beginnings import starts
from devicelint.workspace.machine_use import MachineUse
from devicelint.workspace.syntax import imported, imports_among, nodes_of, parsed

_LARGEST = 2**20
"""In bytes: a program that mentions names is no larger."""
_NAME = rb"\b[A-Za-z_]\w*"
_CALLED = rb"(?<![.\w])(?<!def )([A-Za-z_]\w*)\("
"""They are compiled for the first text that is new."""

Import = tuple[str, int]


class Leads(NamedTuple):
    """What a file imports, and whether its statements do something."""

    imports: frozenset[Import] = frozenset()
    starts: bool = False


class Summary:
    """One text, and what was found out about it so far."""

    __slots__ = ("_made", "called", "names", "parts", "size", "torch_lines")

    def __init__(
        self,
        size: int,
        torch_lines: int,
        names: str = "",
        called: str = "",
        parts: dict[str, Any] | None = None,
    ) -> None:
        """Know what a text tells without being parsed."""
        self.size = size
        self.torch_lines = torch_lines
        """How many lines it has if it mentions torch; -1 if it does not."""
        self.names = names
        """The names that it mentions, each once, with a space before and behind it."""
        self.called = called
        """Those of them that it calls."""
        self.parts = {} if parts is None else parts
        """What its tree tells, as JSON writes it, as far as somebody has asked."""
        self._made: dict[str, Any] = {}
        """The same as values."""

    @classmethod
    def of(cls, data: bytes) -> Summary:
        """What a text tells without being parsed."""
        torch_lines = data.count(b"\n") if b"torch" in data else -1
        if len(data) > _LARGEST:
            return cls(len(data), torch_lines)
        names, called = (sorted(set(re.findall(one, data))) for one in (_NAME, _CALLED))
        return cls(len(data), torch_lines, _spaced(names), _spaced(called))

    def mentions(self, name: str) -> bool:
        """Whether the text has a name, which is plain ASCII."""
        return f" {name} " in self.names

    def known(self, kind: str) -> Any:
        """What the tree tells: "use" or "package use", "leads", or "saves"; None if not known."""
        if kind not in self._made and kind in self.parts:
            with suppress(LookupError, ValueError, TypeError, AttributeError):
                self._made[kind] = _PARTS[kind][2](self.parts[kind])
        return self._made.get(kind)

    def read(self, kind: str, data: bytes) -> Any:
        """The same, from the text."""
        read, to_data, _ = _PARTS[kind]
        self._made[kind] = made = read(data)
        self.parts[kind] = to_data(made)
        return made

    def to_data(self) -> list[Any]:
        """The summary as JSON writes it."""
        return [self.size, self.torch_lines, self.names, self.called, self.parts]

    @classmethod
    def from_data(cls, data: Any) -> Summary:
        """The summary that was written; raises ValueError or TypeError for anything else."""
        size, torch_lines, names, called, parts = data
        return cls(int(size), int(torch_lines), str(names), str(called), dict(parts))


def _spaced(names: list[bytes]) -> str:
    return f" {b' '.join(names).decode()} " if names else ""


def _saves(data: bytes) -> bool:
    from devicelint.workspace.savers import saves

    return saves(data)


def _leads_of(data: bytes) -> Leads:
    tree = parsed(data)
    if tree is None:
        return Leads()
    return Leads(frozenset(imports_among(nodes_of(tree))), any(map(starts, tree.body)))


def _leads_to_data(leads: Leads) -> Any:
    return [sorted(leads.imports), leads.starts]


def _leads_of_data(data: Any) -> Leads:
    imports, does_start = data
    return Leads(frozenset(_imports(imports)), bool(does_start))


def _use_to_data(use: MachineUse) -> Mapping[str, Any]:
    """What it differs in from a file that does nothing."""
    nothing = MachineUse()
    written = {one.name: getattr(use, one.name) for one in fields(MachineUse)}
    changed = {name: one for name, one in written.items() if one != getattr(nothing, name)}
    for name in ("at_once", "installs"):
        if name in changed:
            changed[name] = sorted(changed[name])
    if "instead" in changed:
        changed["instead"] = [list(map(sorted, ways)) for ways in use.instead]
    return changed


def _use_of_data(data: Any) -> MachineUse:
    values: dict[str, Any] = {}
    for name, one in data.items():
        match name:
            case "imports":
                values[name] = _imports(one)
            case "at_once":
                values[name] = frozenset(_imports(one))
            case "instead":
                values[name] = tuple(
                    tuple(frozenset(_imports(way)) for way in ways) for ways in one
                )
            case "installs":
                values[name] = frozenset(map(str, one))
            case _:
                values[name] = bool(one)
    return MachineUse(**values)


def _imports(data: Any) -> tuple[Import, ...]:
    return tuple([imported(str(module), int(level)) for module, level in data])


_PARTS: Mapping[str, tuple[Callable[[bytes], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "use": (MachineUse.of, _use_to_data, _use_of_data),
    "package use": (
        lambda data: MachineUse.of(data, is_package=True),
        _use_to_data,
        _use_of_data,
    ),
    "leads": (_leads_of, _leads_to_data, _leads_of_data),
    "saves": (_saves, bool, bool),
}
