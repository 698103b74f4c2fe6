"""Functions and methods of libraries, by the marks that catalogues give them."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import ImportedName, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import LibraryHandler, library_call
from devicelint.knowledge import kind_of, mark_of, member_mark


def marked_method(class_name: str, member: str) -> LibraryHandler | None:
    """What a method of a listed class gives, where that is known."""
    return library_call.get(member_mark(class_name, member) or "")


def call_marked(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value | None:
    """What a listed function, or a method called on a listed class, gives."""
    handler = library_call.get(mark_of(name) or "")
    if handler is not None:
        return handler(run, ImportedName(name), arguments, site)
    owner, _, member = name.rpartition(".")
    if not owner[:1] or not owner.rpartition(".")[2][:1].isupper() or kind_of(owner) is None:
        return None
    handler = marked_method(owner, member)
    return None if handler is None else handler(run, ImportedName(owner), arguments, site)
