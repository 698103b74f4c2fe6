"""Classes of the file that derive from `torch.Tensor`: their objects are tensors."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devicelint.domain.devices import DeviceOf
from devicelint.domain.history import Step, Verb
from devicelint.domain.values import Class, ImportedName, Tensor, Value
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.python.unseen import result_of_unseen

_TENSORS = frozenset(
    "torch.Tensor torch.nn.Parameter torch.nn.parameter.Parameter torch.nn.Buffer "
    "torch.nn.parameter.Buffer".split()
)


def is_tensor_class(value: Value) -> bool:
    """Whether a class derives from `torch.Tensor`, as far as the file says."""
    if isinstance(value, ImportedName):
        return value.name in _TENSORS
    return isinstance(value, Class) and any(map(is_tensor_class, value.bases))


def tensor_made(run: Run, arguments: Arguments, site: cst.Call) -> Value:
    """What calling such a class gives: a tensor, where the first that it is given lies."""
    first = next((one.value for one in arguments), None)
    if isinstance(first, Tensor):
        return replace(first, grad=None, role="", home=None)
    given = [one.value for one in arguments]
    return result_of_unseen(run, "an object of a class of tensors", given, site)


def tensor_alone(cls: Class) -> Tensor:
    """The object of a method that nobody calls: it lies where its caller has it."""
    device = DeviceOf("self")
    return Tensor(device, Step(Verb.RECEIVED, cls.node, device))
