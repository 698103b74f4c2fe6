"""What the other files of a project do with the functions of one of them, as walking them shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from devicelint.domain.calls import NOT_SEEN, Call
from devicelint.interpreter.callers import SeenLoad, Shown, Signature
from devicelint.workspace.named_files import NamedFiles
from devicelint.workspace.outsiders import Outsiders

_MOST = 8
"""How many files are walked to find out what a function is given."""
_ASKED_OF_MANY = 3
"""How many of those that mention it where there are more."""
CALLED_BY_CLASS = frozenset({"__init__", "__call__", "forward"})
"""What files call without a mention of its name."""


@dataclass(frozen=True)
class Users:
    """The files that mention a function, each of which is walked when it is asked for."""

    named: NamedFiles
    outsiders: Outsiders
    shown_by: Callable[[str], Shown]

    def calls_of(
        self, home: str, root: str, function: Signature
    ) -> tuple[Mapping[str, list[Call]], ...]:
        """What they give to it, file by file; of many, some are asked."""
        named = function[0].partition(".")[0]  # A constructor goes by the name of its class.
        others = [] if named in CALLED_BY_CLASS else self._others(home, root, named)
        are_few = len(others) <= _MOST
        asked = others if are_few else others[:_ASKED_OF_MANY]
        given = (self.shown_by(one).calls.get((home, function)) for one in asked)
        found = tuple(filter(None, given))
        return found if are_few else (*found, {name: [NOT_SEEN] for name in function[1]})

    def loads_of(
        self, home: str, root: str, called: str, reader: Signature
    ) -> tuple[SeenLoad, ...]:
        """What `reader` loads where they call what the file calls `called`; some are asked."""
        asked = self._others(home, root, called)[:_MOST]
        loads = (self.shown_by(one).loads.get((home, reader), ()) for one in asked)
        return tuple(chain.from_iterable(loads))

    def are_known(self, home: str, root: str, name: str) -> bool:
        """Whether they are few, and nobody else may call the function."""
        files = self.named.files(root, name)
        if files is None or len(files) > _MOST:
            return False
        return not (self.outsiders.is_open(home, root) or self.outsiders.is_told(root, name))

    def _others(self, home: str, root: str, name: str) -> list[str]:
        return [one for one in self.named.files(root, name) or () if one != home]
