"""Processes and threads: what they run is called with what they are given."""

from __future__ import annotations

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import (
    Bound,
    Const,
    DictOf,
    Function,
    ImportedName,
    Module,
    Partial,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import known_elements
from devicelint.interpreter.python.containers.fields import name_of_field

_SPAWNERS = (
    "torch.multiprocessing.spawn",
    "torch.multiprocessing.spawn.spawn",
    "torch.multiprocessing.start_processes",
)
_THREADS = ("threading.Thread", "threading.Timer")
_PROCESSES = (
    "multiprocessing.Process",
    "multiprocessing.context.Process",
    "torch.multiprocessing.Process",
)


@function(*_SPAWNERS)
def spawn(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`mp.spawn(fn, args)` calls `fn(rank, *args)` in each process, of which there may be none."""
    function, processes = arguments.get(0, "fn"), arguments.get(2, "nprocs")
    is_run = processes is None or processes.value != Const(0)
    if function is not None and is_run:
        rank = Argument(site, Symbolic(_rank_of(function.value)))
        _call_apart(run, function.value, _given(run, arguments.get(1, "args"), site, rank), site)
    return Unknown("a context of processes")


def _rank_of(function: Value) -> str:
    """What the function calls its rank: the number of a process, and of its accelerator."""
    node = function.node if isinstance(function, Function) else None
    named = node.params.params if isinstance(node, (cst.FunctionDef, cst.Lambda)) else ()
    return named[0].name.value if named else "rank"


@function(*_PROCESSES)
def start_process(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """What a process does to the program's own values is its own affair."""
    target = arguments.get(1, "target")
    if target is not None:
        given = given_as(run, arguments.get(3, "args"), arguments.get(4, "kwargs"), site)
        _call_apart(run, target.value, given, site)
    return Unknown("a process")


@function(*_THREADS)
def start_thread(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A thread shares everything; a Timer takes its function second, too."""
    target = arguments.get(1, "target") or arguments.keywords.get("function")
    if target is not None:
        position = 3 if name == "threading.Thread" else 2
        args, keywords = arguments.get(position, "args"), arguments.get(position + 1, "kwargs")
        given = given_as(run, args, keywords, site)
        if _is_callable(target.value):
            ended = run.state.dead, run.state.failed
            run.call(target.value, given, site)
            run.state.dead, run.state.failed = ended
    return Unknown("a thread")


def _given(run: Run, args: Argument | None, site: cst.Call, *first: Argument) -> Arguments:
    """The arguments of a tuple, each at its own place where it is written out."""
    elements = None if args is None else known_elements(run, args.value)
    if args is None:
        return Arguments(list(first))
    if elements is None:
        return Arguments(list(first), open=True)
    written = args.site.elements if isinstance(args.site, (cst.Tuple, cst.List)) else ()
    places: list[Site] = [args.site] * len(elements)
    if len(written) == len(elements):
        places = [one.value for one in written]
    return Arguments([*first, *map(Argument, places, elements)])


def given_as(
    run: Run, args: Argument | None, keywords: Argument | None, site: cst.Call
) -> Arguments:
    """The arguments of a tuple and those of a dict."""
    given = _given(run, args, site)
    _with_keywords(run, given, keywords)
    return given


def _with_keywords(run: Run, given: Arguments, keywords: Argument | None) -> None:
    if keywords is None:
        return
    if not isinstance(keywords.value, DictOf):
        given.open = True
        return
    for field, value in run.state.fields(keywords.value.ref).items():
        name = name_of_field(field)
        if name is not None:
            given.keywords[name] = Argument(keywords.site, value)


def _is_callable(value: Value) -> bool:
    return isinstance(value, (Function, Bound, Partial, Module))


def _call_apart(run: Run, function: Value, given: Arguments, site: cst.Call) -> None:
    """Walk what another process does, and undo it here."""
    if not _is_callable(function):
        return
    before = run.state.fork()
    run.call(function, given, site)
    run.state = before


@function("torch.multiprocessing.get_context", "multiprocessing.get_context")
def get_context(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """A context offers what the module does."""
    return ImportedName("torch.multiprocessing")
