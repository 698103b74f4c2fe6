"""Metrics that add up on a device of their own: the CPU, unless somebody names another.

What they are updated with comes from a model, and lies where that does; what they add up lies on
their own device, and a metric that adds one to the other has to move it.
"""

from __future__ import annotations

import libcst as cst

from devicelint.domain.devices import Opaque
from devicelint.domain.values import Class, DeviceHandle, External, Function, Instance
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.attributes import CLASS_FIELD, class_member
from devicelint.interpreter.python.functions import call_function

_LIBRARIES = (".ignite.metrics.", ".ignite.contrib.metrics.", ".torcheval.metrics.")
_DEVICES = ("_device", "device")
_BEGINS = ("reset",)
"""What the base class calls as it is built."""


def arguments_of_anybody(cls: Class) -> Arguments:
    """What a class that nobody builds here is built with: a metric, with a device of its own."""
    arguments = Arguments(open=True)
    if _is_metric(cls):
        arguments.keywords["device"] = Argument(cls.node, _own(cls, "_device"))
    return arguments


def _own(cls: Class, name: str) -> DeviceHandle:
    return DeviceHandle(Opaque(f"self.{name}", apart=True), cls.node)


def begin_metric(run: Run, made: Instance) -> None:
    """Let a metric begin on its own device, as its base class does that is not seen."""
    cls = run.state.read(made.ref, CLASS_FIELD)
    if not isinstance(cls, Class) or not _is_metric(cls):
        return
    for name in _DEVICES:
        run.state.write(made.ref, name, _own(cls, name))
    for name in _BEGINS:
        method = class_member(run, cls, name)
        if isinstance(method, Function) and _takes_nothing(method):
            with run.silence():
                call_function(run, method, Arguments(), None, receiver=made)


def _is_metric(cls: Class) -> bool:
    """Whether a class derives from a metric of a library that keeps to a device of its own."""
    for base in cls.bases:
        if isinstance(base, External) and _is_of_library(base.name):
            return True
        if isinstance(base, Class) and (_is_metric(base) or _keeps_to_itself(base)):
            return True
    return False


def _keeps_to_itself(cls: Class) -> bool:
    """Whether a class is the root of such metrics, in the library's own files."""
    return isinstance(cls.home, str) and _is_of_library(_dotted(cls.home))


def _is_of_library(name: str) -> bool:
    return any(one in f".{name}." for one in _LIBRARIES)


def _dotted(home: str) -> str:
    return home.removesuffix(".py").replace("\\", "/").replace("/", ".")


def _takes_nothing(method: Function) -> bool:
    assert isinstance(method.node, cst.FunctionDef)
    return len(method.node.params.params) == 1 and method.kind == ""
