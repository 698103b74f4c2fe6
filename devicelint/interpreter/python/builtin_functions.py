"""Python's own functions, so far as values with a device pass through them."""

from __future__ import annotations

import builtins

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.join import as_bool
from devicelint.domain.values import (
    HOST,
    NONE,
    Const,
    DeviceHandle,
    FileSource,
    HostValue,
    ImportedName,
    Instance,
    Module,
    Super,
    Symbolic,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD, under_some_name
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import BUILTIN_SCOPE, function, sets_by_name
from devicelint.interpreter.python.attributes import read_attribute
from devicelint.interpreter.python.computed_members import member_by_name
from devicelint.interpreter.python.conditions import truth_of
from devicelint.interpreter.python.containers.contents import element_of, known_elements

BUILTIN_SCOPE.update({name: ImportedName(f"builtins.{name}") for name in dir(builtins)})
BUILTIN_SCOPE.update(
    {
        "__name__": Const("__main__"),
        "__file__": HostValue(FileSource.PROGRAM),
        "reveal_device": ImportedName("reveal_device"),
        # Brought by a star import, or left out of a listing: it can be nothing else.
        "torch": ImportedName("torch"),
        "True": Const(True),
        "False": Const(False),
        "None": NONE,
    }
)


_READ_NUMBERS = frozenset(f"builtins.{name}" for name in "float int bool print format".split())
"""Functions that need what a tensor holds."""


@function(
    *(
        f"builtins.{name}"
        for name in "float int bool repr abs round print format issubclass "
        "id hash ord chr input open divmod pow bytes complex callable "
        "slice memoryview dir locals globals".split()
    )
)
def host_function(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if name == "builtins.abs" and arguments.positional:
        return arguments.positional[0].value
    if name in _READ_NUMBERS:
        for argument in arguments:
            run.steps.read(argument, site)
    if name in ("builtins.locals", "builtins.globals"):
        return Unknown(name)
    return HOST


@function("builtins.all", "builtins.any")
def all_or_any(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Known where one answer is that of every element: nothing hangs on how many there are."""
    if len(arguments.positional) != 1:
        return HOST
    given = arguments.positional[0]
    is_all = name == "builtins.all"
    elements = known_elements(run, given.value)
    if elements is None:
        holds = truth_of(run, element_of(run, given.value, given.site))
        return as_bool(is_all) if holds is is_all else HOST
    answers = [truth_of(run, one) for one in elements]
    if (not is_all) in answers:
        return as_bool(not is_all)
    return HOST if None in answers else as_bool(is_all)


@function("builtins.type")
def type_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """The class of an object of the file, or of a tensor that no Module registers."""
    given = [argument.value for argument in arguments.positional]
    if len(given) == 1 and isinstance(given[0], Tensor) and not given[0].role:
        is_from_outside = isinstance(given[0].device, DeviceOf)
        return Unknown(name) if is_from_outside else ImportedName("torch.Tensor")
    if len(given) == 1 and isinstance(given[0], (Instance, Module)):
        return run.state.read(given[0].ref, CLASS_FIELD) or Unknown(name)
    return Unknown(name)


@function("builtins.super")
def super_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """`super()` stands for the object itself, seen from the bases of the class around."""
    frame = run.frame
    while frame.receiver is None and frame.caller is not None:
        frame = frame.caller
    if frame.receiver is None:
        return ImportedName("builtins.super()")
    return Super(frame.receiver, frame.owner)


@function("builtins.getattr")
def getattr_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if len(arguments.positional) < 2:
        return Unknown("getattr")
    owner, attribute = arguments.positional[0].value, arguments.positional[1].value
    wanted = attribute.value if isinstance(attribute, Const) else None
    if isinstance(wanted, str) and wanted.isidentifier() and len(arguments.positional) == 2:
        node = cst.Attribute(site.args[0].value, cst.Name(wanted))
        return read_attribute(run, owner, wanted, node)
    if isinstance(owner, Module) and wanted is None:
        held = under_some_name(run, owner.ref)
        return held or Unknown("a part by a computed name")
    return member_by_name(run, owner, attribute)


@function("builtins.setattr")
def setattr_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    if len(arguments.positional) == 3:
        owner, attribute, value = (argument.value for argument in arguments.positional)
        handler = sets_by_name.get(type(owner))
        if handler is not None:
            known = str(attribute.value) if isinstance(attribute, Const) else None
            handler(run, owner, known, value, site)
    return NONE


@function("builtins.exec")
def exec_(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Other code may give the file's settings other values."""
    home = run.frame.home
    for field, value in tuple(run.state.fields(home).items()):
        if isinstance(value, (Const, DeviceHandle)):
            run.state.write(home, field, Symbolic(field))
    return NONE
