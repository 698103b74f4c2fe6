"""What modules own: which of their attributes are parameters, buffers, modules, or neither."""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.agreement.recording.devices import MODULE, NOTHING, kind_of

MOST_ATTRIBUTES = 200

_OWNED = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "module"}
"""Where a module keeps what it owns."""


class Ownership:
    """The attributes of the modules whose `forward` was entered, by their class.

    An object is looked at where the number of calls of its class is a power of two: attributes may
    come and change while a module is used.
    """

    def __init__(self) -> None:
        self.calls: dict[type, int] = {}
        self.kinds: dict[type, dict[str, set[str]]] = {}
        self.files: dict[type, str] = {}
        """Where each class is defined: at the end of a process its module may be gone."""

    def entered(self, module: Any) -> None:
        """A module is called."""
        kind = type(module)
        calls = self.calls[kind] = self.calls.get(kind, 0) + 1
        if calls & (calls - 1) == 0 and kind_of(kind) == MODULE:
            found = self.kinds.setdefault(kind, {})
            self.files.setdefault(kind, file_of(kind))
            for name, what in attributes_of(module):
                if name in found or len(found) < MOST_ATTRIBUTES:
                    found.setdefault(name, set()).add(what)

    def forget(self) -> None:
        """Begin anew."""
        self.calls.clear()
        self.kinds.clear()


def attributes_of(module: Any) -> list[tuple[str, str]]:
    """Each attribute of a module that is state, or holds it: its name, and as what."""
    held = dict(module.__dict__)
    found: list[tuple[str, str]] = []
    for kept, what in _OWNED.items():
        entries = dict(held.pop(kept, None) or {})
        found.extend((name, what) for name, one in entries.items() if one is not None)
    for name, value in held.items():
        what = _plain(value)
        if what and not name.startswith("_forward") and not name.startswith("_backward"):
            found.append((name, what))
    return found


def _plain(value: Any) -> str:
    """What a plain attribute is, if that is a tensor, a module, or a list or dict of these."""
    if kind_of(type(value)) != NOTHING:
        return "plain module" if kind_of(type(value)) == MODULE else "plain tensor"
    items = value.values() if type(value) is dict else value
    if type(value) not in (list, tuple, dict) or not items:
        return ""
    kinds = {kind_of(type(one)) for one in list(items)[:20]}
    if NOTHING in kinds:
        return ""
    return "list of modules" if kinds == {MODULE} else "list of tensors"


def file_of(kind: type) -> str:
    """The file in which a class is defined, as its module says."""
    module = sys.modules.get(kind.__module__)
    return getattr(module, "__file__", None) or ""
