"""Which functions of a project may go to an accelerator, or insist on one, as a look at them tells.

A walk follows so many lines of what a file imports, and no more.  What it has not followed may be
where a machine without an accelerator fails first: a function is looked at here, and what it calls
by name, each file once, with Python's own parser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from devicelint.workspace.contents import content_of
from devicelint.workspace.folder_use import Find
from devicelint.workspace.functions_by_name import Functions, NamedFunction
from devicelint.workspace.syntax import parsed

_MOST_FUNCTIONS = 80
_MOST_FILES = 60
"""How much is looked at for one call; beyond that, nobody knows."""


@dataclass
class DemandingFunctions:
    """What functions of a project do without asking, found out by their names."""

    find: Find
    _files: dict[str, Functions | None] = field(default_factory=dict)
    _answers: dict[NamedFunction, str | None] = field(default_factory=dict)

    def made_by(self, home: str, name: str) -> str | None:
        """The file in which a call of a function may go to an accelerator; None for none."""
        called = NamedFunction(home, name)
        if called not in self._answers:
            self._answers[called] = self._looked_for(called)
        return self._answers[called]

    def _looked_for(self, called: NamedFunction) -> str | None:
        seen, files, waiting = {called}, {called.home}, [called]
        while waiting:
            one = waiting.pop(0)
            functions = self._functions(one.home)
            if functions is None:
                continue
            if functions.demands(one.name):
                return one.home
            new = [each for each in self._called_by(functions, one) if each not in seen]
            seen.update(new)
            files.update(each.home for each in new)
            waiting += new
            if len(seen) > _MOST_FUNCTIONS or len(files) > _MOST_FILES:
                return one.home
        return None

    def _called_by(self, functions: Functions, one: NamedFunction) -> Iterator[NamedFunction]:
        for name in (one.name, *functions.called_by(one.name)):
            yield from functions.leads(name, self.find)

    def _functions(self, home: str) -> Functions | None:
        if home not in self._files:
            self._files[home] = _read(home)
        return self._files[home]


def _read(home: str) -> Functions | None:
    """The functions of a file; None for a folder, and for what is no Python."""
    data = content_of(home) if home.endswith(".py") else None
    tree = None if data is None else parsed(data)
    return None if tree is None else Functions(home, tree)
