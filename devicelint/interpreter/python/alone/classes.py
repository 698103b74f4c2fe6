"""Classes that a file defines and does not use: their methods, as others call them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import libcst as cst

from devicelint.domain.history import Site
from devicelint.domain.values import HOST, Class, Function, Instance, Module, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.nodes import cached_of_nodes, descendants
from devicelint.interpreter.engine.objects import CURRENT, MACHINE, class_member, order_of_bases
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import stands_alone
from devicelint.interpreter.facts.mentions import called_method
from devicelint.interpreter.facts.stored_attributes import open_what_is_stored_later
from devicelint.interpreter.python.alone.movers import Movers, movers_of, open_what_others_move
from devicelint.interpreter.python.classes import base_of, is_module_class, make_instance
from devicelint.interpreter.python.functions import call_function, walk_alone
from devicelint.interpreter.python.paths.endings import is_test_case
from devicelint.interpreter.python.tensor_classes import is_tensor_class, tensor_alone


def is_never_called(run: Run, cls: Class) -> bool:
    """Whether a Module has a `forward` that no call of this file has entered."""
    forward = run.state.read(cls.ref, "forward")
    return (
        is_module_class(cls) and isinstance(forward, Function) and forward.node not in run.entered
    )


def has_unentered(run: Run, cls: Class) -> bool:
    """Whether there are methods of a class that nobody calls here.

    Those of a class in a function are left: a condition of the function may be theirs.
    """
    at_top = any(cls.node is one for one in run.module.body)
    return at_top and any(True for _ in _unentered(run, cls))


def _unentered(run: Run, cls: Class) -> Iterator[Function]:
    for member, _ in run.pending:
        is_method = member.owner == cls.ref and member.kind in _METHOD_KINDS
        if is_method and member.name != "__init__" and member.node not in run.entered:
            yield member


_METHOD_KINDS = ("", "property", "setter", "static", "class")


def walk_class_alone(run: Run, cls: Class, *, is_used: bool = False) -> None:
    """Walk the methods that nobody calls here, on an object whose device is the caller's choice."""
    before, outer, entered = run.state.fork(), run.frame, set(run.entered)
    run.state.write(MACHINE, CURRENT, HOST)

    def make(arguments: Arguments) -> Module | Instance:
        with run.muted() if is_used else nullcontext():
            return make_instance(run, cls, arguments, None)

    made: Value = tensor_alone(cls)
    movers: Movers = {}
    if not is_tensor_class(cls):
        made = stands_alone[base_of(cls, stands_alone)](run, cls, make)
        open_what_is_stored_later(run, cls, made)
        movers = movers_of(run, cls, made, run.entered - entered)
    run.entered -= set(filter(_is_for_all, run.entered - entered))
    if is_test_case(cls):
        _set_up(run, cls, made)
    for method in _handed_down(run, cls):
        walk_alone(run, method, made)
    assert isinstance(cls.node, cst.ClassDef)
    called = _called_privately(cls.node)
    # Methods that others call, with what they have themselves: these others come first.
    for member in sorted(_unentered(run, cls), key=lambda one: one.name in called):
        if member.node not in run.entered and not run.state.dead:
            receiver = {"class": cls, "static": None}.get(member.kind, made)
            prepared = run.state.fork()
            open_what_others_move(run, made, movers, member.node)
            walk_alone(run, member, receiver)
            run.state = prepared
    run.state, run.frame = before, outer


@cached_of_nodes(200)
def _called_privately(node: cst.ClassDef) -> frozenset[str]:
    """The methods that a class calls whose names begin with an underscore."""
    return frozenset(name for name in map(called_method, descendants(node)) if name[:1] == "_")


def _handed_down(run: Run, cls: Class) -> Iterator[Function]:
    """The `forward` that a Module inherits, where its bases call methods that it defines itself.

    What these are given is what the Module is called with.
    """
    forward = class_member(run, cls, "forward")
    if not isinstance(forward, Function) or forward.owner == cls.ref or not is_module_class(cls):
        return
    bases = (base.node for base in order_of_bases(cls)[1:])
    code = (node for base in bases if isinstance(base, cst.CSTNode) for node in descendants(base))
    called = set(map(called_method, code))
    if any(method.name in called for method in _unentered(run, cls)):
        yield forward


def _is_for_all(method: Site) -> bool:
    """Whether a method that `__init__` calls is for others as well, when the object is moved."""
    return isinstance(method, cst.FunctionDef) and not method.name.value.startswith("_")


def _set_up(run: Run, cls: Class, made: Value) -> None:
    """What unittest calls before each test: where that skips them, none is run."""
    for name, receiver in (("setUpClass", cls), ("setUp", made)):
        member = class_member(run, cls, name)
        if isinstance(member, Function) and not run.state.dead:
            run.entered.add(member.node)
            call_function(run, member, Arguments(open=True, may_name=True), None, receiver=receiver)
