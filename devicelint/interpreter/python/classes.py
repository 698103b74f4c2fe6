"""Classes of the file: defined, instantiated, and Modules called."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import partial

import libcst as cst

from devicelint.domain.values import (
    TRUE,
    Class,
    Function,
    ImportedName,
    Instance,
    Module,
    Symbolic,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.frame import Frame
from devicelint.interpreter.engine.nodes import cached_of_nodes, descendants
from devicelint.interpreter.engine.objects import (
    CLASS_FIELD,
    OPEN_FIELD,
    class_member,
    member_of,
    order_of_bases,
)
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import calls, instantiates
from devicelint.interpreter.facts.mentions import path_of
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.python.paths.skips import is_left_out, may_leave_out
from devicelint.interpreter.python.records import declares_record, fill_record
from devicelint.interpreter.python.tensor_classes import is_tensor_class, tensor_made
from devicelint.knowledge import MODULE_KINDS, kind_of, module_class


def define_class(run: Run, node: cst.ClassDef) -> Class:
    """The value of a `class` statement: its body is walked in a scope of its own."""
    outer = run.frame
    bases = tuple(run.evaluate(base.value) for base in node.bases)
    frame = Frame(
        run.allocate(node),
        node,
        outer.home,
        outer.scopes,
        caller=outer,
        depth=outer.depth,
        is_reported=outer.is_reported,
        keeps_names=True,
    )
    marks = (may_leave_out(run, node, one) for one in node.decorators)
    frame.guarded = run.frame.guarded or any(marks)
    leaves_out = (is_left_out(run, one.decorator) for one in node.decorators)
    frame.left_out = run.frame.left_out or any(leaves_out)
    if not isinstance(outer.node, (cst.Module, cst.ClassDef)):
        frame.scopes = (outer.ref, *outer.scopes)
    run.frame = frame
    run.execute_block(node.body)
    run.frame = outer
    cls = Class(frame.ref, node.name.value, node, bases, outer.home)
    if outer.is_checked:
        run.classes[node] = cls
    return cls


def is_module_class(value: Value) -> bool:
    """Whether a class derives from `nn.Module`, as far as the file says.

    A class with a base that is not seen here does so too, where it has a `forward`, or registers
    parameters and buffers.
    """
    if isinstance(value, ImportedName):
        return kind_of(value.name) in MODULE_KINDS or module_class(value.name) is not None
    if not isinstance(value, Class):
        return False
    if any(map(is_module_class, value.bases)):
        return True
    return has_unseen_base(value) and (_defines(value, "forward") or _registers(value))


_SEEN_THROUGH = frozenset(
    "torch builtins abc enum typing collections dataclasses object threading".split()
)
"""Where bases come from of which it is known that they are no modules."""


def has_unseen_base(cls: Class) -> bool:
    """Whether a base comes from elsewhere, and may be anything: a Module, say."""
    for base in cls.bases:
        if isinstance(base, Class) and has_unseen_base(base):
            return True
        if isinstance(base, ImportedName) and base.name.partition(".")[0] not in _SEEN_THROUGH:
            return True
        if isinstance(base, (Symbolic, Unknown)):
            return True
    return False


def _defines(cls: Class, name: str) -> bool:
    assert isinstance(cls.node, cst.ClassDef)
    body = cls.node.body.body
    own = any(isinstance(one, cst.FunctionDef) and one.name.value == name for one in body)
    return own or any(isinstance(base, Class) and _defines(base, name) for base in cls.bases)


_REGISTER = frozenset({"register_parameter", "register_buffer"})
"""What an object has that is a Module, and no other."""


def _registers(cls: Class) -> bool:
    """Whether a class registers what a Module owns with itself, in its `__init__`."""
    assert isinstance(cls.node, cst.ClassDef)
    own = (
        one
        for one in cls.node.body.body
        if isinstance(one, cst.FunctionDef) and one.name.value == "__init__"
    )
    inherited = any(isinstance(base, Class) and _registers(base) for base in cls.bases)
    return inherited or any(map(_registers_with_self, own))


@cached_of_nodes(200)
def _registers_with_self(init: cst.FunctionDef) -> bool:
    receiver = next((one.name.value for one in init.params.params), "")
    methods = {f"{receiver}.{name}" for name in _REGISTER}
    calls = (one for one in descendants(init.body) if isinstance(one, cst.Call))
    return any(path_of(one.func) in methods for one in calls)


def torch_base(cls: Class) -> str:
    """The class of torch that a class of the file derives from: `torch.nn.Linear`."""
    for base in cls.bases:
        if isinstance(base, ImportedName) and kind_of(base.name) != "module":
            return base.name
        if isinstance(base, Class) and (found := torch_base(base)):
            return found
    return ""


def torch_base_of(run: Run, module: Module) -> str | None:
    """The class of torch from which that of a Module derives; None where no class is the file's."""
    cls = run.state.read(module.ref, CLASS_FIELD)
    return torch_base(cls) if isinstance(cls, Class) else None


@calls(Class)
def instantiate(run: Run, callee: Class, arguments: Arguments, site: cst.Call) -> Value:
    run.instantiated.add(callee.node)
    if is_tensor_class(callee):
        return tensor_made(run, arguments, site)
    return make_instance(run, callee, arguments, site)


def make_instance(
    run: Run, cls: Class, arguments: Arguments, site: cst.Call | None
) -> Module | Instance:
    """A new object of a class of the file, after its `__init__`."""
    place = site if site is not None else cls.node
    assert isinstance(place, cst.CSTNode)
    with instantiates[base_of(cls, instantiates)](run, cls, arguments, place) as made:
        run.state.write(made.ref, CLASS_FIELD, cls)
        if site is None:
            run.state.write(made.ref, OPEN_FIELD, TRUE)
        maker = next(filter(None, map(partial(_maker, run), order_of_bases(cls))), None)
        if isinstance(maker, Function):
            call_function(run, maker, arguments, site, receiver=made)
            run.entered.add(maker.node)
        elif maker is not None:
            fill_record(run, cls, made, arguments)
    return made


def _maker(run: Run, cls: Class) -> Function | Class | None:
    """The `__init__` that a class has itself, or the record that is given one; None for neither."""
    own = run.state.read(cls.ref, "__init__")
    if isinstance(own, Function):
        return own
    return cls if declares_record(run, cls) else None


MODULE, OBJECT = "Module", "object"
"""What a class is by its bases, where these are not listed under a name of their own."""


def base_of(cls: Class, table: Container[str]) -> str:
    """What is listed of the bases of a class: a library's class by its package, or a kind."""
    if is_module_class(cls):
        return MODULE
    return next((one for one in _packages(cls) if one in table), OBJECT)


def _packages(cls: Class) -> Iterator[str]:
    """The packages in which the bases of a class lie, the outer ones last."""
    for base in cls.bases:
        if isinstance(base, ImportedName):
            yield from _enclosing(base.name)
        elif isinstance(base, Class):
            yield from _packages(base)
            if isinstance(base.home, str):
                dotted = base.home.removesuffix(".py").replace("\\", "/").replace("/", ".")
                parts = f"{dotted}.{base.name}".split(".")
                for start in range(len(parts)):
                    yield from _enclosing(".".join(parts[start:]))


def _enclosing(name: str) -> Iterator[str]:
    while name:
        name = name.rpartition(".")[0]
        yield name


def call_module_of_file(
    run: Run, module: Module, arguments: Arguments, site: cst.Call
) -> Value | None:
    """`model(x)` for a Module of the file: its own `__call__`, or its `forward`."""
    own = member_of(run, module.ref, "__call__")
    if isinstance(own, Function):
        return call_function(run, own, arguments, site, receiver=module, module=module)
    return forward_of_file(run, module, arguments, site)


def forward_of_file(run: Run, module: Module, arguments: Arguments, site: cst.Call) -> Value | None:
    """The `forward` of a Module of the file, with the arguments it gets."""
    forward = member_of(run, module.ref, "forward")
    if not isinstance(forward, Function):
        return None
    return call_function(run, forward, arguments, site, receiver=module, module=module)


@calls(Instance)
def call_instance(run: Run, callee: Instance, arguments: Arguments, site: cst.Call) -> Value:
    cls = run.state.read(callee.ref, CLASS_FIELD)
    method = class_member(run, cls, "__call__") if isinstance(cls, Class) else None
    if isinstance(method, Function):
        return call_function(run, method, arguments, site, receiver=callee)
    return Unknown(f"calling {callee.name}")
