"""Members that are asked for by a computed name: `models.__dict__[arch]()`, `getattr(m, arch)`."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.values import (
    Class,
    Const,
    Function,
    ImportedName,
    ProjectModule,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.facts.device_words import means_accelerator
from devicelint.interpreter.facts.mentions import mentions_in
from devicelint.interpreter.python.classes import is_module_class
from devicelint.interpreter.python.imports import public

NAMESPACE = "__dict__"


def member_by_name(run: Run, owner: Value, name: Value | None) -> Value:
    """What an owner holds under a name that the code may not tell.

    A file of models is known by the first of them, where none of them places itself.
    """
    known = name.value if isinstance(name, Const) and isinstance(name.value, str) else None
    if isinstance(owner, ImportedName):
        known = known or _default_of(name)
        return ImportedName(f"{owner.name}.{known or 'anything'}", chosen=True)
    if not isinstance(owner, ProjectModule) or _places_models(run, owner.home):
        return Unknown("a member by a computed name")
    held = dict(public(run, owner.home))
    if known is not None:
        return held.get(known, Unknown(f"{known} is not in {owner.home}"))
    own = [value for value in held.values() if getattr(value, "home", None) == owner.home]
    functions = [value for value in own if isinstance(value, Function)]
    models = [value for value in own if isinstance(value, Class) and is_module_class(value)]
    candidates: list[Value] = [*functions, *models] if models else []
    return candidates[0] if candidates else Unknown("a file that has no models")


def _default_of(name: Value | None) -> str | None:
    """The text that a parameter is where nobody gives one: `window="hann_window"`."""
    since = name.since if isinstance(name, Symbolic) else None
    default = getattr(since.site, "default", None) if since is not None else None
    given = default.evaluated_value if isinstance(default, cst.SimpleString) else None
    return given if isinstance(given, str) and given.isidentifier() else None


def _places_models(run: Run, home: str) -> bool:
    """Whether another file speaks of bringing anything anywhere, as far as it can be read."""
    library = run.program.library
    program = None if library is None else library.program(home)
    return program is None or places_models(program.tree)


def places_models(tree: cst.Module) -> bool:
    """Whether a file speaks of bringing anything anywhere."""
    mentions = mentions_in(tree)
    words = mentions.words
    return "to" in mentions.methods or any(map(means_accelerator, words)) or "device_map" in words
