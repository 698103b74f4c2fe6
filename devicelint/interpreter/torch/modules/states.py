"""What a Module owns as a dictionary, and as one vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devicelint.domain.values import (
    NONE,
    DictOf,
    Module,
    Owned,
    Parameters,
    Tensor,
    Unknown,
    Value,
)
from devicelint.interpreter.engine.arguments import Arguments
from devicelint.interpreter.engine.objects import CLASS_FIELD
from devicelint.interpreter.engine.run import Run
from devicelint.interpreter.engine.tables import function
from devicelint.interpreter.python.containers.contents import element_of
from devicelint.interpreter.python.containers.fields import ELEMENT
from devicelint.interpreter.torch.modules.data import place_of_data, put_data
from devicelint.interpreter.torch.modules.registration import (
    any_parameter,
    parameter_of,
    submodules,
)
from devicelint.knowledge import module_class


def state_of(run: Run, module: Module, site: cst.Call) -> Value:
    """`module.state_dict()`: what it owns, by name, without what computes gradients."""
    some = any_parameter(run, module)
    if not isinstance(some, Tensor):
        return Unknown("the state of a model")
    ref = run.allocate(site, "state")
    for name, tensor in _named(run, module, "", set()):
        run.state.write(ref, f"[{name!r}]", _detached(tensor))
    scalar = None if any(_counts(run, one) for one in submodules(run, module)) else False
    run.state.write(ref, ELEMENT, replace(_detached(some), scalar=scalar))
    return DictOf(ref, site)


def _counts(run: Run, module: Module) -> bool:
    """Whether a part may own a number: what torch's norms count is a tensor without dimensions."""
    knowledge = module_class(module.name)
    fields = run.state.fields(module.ref)
    if knowledge is None and CLASS_FIELD not in fields:
        return True
    owned = (one for one in fields.values() if isinstance(one, Tensor) and one.role in _OWNED)
    return "Norm" in module.name or any(one.scalar is not False for one in owned)


_OWNED = ("parameter", "buffer")


def _detached(tensor: Tensor) -> Tensor:
    return replace(tensor, grad=False, role="", home=None)


def _named(
    run: Run, module: Module, prefix: str, seen: set[object]
) -> Iterator[tuple[str, Tensor]]:
    """The parameters and buffers of a Module and its parts that have names in sight."""
    if module.ref in seen:
        return
    seen.add(module.ref)
    knowledge = module_class(module.name)
    if knowledge is not None and knowledge.owns_tensors:
        for name in ("weight", "bias"):
            yield f"{prefix}{name}", parameter_of(run, module)
    for field, value in run.state.fields(module.ref).items():
        name = field.strip("[]'")
        if field.startswith("@"):
            continue
        if isinstance(value, Tensor) and value.role in ("parameter", "buffer"):
            yield f"{prefix}{name}", value
        elif isinstance(value, Module):
            yield from _named(run, value, f"{prefix}{name}.", seen)


@function(
    "torch.nn.utils.parameters_to_vector", "torch.nn.utils.convert_parameters.parameters_to_vector"
)
def parameters_to_vector(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """All parameters, one after the other: where they are."""
    given = arguments.get(0, "parameters")
    one = Unknown("no parameters") if given is None else element_of(run, given.value, given.site)
    if not isinstance(one, Tensor):
        return Unknown("a vector of unknown parameters")
    return Tensor(one.device, one.since, False, one.grad)


@function(
    "torch.nn.utils.vector_to_parameters", "torch.nn.utils.convert_parameters.vector_to_parameters"
)
def vector_to_parameters(run: Run, name: str, arguments: Arguments, site: cst.Call) -> Value:
    """Each parameter becomes a part of the vector: it is where that is."""
    vector, given = arguments.get(0, "vec"), arguments.get(1, "parameters")
    if vector is None or given is None or not isinstance(given.value, Parameters):
        return NONE
    module = given.value.module
    if isinstance(module, Module):
        assert isinstance(vector.site, cst.BaseExpression)
        put_data(run, Owned(module), "parameter", place_of_data(vector.value, vector.site))
    return NONE
