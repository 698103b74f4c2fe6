"""Metrics that add up on a device of their own: the CPU, unless somebody names another.

What they are updated with comes from a model, and lies where that does; what they add up lies on
their own device, and a metric that adds one to the other has to move it.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from devicelint.domain.devices import Opaque
from devicelint.domain.values import Class, DeviceHandle, Function, Instance
from devicelint.interpreter.engine.arguments import Argument, Arguments
from devicelint.interpreter.engine.objects import class_member
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import Made, stands_alone
from devicelint.interpreter.python.functions import call_function
from devicelint.interpreter.torch.modules.classes import release

_LIBRARIES = ("ignite.metrics", "ignite.contrib.metrics", "torcheval.metrics")
_DEVICES = ("_device", "device")
_BEGINS = ("reset",)
"""What the base class calls as it is built."""


@stands_alone(*_LIBRARIES)
def make_metric_alone(run: Run, cls: Class, make: Callable[[Arguments], Made]) -> Made:
    """A metric that nobody makes here is built with a device of its own."""
    device = Argument(cls.node, _own(cls, "_device"))
    made = make(Arguments(keywords={"device": device}, open=True, may_name=True))
    assert isinstance(made, Instance)
    _begin(run, cls, made)
    release(run, made)
    return made


def _own(cls: Class, name: str) -> DeviceHandle:
    return DeviceHandle(Opaque(f"self.{name}", apart=True), cls.node)


def _begin(run: Run, cls: Class, made: Instance) -> None:
    """Let a metric begin on its own device, as its base class does that is not seen."""
    for name in _DEVICES:
        run.state.write(made.ref, name, _own(cls, name))
    for name in _BEGINS:
        method = class_member(run, cls, name)
        if isinstance(method, Function) and _takes_nothing(method):
            with run.muted():
                call_function(run, method, Arguments(), None, receiver=made)


def _takes_nothing(method: Function) -> bool:
    assert isinstance(method.node, cst.FunctionDef)
    return len(method.node.params.params) == 1 and method.kind == ""
