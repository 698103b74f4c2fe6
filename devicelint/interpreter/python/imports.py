"""Imports: of other libraries by their names, of the project's own files by what they hold.

A file of the project is walked once somebody asks for one of its names: on its own, muted, and
once for each world.  What it then holds is shared by all that import it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import libcst as cst

from devicelint.domain.events import Event
from devicelint.domain.state import Fields
from devicelint.domain.values import (
    Const,
    Imported,
    ImportedName,
    ProjectModule,
    Ref,
    Unknown,
    Value,
)
from devicelint.domain.worlds import World
from devicelint.interpreter.engine.budget import Budget, Interrupted, OutOfTime, StepsExceeded
from devicelint.interpreter.engine.frame import GLOBALS
from devicelint.interpreter.engine.hooks import attend
from devicelint.interpreter.engine.program import Contents, Program
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.steps import Notes
from devicelint.interpreter.engine.tables import attributes, executes, resolves
from devicelint.interpreter.facts.qualified_names import name_of_file

_LONGEST_CHAIN = 20
"""How often a name may be imported from a file that imports it itself."""
_STEPS_FOR_ANY = 2_000
_STEPS_PER_LINE = 10
_WALKED = "@walked"
_MOST_LINES = 10_000
"""How much of a project is read for one file, so that a library of thousands of files is not."""


@executes(cst.Import)
def import_statement(run: Run, node: cst.Import) -> None:
    for alias in node.names:
        full = _dotted(alias.name)
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            run.bind(alias.asname.name.value, _module(run, full), alias)
        else:
            top = full.partition(".")[0]
            run.bind(top, _module(run, top), alias)


@executes(cst.ImportFrom)
def import_from(run: Run, node: cst.ImportFrom) -> None:
    module = _dotted(node.module) if node.module else ""
    home = _find(run, module, len(node.relative))
    if isinstance(node.names, cst.ImportStar):
        if home is not None:
            for name, value in public(run, home):
                run.bind(name, value, node)
        return
    for alias in node.names:
        name = _dotted(alias.name)
        full = ImportedName(f"{'.' * len(node.relative)}{module}.{name}")
        bound = alias.asname.name if alias.asname is not None else alias.name
        if isinstance(bound, cst.Name):
            run.bind(bound.value, full if home is None else Imported(home, name), alias)


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _module(run: Run, full: str) -> Value:
    home = _find(run, full, 0)
    return ImportedName(full) if home is None else ProjectModule(home)


_NEVER_OF_THE_PROJECT = frozenset({"torch", "numpy", "devicelint", "__future__"})


def _find(run: Run, module: str, level: int) -> str | None:
    library = run.program.library
    if library is None:
        return None
    if level == 0 and module.partition(".")[0] in _NEVER_OF_THE_PROJECT:
        return None
    importer = run.program.path if run.frame.is_checked else str(run.frame.home)
    return library.find(importer, module, level)


class Followed(Notes):
    """What is known of the files that the checked one imports."""

    def __init__(self) -> None:
        self.values: dict[Imported, Value] = {}
        """What the names stand for that the checked file imports."""
        self.lines = 0
        """How many lines the files have that were walked."""
        self.left_out = False
        """Whether some file was not looked at any more, for there were too many."""
        self.are_entered = False
        """Whether all that the files at hand import was walked, as for a registry."""

    def fork(self) -> Followed:
        """The same: a file that was walked is known from then on."""
        return self


@resolves(Imported)
def resolve(run: Run, value: Imported) -> Value:
    """What an imported name stands for; the same on all paths, whichever asks first."""
    values = run.notes(Followed).values
    known = values.get(value)
    if known is None:
        known = _followed(run, value)
        if run.frame.is_checked:
            values[value] = known
    return known


def _followed(run: Run, value: Imported) -> Value:
    found: Value = value
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(found, Imported):
            return found
        found = _member(run, found.home, found.name)
    return Unknown(f"{value.name} is imported in a circle")


@attributes(ProjectModule)
def of_module(run: Run, value: ProjectModule, name: str, node: cst.Attribute) -> Value:
    found = _member(run, value.home, name)
    return resolve(run, found) if isinstance(found, Imported) else found


def _member(run: Run, home: str, name: str) -> Value:
    held = run.state.read(home, name) if _enter(run, home) else None
    # `from . import name` in a package binds the module of that name: what it holds is itself.
    if held is not None and held != Imported(home, name):
        return held
    library = run.program.library
    inner = None if library is None else library.inside(home, name)
    if inner is not None:
        return ProjectModule(inner)
    named = name_of_file(run, home) / name
    stated = run.guesses.stated_as(named)
    if stated is not None:
        return ImportedName(stated)
    return Unknown(f"{name} is not in {home}", unread=(home, name))


def public(run: Run, home: str) -> Iterator[tuple[str, Value]]:
    """The names that a star import takes over; `__all__` rarely says otherwise."""
    if _enter(run, home):
        for name, value in tuple(run.state.fields(home).items()):
            if not name.startswith(("_", "@")):
                yield name, value


def _enter(run: Run, home: str) -> bool:
    """Walk a file where that has not been done, and take over what it holds."""
    if run.state.read(home, _WALKED) is not None:
        return True
    library, known = run.program.library, run.notes(Followed)
    if library is None or known.lines > _MOST_LINES:
        known.left_out |= library is not None
        return False
    program = library.program(home)
    if program is None:
        return False
    contents = program.walked.get(World(run.world.accelerators))
    if contents is None:
        contents = _walk(program, run)
    known.lines += contents.lines
    run.counts_accelerators |= contents.counts_accelerators
    run.state.adopt(contents.objects)
    return True


def enter_imports(run: Run) -> None:
    """Walk all that the files at hand import, once: importing it fills what it registers itself in.

    Else a file is walked once somebody asks for one of its names.
    """
    known = run.notes(Followed)
    if known.are_entered:
        return
    known.are_entered = True
    waiting: list[Ref] = [run.program.home]
    seen: set[Ref | None] = {*waiting}
    for home in waiting:
        named = {_home_of(run, one) for one in run.state.fields(home).values()}
        named = (named | {_package_of(run, home)}) - {None} - seen
        new = [one for one in sorted(named, key=str) if one is not None and _enter(run, str(one))]
        seen |= named
        waiting += new


def _home_of(run: Run, value: Value) -> Ref | None:
    """The file that an imported name leads to."""
    if isinstance(value, ProjectModule):
        return value.home
    if not isinstance(value, Imported):
        return None
    library = run.program.library
    return (library and library.inside(value.home, value.name)) or value.home


def _package_of(run: Run, home: Ref) -> Ref | None:
    """The package that a file is in, or one package another: importing the inner imports both."""
    library, path = run.program.library, str(home)
    if library is None or home == GLOBALS:
        return None
    around = library.find(path, "", 2 if path.endswith(_PACKAGE) else 1)
    return around if around is not None and around.endswith(_PACKAGE) else None


_PACKAGE = "__init__.py"


def is_walked(run: Run, home: Ref) -> bool:
    """Whether a file is the checked one, or was asked for one of its names."""
    return home == GLOBALS or run.state.read(home, _WALKED) is not None


def _walk(program: Program, importer: Run) -> Contents:
    world = World(importer.world.accelerators)
    run = _run_through(program, world, importer.budget)
    known, before = run.notes(Followed), importer.notes(Followed)
    known.lines = before.lines + program.lines
    program.walked[world] = Contents()  # What imports it in a circle finds nothing yet.
    try:
        with suppress(StepsExceeded):
            run.execute_block(program.tree)
    except (OutOfTime, RecursionError, Interrupted):
        del program.walked[world]
        raise
    objects = {ref: one for ref, one in run.state.objects().items() if _is_of_a_file(ref, one)}
    lines = known.lines - before.lines
    contents = Contents(objects, lines, run.counts_accelerators)
    before.left_out |= known.left_out
    run.let_go()
    if known.left_out:  # Somebody with fewer imports may see more of it.
        del program.walked[world]
    else:
        program.walked[world] = contents
    return contents


def _run_through(program: Program, world: World, left: Budget) -> Run:
    """A run through a file that is imported, which ends when the run of the importer does."""
    budget = Budget(_STEPS_FOR_ANY + _STEPS_PER_LINE * program.lines, left.until)
    run = Run(program, world, _ignore, budget=budget, splits=False)
    attend(run, frozenset())
    run.state.write(program.home, _WALKED, Const(True))
    run.state.write(program.home, "__name__", Const("a module that is imported"))
    return run


def _is_of_a_file(ref: Ref, fields: Fields) -> bool:
    """Whether an object was made by a file, rather than came from outside: `args`, say."""
    return _WALKED in fields or "#" in str(ref)


def _ignore(event: Event, run: Run) -> None:
    """What happens in another file is found where that file is checked."""
